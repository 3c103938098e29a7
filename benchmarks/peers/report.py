# Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
"""What was measured, as files that appear whole: results.json, table.md and two pictures; and the table, printed."""

from __future__ import annotations

import dataclasses
import datetime
import json
import os
import pathlib
import platform
from typing import Any

from peers import bars, roofline, table
from peers.figures import RowFigures
from peers.rounds import Limits, Result


def processor() -> str:
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.machine()


class Report:
    def __init__(self, folder: pathlib.Path, clock: str):
        self._folder, self._clock = folder, clock
        self._met: dict[str, Any] = {}
        self._absent: dict[str, str] = {}
        self._rows: list[RowFigures] = []
        self._json: list[dict[str, Any]] = []
        self._peaks: dict[int, dict[str, float]] = {}

    def met(self, name: str, hello: dict[str, Any]) -> None:
        """A peer's version and facts."""
        self._met[name] = hello

    def begin(self, absent: dict[str, str]) -> None:
        """absent: who is not to be had, and why; more may come."""
        self._absent = absent
        print(table.head(), flush=True)

    def add(self, figures: RowFigures, results: dict[str, Result], limits: Limits) -> None:
        """One row: printed, and all files written anew."""
        self._rows.append(figures)
        best = self._peaks.setdefault(figures.threads, {})
        for what, rate in limits.best(self._clock).items():
            best[what] = max(rate, best.get(what, 0.0))
        self._json.append(
            {
                "row": figures.work.json(),
                "threads": figures.threads,
                "unit": figures.work.unit,
                "limits": limits.samples,
                "ratio": figures.ratio,
                "median_ratio": figures.median_ratio,
                "rival": figures.rival,
                "peers": {name: dataclasses.asdict(x) for name, x in figures.peers.items()},
                "measured": {name: dataclasses.asdict(x) for name, x in results.items()},
            }
        )
        for line in table.lines(figures):
            print(line, flush=True)
        self._write()

    def _write(self) -> None:
        cores, system = len(os.sched_getaffinity(0)), platform.platform()
        machine = {"processor": processor(), "cores": cores, "system": system, "clock": self._clock}
        whole = {
            "date": datetime.date.today().isoformat(),
            "machine": machine,
            "peers": self._met,
            "absent": self._absent,
            "peaks": self._peaks,
            "rows": self._json,
        }
        self._put("results.json", json.dumps(whole, indent=1))
        self._put("table.md", table.page(self._rows, self._met, self._absent, self._peaks, machine))
        self._put("bars.svg", bars.picture(self._rows))
        self._put("roofline.svg", roofline.picture(self._rows, self._peaks))

    def _put(self, name: str, text: str) -> None:
        self._folder.mkdir(parents=True, exist_ok=True)
        unfinished = self._folder / f".{name}.part"
        unfinished.write_text(text)
        unfinished.rename(self._folder / name)
