# Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
"""The rows that are measured, and the sets that a run takes."""

from __future__ import annotations

from collections.abc import Iterator

from peers.work import Work


def square(name: str, n: int, d: int, **more: object) -> Work:
    return Work(**{"name": name, "n_q": n, "n_kv": n, "d_k": d, "d_v": d} | more)


def decode(h_q: int, h_kv: int, n_kv: int, dtype: str, stored: str = "") -> Work:
    name = f"decode_{h_q}:{h_kv}_N{n_kv}_d128_{stored or dtype}"
    return Work(name, 1, h_q, h_kv, 1, n_kv, 128, 128, dtype, stored, bound="memory")


def _main() -> Iterator[Work]:
    yield square("f32_N2048_d64", 2048, 64)
    yield square("f32_N2048_d128", 2048, 128)
    yield square("f32_causal_N2048_d64", 2048, 64, causal=True)
    yield square("f32_causal_N4096_d128", 4096, 128, causal=True)
    yield square("f32_B8_H12_N128_d64", 128, 64, b=8, h_q=12, h_kv=12)
    yield square("f32_B8_H12_N384_d64", 384, 64, b=8, h_q=12, h_kv=12)
    yield square("f32_B64_H12_N17_d32", 17, 32, b=64, h_q=12, h_kv=12)
    yield square("bf16_N2048_d64", 2048, 64, dtype="bf16")
    yield square("bf16_N2048_d128", 2048, 128, dtype="bf16")
    yield square("f16_N2048_d64", 2048, 64, dtype="f16")
    yield square("f16_N2048_d128", 2048, 128, dtype="f16")
    yield square("i8_N2048_d128", 2048, 128, dtype="bf16", stored="i8")
    for dtype in ("f32", "bf16"):
        yield decode(32, 32, 4096, dtype)
    for h_q in (32, 64):
        yield decode(h_q, 8, 32768, "bf16")
        yield decode(h_q, 8, 32768, "bf16", "i8")
    yield square("f32_window256_N16384_d64", 16384, 64, h_q=4, h_kv=4, causal=True, window=256)
    yield square("f32_causal_N16384_d64", 16384, 64, h_q=4, h_kv=4, causal=True)
    yield square("f32_blocks10%_N8192_d64", 8192, 64, h_q=2, h_kv=2, kept_blocks=0.1)
    yield square("f32_N8192_d64", 8192, 64, h_q=2, h_kv=2)
    yield square("f32_grad_N2048_d64", 2048, 64, backward=True)
    yield square("f32_grad_causal_N2048_d64", 2048, 64, causal=True, backward=True)
    yield square("f32_additive_N1024_d64", 1024, 64, additive=True)
    yield from _odd()
    yield square("f32_tiny_n8_d16", 8, 16, h_q=1, h_kv=1, bound="call")


def _odd() -> Iterator[Work]:
    """Head dims between the round ones, and lengths that fill no tile."""
    for d in (40, 80, 96, 256):
        yield square(f"f32_N2048_d{d}", 2048, d)
    yield square("f32_N2048_d576/512", 2048, 576, d_v=512, h_q=4, h_kv=4)
    yield square("f32_N2039_d64", 2039, 64)
    yield square("f32_N1025_d64", 1025, 64)
    yield square("f32_causal_N2039_d64", 2039, 64, causal=True)


def _grid() -> Iterator[Work]:
    """60 points: fifteen pairs of lengths from 1 to 8192, at four head dims."""
    lengths = [(1, 1), (1, 128), (1, 1024), (1, 8192), (16, 16), (16, 1024), (16, 8192), (128, 128), (128, 1024)]
    lengths += [(128, 8192), (1024, 128), (1024, 1024), (1024, 8192), (8192, 128), (8192, 8192)]
    for d in (16, 64, 128, 256):
        for n_q, n_kv in lengths:
            yield Work(f"grid_{n_q}x{n_kv}_d{d}", 1, 4, 4, n_q, n_kv, d, d)


MAIN = tuple(_main())
GRID = tuple(_grid())
QUICK = (
    "f32_N2048_d64",
    "f32_causal_N2048_d64",
    "f32_B8_H12_N128_d64",
    "bf16_N2048_d128",
    "i8_N2048_d128",
    "decode_32:32_N4096_d128_f32",
    "decode_32:8_N32768_d128_bf16",
    "f32_grad_N2048_d64",
    "f32_tiny_n8_d16",
)
ALL = {row.name: row for row in MAIN + GRID}


def named(name: str) -> tuple[Work, ...]:
    """The rows of a set, "quick", "full" or "grid"."""
    return {"quick": tuple(ALL[row] for row in QUICK), "full": MAIN, "grid": GRID}[name]


def chosen(names: str) -> tuple[Work, ...]:
    """Rows by their names or parts of these, with commas between."""
    found: list[Work] = []
    for name in names.split(","):
        rows = [ALL[name]] if name in ALL else [row for row in MAIN + GRID if name and name in row.name]
        if not rows:
            raise ValueError(f"--only: no row is named {name!r}; scripts/bench --list lists them")
        found += rows
    return tuple(dict.fromkeys(found))
