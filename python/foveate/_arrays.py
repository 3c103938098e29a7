# Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
"""Arrays of others as NumPy views of the same memory, and results as arrays of the caller's kind.

bfloat16 travels as a record of one field, since NumPy has no such type of its own: any view, transposition or reshape
keeps it, and the engine reads it off the buffer's format.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt
from numpy.ma import MaskedArray

from foveate import _engine


class Array(Protocol):
    """What has a shape and a dtype: arrays of NumPy, PyTorch and JAX."""

    @property
    def shape(self) -> Any: ...
    @property
    def dtype(self) -> Any: ...


View: TypeAlias = npt.NDArray[Any]
Lists: TypeAlias = Sequence[Any]  #: numbers in lists, whose results are NumPy's

if TYPE_CHECKING:
    from typing_extensions import TypeVar

    ArrayT = TypeVar("ArrayT", bound=Array, default=View)
else:
    from typing import TypeVar

    ArrayT = TypeVar("ArrayT", bound=Array)

BFLOAT16 = np.dtype([("bfloat16", np.uint16)])
FLOATS = (np.dtype(np.float64), np.dtype(np.float32), np.dtype(np.float16), BFLOAT16)
INTEGERS = (np.dtype(np.int64), np.dtype(np.int32))
BOOLS = (np.dtype(np.bool_),)
INT8 = np.dtype(np.int8)


def name_of(dtype: np.dtype[Any]) -> str:
    """As NumPy and PyTorch call it."""
    return "bfloat16" if dtype == BFLOAT16 else dtype.name


def dtype_named(dtype: Any, name: str) -> np.dtype[Any]:
    """A dtype given in any library's terms: "bfloat16", np.float32, torch.float16."""
    text = getattr(dtype, "name", None) or getattr(dtype, "__name__", None) or str(dtype)
    text = text.removeprefix("torch.")
    if text == "bfloat16":
        return BFLOAT16
    known = {of.name: of for of in (*FLOATS[:3], INT8)}
    if text in known:
        return known[text]
    try:
        return known[np.dtype(text).name]
    except (KeyError, TypeError, ValueError):
        raise ValueError(f"{name}: {dtype!r}, expected {', '.join(known)} or bfloat16") from None


def computing(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The type that is computed in, and that lse has."""
    return FLOATS[0] if dtype == FLOATS[0] else FLOATS[1]


def is_torch(array: object) -> bool:
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(array, torch.Tensor)


def is_jax(array: object) -> bool:
    jax = sys.modules.get("jax")
    return jax is not None and isinstance(array, jax.Array)


def _of_torch(tensor: Any, name: str) -> View:
    torch = sys.modules["torch"]
    if tensor.device.type != "cpu":
        raise TypeError(f"{name}: on device {tensor.device}, expected the CPU's memory; use {name}.cpu()")
    if tensor.layout != torch.strided:
        raise TypeError(f"{name}: layout {tensor.layout}, expected a strided tensor; use {name}.to_dense()")
    if tensor.requires_grad and torch.is_grad_enabled():
        raise TypeError(
            f"{name}: requires grad, and this call records no gradient; use foveate.torch, or {name}.detach()"
        )
    tensor = tensor.detach().resolve_conj().resolve_neg()
    if tensor.dtype == torch.bfloat16:
        return tensor.view(torch.int16).numpy().view(BFLOAT16)  # type: ignore[no-any-return]
    return tensor.numpy()  # type: ignore[no-any-return]


def _of_dlpack(array: Any, name: str) -> View:
    try:
        device, number = (int(one) for one in array.__dlpack_device__())
        view, bfloat16 = _engine.from_dlpack(array, name) if device == 1 else (None, False)
    except Exception as error:  # whatever an exporter raises, or what it gives makes NumPy raise
        if str(error).startswith(f"{name}: "):
            raise
        raise TypeError(f"{name}: its DLPack export cannot be read: {error}") from error
    if view is None:
        raise TypeError(f"{name}: on DLPack device ({device}, {number}), expected the CPU's memory; copy it there")
    return view.view(BFLOAT16) if bfloat16 else view


def _of_any(array: Any, name: str) -> View:
    if isinstance(array, MaskedArray):
        raise TypeError(f"{name}: a masked array, whose mask would be lost; pass {name}.data, and the mask as mask=")
    if isinstance(array, np.ndarray):
        return np.asarray(array)
    if is_torch(array):
        return _of_torch(array, name)
    if hasattr(array, "__dlpack__") and not is_jax(array):
        return _of_dlpack(array, name)
    try:
        return np.asarray(array)
    except ValueError:
        raise ValueError(f"{name}: {type(array).__name__} of unequal lengths, expected an array") from None


def view_of(array: Any, name: str, dtypes: tuple[np.dtype[Any], ...] = FLOATS) -> View:
    """A view of the same memory, its type one of dtypes; a TypeError where there is none."""
    view = _of_any(array, name)
    if view.dtype.kind == "V" and view.dtype.name == "bfloat16":  # of ml_dtypes; a name takes NumPy microseconds
        view = view.view(BFLOAT16)
    aligned = (view.view(np.uint16) if view.dtype == BFLOAT16 else view).flags.aligned
    native = view.dtype.newbyteorder("=")
    if native not in dtypes:
        raise TypeError(_wrong_dtype(array, view, name, dtypes))
    if not view.dtype.isnative:
        raise TypeError(f"{name}: {native.name} of the other byte order; use {name}.astype({native.name!r})")
    if not aligned:
        raise TypeError(f"{name}: its elements are not aligned in memory; use {name}.copy()")
    return view if native == BFLOAT16 else view.view(native)  # NumPy keeps a "<" that says no more than "="


def writable_view_of(array: Any, name: str, dtypes: tuple[np.dtype[Any], ...]) -> View:
    """The same of memory that is written to: no copy will do."""
    view = view_of(array, name, dtypes)
    of_its_own = isinstance(array, np.ndarray) or is_torch(array) or view.size == 0
    if not of_its_own and not np.may_share_memory(view, view_of(array, name, dtypes)):  # each time another copy
        kind = type(array).__name__
        raise TypeError(f"{name}: of type {kind}, which gives copies; expected an array whose memory can be written")
    if not view.flags.writeable:
        raise ValueError(f"{name}: read-only, expected an array to write to")
    return view


def narrowed(array: View, dtype: np.dtype[Any]) -> View:
    """A float64 result as an array of another float type, rounded to nearest."""
    if dtype != BFLOAT16:
        return array.astype(dtype)
    single = array.astype(np.float32)
    bits = single.view(np.uint32)
    rounded = ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype(np.uint16)
    return np.where(np.isnan(single), np.uint16(0x7FC0), rounded).view(BFLOAT16)


def _wrong_dtype(array: object, view: View, name: str, dtypes: tuple[np.dtype[Any], ...]) -> str:
    expected = " or ".join(name_of(dtype) for dtype in dtypes)
    if view.dtype == object and not isinstance(array, np.ndarray):
        kind = "None" if array is None else f"of type {type(array).__name__}"
        return f"{name}: {kind}, expected an array of {expected}"
    message = f"{name}: dtype {view.dtype}, expected {expected}"
    if name == "out":
        return message  # a converted copy would be written to in its place
    if name == "bias" and view.dtype == BOOLS[0]:
        return message + "; pass it as mask (true = takes part)"
    of_floats = [dtype for dtype in dtypes if dtype in FLOATS]
    if BOOLS[0] in dtypes and not (of_floats and view.dtype.kind == "f"):
        converted = f"use {_converted(array, name, 'bool')} (true = takes part)"
        if view.dtype.kind == "f" and name == "mask":
            return f"{message}; pass it as bias if it is added to the scores, else {converted}"
        return f"{message}; {converted}" + (", or pass it as bias" if name == "mask" else "")
    target = (of_floats[1] if len(of_floats) > 1 else of_floats[0]) if of_floats else dtypes[0]
    return f"{message}; use {_converted(array, name, name_of(target))}"


def _converted(array: object, name: str, dtype: str) -> str:
    """How an array of its kind is made one of that type."""
    if is_torch(array):
        return f"{name}.to(torch.{dtype})"
    quoted = dtype if dtype == "bool" else repr(dtype)
    return f"{name}.astype({quoted})" if hasattr(array, "astype") else f"numpy.asarray({name}, {quoted})"


def make(shape: tuple[int, ...], dtype: np.dtype[Any]) -> View:
    """Memory for a result."""
    try:
        return np.empty(shape, dtype)
    except ValueError:  # more than there are addresses
        raise MemoryError(f"an array of shape {list(shape)} and type {name_of(dtype)} is too large") from None


def like(result: View, array: object) -> Any:
    """The result as an array of the same kind as array, in the same memory where that kind allows it."""
    if is_torch(array):
        torch = sys.modules["torch"]
        if result.dtype == BFLOAT16:
            return torch.from_numpy(result.view(np.int16)).view(torch.bfloat16)
        return torch.from_numpy(result)
    if result.dtype == BFLOAT16:
        result = result.view(_numpy_bfloat16())
    if is_jax(array):
        return sys.modules["jax"].numpy.asarray(result)
    return result


def _numpy_bfloat16() -> Any:
    try:
        import ml_dtypes
    except ImportError:
        raise ImportError(
            "bfloat16 results as NumPy arrays want the package ml_dtypes; pip install ml_dtypes"
        ) from None
    return ml_dtypes.bfloat16
