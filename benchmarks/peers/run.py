# Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
"""A run: installs, starts processes, goes through the rows, and writes what is known after each."""

from __future__ import annotations

import os
import pathlib
from collections.abc import Iterable
from typing import Any

from peers import arrays, catalogue
from peers.catalogue import Candidate
from peers.figures import Sides, of_row
from peers.judge import Judge
from peers.process import Ended, Process
from peers.report import Report
from peers.rounds import Limits, Result, Rounds
from peers.terminal import Progress
from peers.work import Work

LIMITS = Candidate("limits", "limits")
STARTING = 120.0


class Run:
    def __init__(
        self,
        candidates: tuple[Candidate, ...],
        threads: tuple[int, ...],
        folder: pathlib.Path,
        clock: str,
        say: Progress,
    ):
        self._candidates, self._threads, self._folder, self._say = candidates, threads, folder, say
        self._judge = Judge(catalogue.BENCH / "peer_oracle")
        self._processes: dict[tuple[str, int], Process] = {}
        self._absent: dict[str, str] = {}
        self._clock, self._report = clock, Report(folder, clock)

    def measure(self, works: Iterable[Work], rounds: int, seconds: float) -> None:
        """Measures; the table is printed row by row, files are written whole after each row, and at Ctrl-C."""
        for candidate in self._candidates:
            self._say(f"installs {candidate.name}")
            why = catalogue.install(candidate)
            if why:
                self._absent[candidate.name] = why
        self._start_all()
        self._report.begin(self._absent)
        for work in works:
            folder = catalogue.BUILD / "bench-arrays" / work.key()
            self._say(f"{work.name}: arrays and the oracle")
            arrays.write(work, folder)
            self._judge.prepare(work, folder)
            for threads in self._threads:
                self._row(work, folder, threads, rounds, seconds)

    def _row(self, work: Work, folder: pathlib.Path, threads: int, rounds: int, seconds: float) -> None:
        self._start_all()
        processes = {c.name: p for c in self._candidates if (p := self._processes.get((c.name, threads)))}
        limits_process = self._processes[LIMITS.name, threads]
        results: dict[str, Result] = {}
        limits = Limits()
        try:
            Rounds(processes, limits_process, self._judge, self._say).run(
                work, folder, rounds, seconds, results, limits
            )
        except KeyboardInterrupt:
            if any(result.samples[self._clock] for result in results.values()):
                self._add(work, threads, results, limits)
            raise
        self._add(work, threads, results, limits)

    def _add(self, work: Work, threads: int, results: dict[str, Result], limits: Limits) -> None:
        timed = {name: r for name, r in results.items() if r.reason or r.samples[self._clock]}
        native = frozenset(c.name for c in self._candidates if not c.venv)
        figures = of_row(work, threads, timed, limits, Sides(native=native), self._clock)
        self._say.clear()
        self._report.add(figures, timed, limits)

    def _start_all(self) -> None:
        """Starts what is not there, or no longer; libraries are loaded at once, then greeted one by one."""
        begun = []
        for threads in self._threads:
            for candidate in (LIMITS, *self._candidates):
                process = self._processes.get((candidate.name, threads))
                if candidate.name not in self._absent and not (process and process.alive):
                    self._processes[candidate.name, threads] = self._begun(candidate, threads)
                    begun.append((candidate, threads))
        for candidate, threads in begun:
            self._say(f"starts {candidate.name}, threads: {threads}")
            self._greet(candidate, threads)

    def _begun(self, candidate: Candidate, threads: int) -> Process:
        mine = sorted(os.sched_getaffinity(0))
        cores = set(mine[:1]) if threads == 1 else set(mine)
        log = self._folder / "logs" / f"{catalogue.identifier(candidate.name)}-{threads}.log"
        return Process(catalogue.command(candidate), catalogue.environment(candidate, threads), cores, log)

    def _greet(self, candidate: Candidate, threads: int) -> None:
        process = self._processes[candidate.name, threads]
        answer: dict[str, Any]
        try:
            answer = process.ask(STARTING, op="hello", threads=threads)
        except Ended as ended:
            answer = {"cannot": f"{ended}; see {self._folder / 'logs'}"}
        if "cannot" in answer:
            self._absent[candidate.name] = answer["cannot"]
            del self._processes[candidate.name, threads]
            process.close()
            return
        self._report.met(candidate.name, answer)

    def close(self) -> None:
        for process in self._processes.values():
            process.close()
