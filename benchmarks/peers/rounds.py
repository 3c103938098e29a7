# Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
"""One row at one number of threads: every peer prepared, judged, then timed by turns."""

from __future__ import annotations

import contextlib
import dataclasses
import math
import pathlib
import tempfile
import time
from collections.abc import Callable

from peers.judge import Judge
from peers.process import Ended, Process
from peers.work import Work

# A sample is at least so long, that a clock and a wake-up do not show.
SAMPLE = 0.02
# A call of so many seconds is timed once, when its result is written.
PATIENCE = 10.0
PREPARING = 400.0  # seconds, with a compiler's
CALLING = 120.0


@dataclasses.dataclass
class Result:
    """What one peer did with one row.

    Attributes:
        reason: why it was not timed, or "".
        wrong: whether that is since its results were wrong.
        rejected: faster ways whose results were wrong, and by how much.
        first: seconds of a call when it was prepared.
        error: relative to what is allowed; absolute: itself.
        memory: bytes beside inputs and outputs.
        samples: seconds a call, one a round, by "wall" and by "processor", the time of all its threads.
    """

    reason: str = ""
    wrong: bool = False
    rejected: dict[str, str] = dataclasses.field(default_factory=dict)
    way: str = ""
    first: float = 0.0
    error: float = 0.0
    absolute: float = 0.0
    memory: int = 0
    samples: dict[str, list[float]] = dataclasses.field(default_factory=lambda: {"wall": [], "processor": []})

    def add(self, answer: dict[str, float]) -> None:
        for clock, kept in self.samples.items():
            kept.append(answer[clock])


@dataclasses.dataclass
class Limits:
    """The machine's peaks, of each round: FLOP/s by type, and bytes/s read; by both clocks."""

    samples: dict[str, dict[str, list[float]]] = dataclasses.field(default_factory=dict)

    def best(self, clock: str) -> dict[str, float]:
        best = {what: max(samples[clock]) for what, samples in self.samples.items()}
        return {what: rate for what, rate in best.items() if rate > 0}


class Rounds:
    """Runs rows on a set of processes, `limits` among them."""

    def __init__(self, processes: dict[str, Process], limits: Process, judge: Judge, say: Callable[[str], None]):
        self._processes, self._limits, self._judge, self._say = processes, limits, judge, say

    def run(
        self, work: Work, folder: pathlib.Path, rounds: int, seconds: float, results: dict[str, Result], limits: Limits
    ) -> None:
        """Fills in results and limits as it goes, so that what is measured when somebody stops it is there."""
        for name in self._processes:
            self._say(f"{work.name}: {name} prepares")
            results[name] = self._prepared(name, work, folder)
        calls = {n: max(1, math.ceil(SAMPLE / r.first)) for n, r in results.items() if not r.reason}
        order, start = list(calls), time.monotonic()
        for index in range(rounds):
            # At least three rounds, whatever they take, lest one bad moment decide.
            if index >= 3 and time.monotonic() - start > seconds * len(calls):
                break
            self._say(f"{work.name}: round {index + 1} of {rounds}")
            self._measure_limits(work, limits)
            for name in order[index % len(order) :] + order[: index % len(order)] if order else []:
                # Who takes far longer than the others is asked less often, or not again.
                if results[name].first <= PATIENCE and (index == 0 or index * results[name].first < 3 * seconds):
                    self._time(name, results[name], calls[name])
        for name in order:
            self._release(name)

    def _release(self, name: str) -> None:
        with contextlib.suppress(Ended):  # it is started anew for the next row
            self._processes[name].ask(CALLING, op="release")

    def _measure_limits(self, work: Work, limits: Limits) -> None:
        if work.additive or work.bound == "call":
            return
        for what in (work.peak, "read") if work.bound == "memory" else (work.peak,):
            # Such as the loop keeps up, not what a cool processor shows for a moment.
            answer = self._limits.ask(CALLING, op="measure", what=what, seconds=0.1)
            samples = limits.samples.setdefault(what, {"wall": [], "processor": []})
            for clock, kept in samples.items():
                kept.append(answer[clock])

    def _prepared(self, name: str, work: Work, folder: pathlib.Path) -> Result:
        """Ready to be timed, by the fastest way that is right; or why not."""
        wrong: dict[str, str] = {}
        while True:
            try:
                result = self._judged(name, work, folder, list(wrong))
            except Ended as ended:
                return Result(reason=str(ended), rejected=wrong)
            if result.reason and wrong:
                result.reason = "wrong: " + "; ".join(f"{way} is {why}" for way, why in wrong.items())
                result.wrong = True
            result.rejected = wrong
            if result.reason or result.error <= 1:
                return result
            wrong[result.way] = f"wrong: off by {result.absolute:.2g}, {result.error:.2g} times what is allowed"

    def _judged(self, name: str, work: Work, folder: pathlib.Path, without: list[str]) -> Result:
        """Prepared, and compared with the oracle."""
        process, where = self._processes[name], str(folder)
        answer = process.ask(PREPARING, op="prepare", work=work.json(), folder=where, without=without)
        if "cannot" in answer:
            return Result(reason=answer["cannot"])
        with tempfile.TemporaryDirectory() as written:
            wrote = process.ask(CALLING, op="write", folder=written)
            if "cannot" in wrote:
                return Result(reason=wrote["cannot"])
            error, absolute = self._judge.error(work, folder, pathlib.Path(written))
        result = Result("", False, {}, answer["way"], answer["seconds"], error, absolute, answer["memory"])
        if result.first > PATIENCE:
            result.add(wrote)
        return result

    def _time(self, name: str, result: Result, calls: int) -> None:
        if result.reason:
            return
        try:
            answer = self._processes[name].ask(CALLING, op="time", calls=calls)
        except Ended as ended:
            answer = {"cannot": str(ended)}
        if "cannot" in answer:
            result.reason = answer["cannot"]
            return
        result.add(answer)
