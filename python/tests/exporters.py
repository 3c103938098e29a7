# Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
"""DLPack exporters of our own, of NumPy memory: any version, flag, type and device, so that each can be tried."""

import ctypes

import numpy as np

CODES = {"i": 0, "u": 1, "f": 2, "bfloat16": 4, "b": 6}
_destructors = []


class _Tensor(ctypes.Structure):
    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    )


_Deleter = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class _Unversioned(ctypes.Structure):
    _fields_ = (("tensor", _Tensor), ("context", ctypes.c_void_p), ("deleter", _Deleter))


class _Versioned(ctypes.Structure):
    _fields_ = (
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("context", ctypes.c_void_p),
        ("deleter", _Deleter),
        ("flags", ctypes.c_uint64),
        ("tensor", _Tensor),
    )


_new = ctypes.pythonapi.PyCapsule_New
_new.restype = ctypes.py_object
_new.argtypes = (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)


class Exporter:
    """An array that speaks DLPack alone. `deleted` counts calls of deleters."""

    def __init__(self, array, *, bfloat16=False, version=(1, 0), read_only=False, device=1, packed=False, offset=0):
        self.array, self.bfloat16, self.version, self.read_only = array, bfloat16, version, read_only
        self.device, self.packed, self.offset, self.deleted = device, packed, offset, 0
        self._alive = []

    @property
    def shape(self):
        return self.array.shape

    @property
    def dtype(self):
        return "bfloat16" if self.bfloat16 else self.array.dtype

    def __dlpack_device__(self):
        return self.device, 0

    def __dlpack__(self, **options):
        if self.version is None and options:
            raise TypeError("__dlpack__() takes no keyword arguments")
        managed = (_Unversioned if self.version is None else _Versioned)()
        array, tensor = self.array, managed.tensor
        tensor.data, tensor.byte_offset = array.ctypes.data - self.offset, self.offset
        tensor.device_type, tensor.ndim = self.device, array.ndim
        tensor.code = CODES["bfloat16"] if self.bfloat16 else CODES[array.dtype.kind]
        tensor.bits, tensor.lanes = 8 * array.itemsize, 1
        tensor.shape = (ctypes.c_int64 * array.ndim)(*array.shape)
        if not self.packed:
            tensor.strides = (ctypes.c_int64 * array.ndim)(*(step // array.itemsize for step in array.strides))

        def delete(_):
            self.deleted += 1

        managed.deleter = _Deleter(delete)
        _destructors.append(managed.deleter)  # what is called last outlives the exporter
        self._alive.append(managed)
        if self.version is None:
            return _new(ctypes.addressof(managed), b"dltensor", None)
        managed.major, managed.minor = self.version
        managed.flags = int(self.read_only)
        return _new(ctypes.addressof(managed), b"dltensor_versioned", None)


def bits_of_bfloat16(array):
    """float32 rounded to bfloat16 by cutting, as uint16."""
    return (np.ascontiguousarray(array, np.float32).view(np.uint32) >> 16).astype(np.uint16)
