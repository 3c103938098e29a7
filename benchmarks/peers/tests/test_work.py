# Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
"""Operations, bytes and limits of a work, counted pair by pair where that is another way to count."""

import numpy as np
import pytest
from peers import arrays, rows
from peers.hidden import hidden_pairs
from peers.work import Work


def test_operations_are_four_a_pair_and_component() -> None:
    work = rows.ALL["f32_N2048_d64"]
    assert work.flops == 4 * 8 * 2048 * 2048 * 64


def test_causal_counts_half_and_gradients_three_and_a_half() -> None:
    dense, causal = rows.ALL["f32_N2048_d64"], rows.ALL["f32_causal_N2048_d64"]
    assert causal.flops == dense.flops / 2
    assert rows.ALL["f32_grad_N2048_d64"].flops == 3.5 * dense.flops
    assert rows.ALL["f32_grad_causal_N2048_d64"].flops == 3.5 * causal.flops


def test_head_dims_that_differ_count_each_once() -> None:
    assert rows.ALL["f32_N2048_d576/512"].flops == 2 * (576 + 512) * 4 * 2048 * 2048


@pytest.mark.parametrize(("n_q", "n_kv", "window"), [(50, 50, 7), (5, 50, 7), (50, 50, 0), (9, 9, 100)])
def test_pairs_of_a_window_are_those_not_hidden(tmp_path, n_q: int, n_kv: int, window: int) -> None:
    work = Work("w", n_q=n_q, n_kv=n_kv, causal=True, window=window)
    hidden = hidden_pairs(work, tmp_path)
    assert hidden is not None
    assert work.pairs == (~hidden).sum()


def test_kept_blocks_are_the_share_that_is_counted(tmp_path) -> None:
    work = rows.ALL["f32_blocks10%_N8192_d64"]
    arrays.write(work, tmp_path)
    kept = arrays.read(work, tmp_path, "blocks")
    assert kept.mean() == pytest.approx(work.kept_blocks, rel=0.03)
    assert kept[0, 0].diagonal().all()
    hidden = hidden_pairs(work, tmp_path)
    assert hidden is not None
    assert 1 - hidden.mean() == pytest.approx(kept.mean())


def test_decoding_reads_keys_and_values_once() -> None:
    assert rows.ALL["decode_32:8_N32768_d128_bf16"].bytes == 8 * 32768 * 2 * 128 * 2
    assert rows.ALL["decode_32:8_N32768_d128_i8"].bytes == 8 * 32768 * 2 * (128 + 4)


def test_the_limit_is_the_slower_of_reading_and_computing() -> None:
    work = rows.ALL["decode_64:8_N32768_d128_bf16"]
    peaks = {"bf16": 1e12, "read": 1e9}
    assert work.limit(peaks) == work.bytes / 1e9
    peaks = {"bf16": 1e9, "read": 1e12}
    assert work.limit(peaks) == work.flops / 0.85e9
    assert rows.ALL["bf16_N2048_d64"].limit(peaks) == rows.ALL["bf16_N2048_d64"].flops / 1e9
    assert rows.ALL["f16_N2048_d64"].limit(peaks) is None  # float32's peak was not measured
    assert rows.ALL["f32_tiny_n8_d16"].limit({"f32": 1e9}) is None


def test_groups_as_rows_are_the_same_memory() -> None:
    work = rows.ALL["decode_32:8_N32768_d128_bf16"]
    as_rows = work.as_rows()
    assert as_rows
    assert (as_rows.h_q, as_rows.n_q, as_rows.flops, as_rows.bytes) == (8, 4, work.flops, work.bytes)
    assert Work("w", h_q=8, h_kv=2, n_q=4, n_kv=4, causal=True).as_rows() is None
    assert rows.ALL["f32_N2048_d64"].as_rows() is None


def test_a_changed_work_has_other_arrays() -> None:
    assert Work("w", n_kv=8).key() != Work("w", n_kv=9).key()


def test_sets() -> None:
    assert len(rows.GRID) == 60
    assert len(rows.named("quick")) == len(rows.QUICK)
    assert {row.d_k for row in rows.GRID} == {16, 64, 128, 256}
    assert max(row.n_kv for row in rows.GRID) == 8192
    assert [row.name for row in rows.chosen("f32_tiny_n8_d16")] == ["f32_tiny_n8_d16"]
    with pytest.raises(ValueError, match="--only: no row is named 'nonsense'"):
        rows.chosen("nonsense")
    for nothing in ("", ",", "f32_tiny,"):
        with pytest.raises(ValueError, match="no row is named ''"):
            rows.chosen(nothing)


def test_bfloat16_is_rounded_to_nearest_even() -> None:
    x = np.array([1.0, 1 + 2.0**-8, 1 + 3 * 2.0**-8, -(1 + 2.0**-7)], np.float32)
    rounded = arrays.from_bf16(arrays.to_bf16(x))
    assert rounded.tolist() == [1.0, 1.0, 1 + 2.0**-6, -(1 + 2.0**-7)]


def test_int8_scales_are_exact_in_float16(tmp_path) -> None:
    work = Work("w", n_q=2, n_kv=32, d_k=32, d_v=32, stored="i8")
    arrays.write(work, tmp_path)
    scales = arrays.read(work, tmp_path, "k_scales")
    assert (scales.astype(np.float16).astype(np.float32) == scales).all()
    assert 0.5 < arrays.read_f32(work, tmp_path, "k").std() < 2
