# Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
"""Copies of arrays that begin on a page of 2 MB, which Linux is asked to give as one."""

from __future__ import annotations

import ctypes
import mmap

import numpy as np

_PAGE = 2 << 20


def aligned(values: np.ndarray) -> np.ndarray:
    """A copy in memory of its own."""
    memory = mmap.mmap(-1, (values.nbytes // _PAGE + 2) * _PAGE, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    memory.madvise(mmap.MADV_HUGEPAGE)
    start = -ctypes.addressof(ctypes.c_char.from_buffer(memory)) % _PAGE
    copy = np.frombuffer(memory, values.dtype, values.size, start).reshape(values.shape)
    copy[...] = values
    return copy
