# Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
"""Best, median, rates, shares and ratios."""

import pytest
from peers import rows
from peers.figures import Sides, of_row
from peers.rounds import Result

from conftest import limits, timed

WORK = rows.ALL["f32_N2048_d64"]


def row(results: dict[str, Result], clock: str = "wall"):
    return of_row(WORK, 1, results, limits(f32=250e9), Sides(), clock)


def test_best_median_rate_and_share() -> None:
    mine = row({"foveate": timed(0.05, 0.04, 0.06)}).peers["foveate"]
    assert (mine.best, mine.median) == (0.04, 0.05)
    assert mine.rate == pytest.approx(WORK.flops / 0.04 / 1e9)
    assert mine.share == pytest.approx(WORK.flops / 0.04 / 250e9)


def test_the_ratio_is_to_the_best_other() -> None:
    figures = row({"foveate": timed(0.04, 0.06), "slow": timed(0.2), "fast": timed(0.05, 0.09)})
    assert (figures.rival, figures.ratio) == ("fast", pytest.approx(1.25))
    assert figures.median_ratio == pytest.approx(0.07 / 0.05)


def test_peers_in_cpp_are_set_beside_foveate_in_cpp() -> None:
    results = {"foveate": timed(9e-6), "foveate in C++": timed(1e-6), "unfused": timed(2e-6), "NumPy": timed(10e-6)}
    work = rows.ALL["f32_tiny_n8_d16"]
    figures = of_row(work, 1, results, limits(), Sides(native=frozenset({"unfused", "foveate in C++"})))
    assert (figures.rival, figures.ratio) == ("NumPy", pytest.approx(10 / 9))
    assert figures.speeds == {"unfused": pytest.approx(0.5), "NumPy": pytest.approx(0.9)}


def test_who_was_wrong_is_no_rival() -> None:
    figures = row({"foveate": timed(0.04), "wrong": timed(0.001, reason="wrong: off by 1", wrong=True)})
    assert figures.ratio is None
    assert figures.reasons == {"wrong": "wrong: off by 1"}


def test_a_wrong_way_is_told_though_another_was_right() -> None:
    figures = row({"foveate": timed(0.04), "peer": timed(0.05, way="slow", rejected={"fast": "wrong: off by 1"})})
    assert figures.rival == "peer"
    assert figures.rejected == {"peer by fast": "wrong: off by 1"}


def test_the_clock_is_the_one_asked_for() -> None:
    assert row({"foveate": timed(0.04)}, "processor").peers["foveate"].best == 0.02


def test_without_foveate_there_is_no_ratio() -> None:
    assert row({"foveate": Result(reason="ended by SIGSEGV"), "peer": timed(0.05)}).ratio is None


def test_a_call_is_told_in_microseconds() -> None:
    work = rows.ALL["f32_tiny_n8_d16"]
    figures = of_row(work, 1, {"foveate": timed(5e-6)}, limits(), Sides())
    assert figures.peers["foveate"].rate == pytest.approx(5)
    assert figures.peers["foveate"].share is None
