# Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
"""The command: what is asked for is measured, printed and written to build/bench-results."""

from __future__ import annotations

import argparse
import math
import os
import pathlib
import sys

from peers import catalogue, rows
from peers.run import Run
from peers.terminal import Progress


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="scripts/bench", description="Foveate beside its peers, on the same arrays.")
    parser.add_argument("--set", default="full", choices=("quick", "full", "grid"), help="which rows")
    parser.add_argument(
        "--only", metavar="ROW,...", help="these rows, each named by a part of its name, in place of a set"
    )
    parser.add_argument("--peers", default="all", metavar="PEER,...", help="these beside foveate, named by a part")
    parser.add_argument("--threads", default="1,all", metavar="N,...", help="numbers of threads; all: all cores")
    parser.add_argument("--rounds", type=int, default=10, help="at most so many samples of each (10)")
    parser.add_argument(
        "--seconds", type=float, default=4, help="about so long for each peer and row, 3 rounds at least"
    )
    clock = "wall; processor time is disturbed less by other work, and says nothing of several threads"
    parser.add_argument("--clock", default="wall", choices=("wall", "processor"), help=clock)
    parser.add_argument("--results", type=pathlib.Path, default=catalogue.BUILD / "bench-results", help="the folder")
    parser.add_argument("--list", action="store_true", help="list rows and peers")
    parser.add_argument("--check", action="store_true", help="look at the arguments, and measure nothing")
    return parser.parse_args()


def numbers(text: str, cores: int) -> tuple[int, ...]:
    """Of threads, as --threads says; more than there are cores is refused, for it measures waiting."""
    found = []
    for one in text.split(","):
        if one != "all" and not (one.isascii() and one.isdigit() and int(one) > 0):
            raise ValueError(f"--threads: expected numbers or 'all', got {one!r}")
        n = cores if one == "all" else int(one)
        if n > cores:
            raise ValueError(f"--threads: {n} asked for, and this process may use {cores} core{'s' * (cores > 1)}")
        found.append(n)
    return tuple(dict.fromkeys(found))


def check(given: argparse.Namespace) -> None:
    """Raises ValueError for numbers that nothing can be measured with, and for a folder that cannot be one."""
    if given.rounds < 1:
        raise ValueError(f"--rounds: expected 1 or more, got {given.rounds}")
    if not (0 < given.seconds < math.inf):
        raise ValueError(f"--seconds: expected a positive number, got {given.seconds}")
    existing = next(folder for folder in (given.results, *given.results.absolute().parents) if folder.exists())
    if not existing.is_dir():
        raise ValueError(f"--results: expected a folder, and {existing} is none")


def main() -> int:
    given = arguments()
    if given.list:
        print("\n".join([*rows.ALL, "", *(catalogue.identifier(c.name) for c in catalogue.CANDIDATES)]))
        return 0
    try:
        check(given)
        works = rows.named(given.set) if given.only is None else rows.chosen(given.only)
        threads = numbers(given.threads, len(os.sched_getaffinity(0)))
        candidates = catalogue.chosen(given.peers)
    except ValueError as error:
        print(f"scripts/bench: {error}", file=sys.stderr)
        return 2
    if given.check:
        return 0
    with Progress(sys.stderr) as progress:
        run = Run(candidates, threads, given.results, given.clock, progress)
        try:
            run.measure(works, given.rounds, given.seconds)
        except KeyboardInterrupt:
            progress.clear()
            print("scripts/bench: stopped; what was measured is written", file=sys.stderr)
            return 130
        finally:
            run.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
