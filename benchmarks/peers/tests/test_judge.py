# Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
"""Right results pass, wrong ones do not; without the oracle's program, whose answers are made here."""

from __future__ import annotations

import pathlib

import numpy as np
import pytest
from peers import arrays
from peers.hidden import hidden_pairs
from peers.judge import Judge, rows_of
from peers.work import Work

WORKS = [
    Work("dense", h_q=2, h_kv=2, n_q=33, n_kv=65, d_k=16, d_v=24),
    Work("causal", h_q=4, h_kv=2, n_q=20, n_kv=33, d_k=16, d_v=16, causal=True),
    Work("window", h_q=1, h_kv=1, n_q=40, n_kv=40, d_k=16, d_v=16, causal=True, window=5),
    Work("bf16", h_q=2, h_kv=2, n_q=33, n_kv=65, d_k=16, d_v=16, dtype="bf16"),
    Work("int8", h_q=2, h_kv=2, n_q=33, n_kv=65, d_k=32, d_v=32, dtype="bf16", stored="i8"),
]


def attention(work: Work, folder: pathlib.Path) -> np.ndarray:
    """[b, h, n_q, d_v], float64."""
    wide = {name: arrays.read_f32(work, folder, name).astype(np.float64) for name in "qkv"}
    k, v = (wide[name].repeat(work.h_q // work.h_kv, 1) for name in "kv")
    s = wide["q"] @ k.swapaxes(-1, -2) * work.scale
    hidden = hidden_pairs(work, folder)
    if hidden is not None:
        s[..., hidden] = -np.inf
    p = np.exp(s - s.max(-1, keepdims=True))
    return p @ v / p.sum(-1, keepdims=True)


@pytest.fixture(params=WORKS, ids=lambda work: work.name)
def judged(request, tmp_path):
    """A work, a judge that knows the exact answer, and the result rounded to the work's type."""
    work = request.param
    arrays.write(work, tmp_path)
    exact = attention(work, tmp_path)
    np.stack([exact[row] for row in rows_of(work)]).tofile(tmp_path / "exact_o.f64")
    (tmp_path / "exact").touch()
    result = exact.astype(np.float32)
    if work.dtype == "bf16":
        result = arrays.from_bf16(arrays.to_bf16(result))
    return work, Judge(pathlib.Path("none")), tmp_path, result


def error(judged, result: np.ndarray) -> float:
    work, judge, folder, _ = judged
    results = folder / "results"
    results.mkdir(exist_ok=True)
    result.astype(np.float32).tofile(results / "o.f32")
    return judge.error(work, folder, results)[0]


def test_a_rounded_result_is_right(judged) -> None:
    assert error(judged, judged[3]) <= 1


def test_values_of_the_next_key_are_wrong(judged) -> None:
    assert error(judged, np.roll(judged[3], 1, -2)) > 1


def test_another_scale_is_wrong(judged) -> None:
    assert error(judged, judged[3] * 1.1) > 1


def test_not_a_number_is_wrong(judged) -> None:
    result = judged[3].copy()
    result[-1, -1, -1, -1] = np.nan
    assert error(judged, result) > 1


def test_a_result_of_another_size_is_wrong(judged) -> None:
    assert error(judged, judged[3][..., :-1]) > 1


def test_first_and_last_row_are_compared_and_none_twice() -> None:
    work = Work("w", b=2, h_q=3, h_kv=3, n_q=50, n_kv=50)
    chosen = rows_of(work)
    assert (0, 0, 0) in chosen
    assert (1, 2, 49) in chosen
    assert len(set(chosen)) == len(chosen)
    assert all(b < 2 and h < 3 and i < 50 for b, h, i in chosen)
