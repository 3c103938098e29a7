# Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
"""The arrays of a work, as files that every peer maps: plain elements in C order, NAME.TYPE in one folder.

bfloat16 is its 16 bits. Files of a work are made once, from a fixed seed, and kept for the next run.
"""

from __future__ import annotations

import pathlib

import numpy as np

from peers.work import Work

NUMPY = {"f32": np.float32, "f16": np.float16, "bf16": np.uint16, "i8": np.int8, "bool": np.bool_, "f64": np.float64}


def to_bf16(x: np.ndarray) -> np.ndarray:
    """The bits of the nearest bfloat16, ties to even; of finite numbers."""
    bits = np.ascontiguousarray(x, np.float32).view(np.uint32)
    return ((bits + np.uint32(0x7FFF) + ((bits >> np.uint32(16)) & np.uint32(1))) >> np.uint32(16)).astype(np.uint16)


def from_bf16(bits: np.ndarray) -> np.ndarray:
    return (bits.astype(np.uint32) << np.uint32(16)).view(np.float32)


def shapes(work: Work) -> dict[str, tuple[tuple[int, ...], str]]:
    """Shape and type of each input."""
    keys = (work.b, work.h_kv, work.n_kv)
    found = {
        "q": ((work.b, work.h_q, work.n_q, work.d_k), work.dtype),
        "k": ((*keys, work.d_k), work.kv_dtype),
        "v": ((*keys, work.d_v), work.kv_dtype),
    }
    if work.kv_dtype == "i8":
        found |= {"k_scales": ((*keys, 1), "f32"), "v_scales": ((*keys, 1), "f32")}
    if work.backward:
        found["d_o"] = ((work.b, work.h_q, work.n_q, work.d_v), work.dtype)
    if work.kept_blocks < 1:
        found["blocks"] = ((1, 1, -(-work.n_q // work.BLOCK), -(-work.n_kv // work.BLOCK)), "bool")
    if work.additive:
        square = ((work.d_k, work.d_k), "f32")
        found |= {"w_q": square, "w_k": square, "w": ((work.d_k,), "f32"), "bias": ((work.d_k,), "f32")}
    return found


def outputs(work: Work) -> dict[str, tuple[int, ...]]:
    """Shapes of what a peer writes, in float32 whatever it computed in."""
    found = {"o": (work.b, work.h_q, work.n_q, work.d_v)}
    if work.backward:
        found |= {"dq": shapes(work)["q"][0], "dk": shapes(work)["k"][0], "dv": shapes(work)["v"][0]}
    return found


def _made(name: str, shape: tuple[int, ...], dtype: str, work: Work, random: np.random.Generator) -> np.ndarray:
    if dtype == "bool":
        return _blocks(shape, work.kept_blocks, random)
    if dtype == "i8":
        return random.integers(-127, 128, shape, dtype=np.int8)
    if name.endswith("_scales"):
        # Such that rows have components of about 1, exact in float16 too, which some store scales as.
        return (random.integers(24, 41, shape) * np.float32(2.0**-11)).astype(np.float32)
    values = random.standard_normal(shape, dtype=np.float32)
    if name in ("w_q", "w_k"):
        values *= np.float32(1 / np.sqrt(work.d_k))
    return to_bf16(values) if dtype == "bf16" else values.astype(NUMPY[dtype])


def _blocks(shape: tuple[int, ...], share: float, random: np.random.Generator) -> np.ndarray:
    """The diagonal, and as many others in each row of blocks as the share asks for."""
    kept = np.zeros(shape, bool)
    rows, columns = shape[-2:]
    for i in range(rows):
        others = random.permutation(np.delete(np.arange(columns), i))[: round(share * columns) - 1]
        kept[..., i, i] = True
        kept[..., i, others] = True
    return kept


def write(work: Work, folder: pathlib.Path) -> None:
    """Writes the files that are not there yet."""
    folder.mkdir(parents=True, exist_ok=True)
    random = np.random.default_rng(20261130)
    for name, (shape, dtype) in shapes(work).items():
        path = folder / f"{name}.{dtype}"
        values = _made(name, shape, dtype, work, random)
        if not path.exists() or path.stat().st_size != values.nbytes:
            values.tofile(path)


def read(work: Work, folder: pathlib.Path, name: str) -> np.ndarray:
    """One input in its own type, mapped and read-only."""
    shape, dtype = shapes(work)[name]
    return np.memmap(folder / f"{name}.{dtype}", NUMPY[dtype], "r", shape=shape)


def read_f32(work: Work, folder: pathlib.Path, name: str) -> np.ndarray:
    """One input as float32, in memory of its own; int8 times its scales."""
    values = read(work, folder, name)
    dtype = shapes(work)[name][1]
    if dtype == "bf16":
        return from_bf16(values)
    if dtype == "i8":
        return values * np.float32(1) * read(work, folder, f"{name}_scales")
    return np.array(values, np.float32)
