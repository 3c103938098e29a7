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
        speeds: of each other, foveate's best time over its: of foveate in C++, where they are called from C++.
        ratio: foveate's speed over the best other's: below 1 is a loss. None: no other, or no foveate.
        median_ratio: the same of medians.
        rival: who that is.
    """

    work: Work
    threads: int
    peers: dict[str, Figures]
    reasons: dict[str, str]
    rejected: dict[str, str]
    speeds: dict[str, float]
    ratio: float | None
    median_ratio: float | None
    rival: str


@dataclasses.dataclass(frozen=True)
class Sides:
    """Which peers are foveate, by Python and in C++, and which others are called from C++."""

    python: str = "foveate"
    cpp: str = "foveate in C++"
    native: frozenset[str] = frozenset()

    def counterpart(self, name: str, peers: Mapping[str, Figures]) -> Figures | None:
        """Foveate as it is to be set beside a peer."""
        own = self.cpp if name in self.native and self.cpp in peers else self.python
        return peers.get(own)


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
    work: Work, threads: int, results: Mapping[str, Result], limits: Limits, sides: Sides, clock: str = "wall"
) -> RowFigures:
    limit = work.limit(limits.best(clock))
    peers = {name: of_peer(work, r, limit, clock) for name, r in results.items() if r.samples[clock] and not r.reason}
    reasons = {name: r.reason for name, r in results.items() if r.reason}
    rejected = {
        f"{name} by {way}": why for name, r in results.items() if not r.wrong for way, why in r.rejected.items()
    }
    pairs = {
        name: (mine, figures)
        for name, figures in peers.items()
        if name not in (sides.python, sides.cpp) and (mine := sides.counterpart(name, peers))
    }
    speeds = {name: mine.best / other.best for name, (mine, other) in pairs.items()}
    ratio = 1 / max(speeds.values()) if speeds else None
    median = min((other.median / mine.median for mine, other in pairs.values()), default=None)
    rival = max(speeds, key=lambda name: speeds[name], default="")
    return RowFigures(work, threads, peers, reasons, rejected, speeds, ratio, median, rival)
