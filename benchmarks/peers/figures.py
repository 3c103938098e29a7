# Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
"""What is told of a row: each peer's best and median, rate and share of the limit, and foveate's ratio to the best."""

from __future__ import annotations

import dataclasses
import statistics
from collections.abc import Mapping

from peers.rounds import Limits, Result
from peers.work import Work


@dataclasses.dataclass(frozen=True)
class Figures:
    """Of one peer. rate is in the work's unit; share: of the limit, None where there is none."""

    best: float
    median: float
    rate: float
    share: float | None
    memory: int
    way: str


@dataclasses.dataclass(frozen=True)
class RowFigures:
    """Of one row at one number of threads.

    Attributes:
        reasons: why others were not timed.
        rejected: faster ways of theirs that were wrong, and by how much.
        ratio: the best other's best time over foveate's: below 1 is a loss. None: no other, or no foveate.
        rival: who that is.
    """

    work: Work
    threads: int
    peers: dict[str, Figures]
    reasons: dict[str, str]
    rejected: dict[str, str]
    ratio: float | None
    median_ratio: float | None
    rival: str


def rate(work: Work, seconds: float) -> float:
    """In the work's unit."""
    if work.unit == "us":
        return seconds * 1e6
    return (work.bytes if work.unit == "GB/s" else work.flops) / seconds * 1e-9


def of_peer(work: Work, result: Result, limit: float | None, clock: str) -> Figures:
    samples = result.samples[clock]
    best = min(samples)
    share = limit / best if limit else None
    return Figures(best, statistics.median(samples), rate(work, best), share, result.memory, result.way)


def of_row(
    work: Work, threads: int, results: Mapping[str, Result], limits: Limits, ours: set[str], clock: str = "wall"
) -> RowFigures:
    """ours: the names that are foveate; the first that was timed stands for it."""
    limit = work.limit(limits.best(clock))
    peers = {name: of_peer(work, r, limit, clock) for name, r in results.items() if r.samples[clock] and not r.reason}
    reasons = {name: r.reason for name, r in results.items() if r.reason}
    rejected = {
        f"{name} by {way}": why for name, r in results.items() if not r.wrong for way, why in r.rejected.items()
    }
    own = [figures for name, figures in peers.items() if name in ours]
    others = {name: figures for name, figures in peers.items() if name not in ours}
    if not own or not others:
        return RowFigures(work, threads, peers, reasons, rejected, None, None, "")
    mine = own[0]
    rival = min(others, key=lambda name: others[name].best)
    median = min(x.median for x in others.values()) / mine.median
    return RowFigures(work, threads, peers, reasons, rejected, others[rival].best / mine.best, median, rival)
