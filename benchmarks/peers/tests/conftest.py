# Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
"""What the tests share: the package on the path, and made-up measurements."""

from __future__ import annotations

import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))

from peers import rows
from peers.figures import RowFigures, Sides, of_row
from peers.rounds import Limits, Result


def timed(*seconds: float, **more: object) -> Result:
    return Result(**more, samples={"wall": list(seconds), "processor": [x / 2 for x in seconds]})


def limits(**rates: float) -> Limits:
    return Limits({what: {"wall": [rate / 2, rate], "processor": [rate]} for what, rate in rates.items()})


@pytest.fixture
def measured() -> list[RowFigures]:
    """A win, a loss, a row that memory bounds, one whose peer was wrong, and one without peers; at 1 and 2 threads."""
    found = []
    for threads in (1, 2):
        peaks = limits(f32=250e9 * threads, bf16=500e9 * threads, i8=1e12 * threads, read=34e9)
        for name, results in {
            "f32_N2048_d64": {"foveate": timed(0.040, 0.041), "NumPy": timed(0.090), "a & b <c>": timed(0.05)},
            "f32_causal_N2048_d64": {"foveate": timed(0.030), "NumPy": timed(0.020)},
            "decode_32:8_N32768_d128_bf16": {"foveate": timed(0.005), "NumPy": Result(reason="no bfloat16")},
            "f32_N1025_d64": {"foveate": timed(0.01), "NumPy": timed(reason="wrong: off by 1", wrong=True)},
            "f32_tiny_n8_d16": {"foveate": timed(5e-6), "foveate in C++": timed(1e-6), "NumPy": timed(1e-5)},
        }.items():
            found.append(of_row(rows.ALL[name], threads, results, peaks, Sides()))
    return found
