# Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
"""A peer's side of the pipe: one request a line on standard input, one answer a line on standard output, both JSON.

    {"op": "hello", "threads": 1}                       {"version": ..., "facts": {...}}
    {"op": "prepare", "work": {...}, "folder": "...",   {"way": ..., "seconds": ..., "memory": bytes}
     "without": [ways that were wrong]}
    {"op": "write", "folder": "..."}                    as time, of one call; its outputs are written as NAME.f32
    {"op": "time", "calls": n}                          {"wall": seconds a call, "processor": ...}
    {"op": "release"}                                   {}

or {"cannot": reason}. What a library prints goes to the log, never into the pipe. A C++ peer does the same (worker.h).

    python -m peers.worker torch
"""

from __future__ import annotations

import abc
import ctypes
import gc
import importlib
import io
import json
import os
import pathlib
import signal
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from peers.work import Work

Call = Callable[[], Any]
# A call of so many seconds is not repeated before it is timed.
SLOW = 2.0
# One that lasts so long need not be made once before, for caches and threads to be awake.
LONG = 0.1


class CannotDo(Exception):
    """What the peer has no call for; the message says why."""


class Peer(abc.ABC):
    """One library. A peer that knows several ways to do a work offers all: the fastest is kept."""

    @abc.abstractmethod
    def hello(self, threads: int) -> dict[str, Any]:
        """Sets the number of threads; gives version and facts."""

    @abc.abstractmethod
    def ways(self, work: Work, folder: pathlib.Path) -> dict[str, Call]:
        """Calls by name, each on arrays in the layout and memory that the library likes best."""

    @abc.abstractmethod
    def outputs(self, work: Work, result: Any) -> dict[str, np.ndarray]:
        """What a call returned, as NumPy's arrays in the order of arrays.outputs()."""

    def made_bytes(self, work: Work) -> int:
        """Of the outputs that a call makes anew: they are not counted as extra memory."""
        return work.output_bytes

    def release(self) -> None:  # noqa: B027
        """Lets go of what it keeps for the calls that ways() gave."""


def _status(field: str) -> int:
    text = pathlib.Path("/proc/self/status").read_text()
    return next(int(line.split()[1]) * 1024 for line in text.splitlines() if line.startswith(field + ":"))


def extra_memory(call: Call) -> tuple[int, float]:
    """Bytes by which the process grew at most during a call, its outputs included; and how long it took."""
    ctypes.CDLL(None).malloc_trim(0)
    pathlib.Path("/proc/self/clear_refs").write_text("5")
    before, start = _status("VmRSS"), time.perf_counter()
    call()
    return max(0, _status("VmHWM") - before), time.perf_counter() - start


class Clocks:
    """Both clocks, from now on."""

    def __init__(self) -> None:
        self._processor, self._wall = time.process_time(), time.perf_counter()

    def since(self, calls: int) -> dict[str, float]:
        """Seconds a call."""
        wall, processor = time.perf_counter() - self._wall, time.process_time() - self._processor
        return {"wall": wall / calls, "processor": processor / calls}


def best_of(call: Call, budget: float = 0.1) -> float:
    """The least seconds of a few calls."""
    best, start = float("inf"), time.perf_counter()
    for _ in range(5):
        begin = time.perf_counter()
        call()
        best = min(best, time.perf_counter() - begin)
        if time.perf_counter() - start > budget:
            break
    return best


def first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:200]


class Session:
    """Answers requests for one peer."""

    def __init__(self, peer: Peer):
        self._peer = peer
        self._work: Work | None = None
        self._call: Call | None = None
        self._seconds = 0.0

    def hello(self, request: dict[str, Any]) -> dict[str, Any]:
        return self._peer.hello(request["threads"])

    def prepare(self, request: dict[str, Any]) -> dict[str, Any]:
        self.release(request)
        work = Work(**{key: x for key, x in request["work"].items() if key != "kv_dtype"})
        best: tuple[float, str, Work, Call, int] | None = None
        reasons = []
        for name, of, make in self._ways(work, pathlib.Path(request["folder"]), reasons):
            if name in request["without"]:
                continue
            try:
                memory, first = extra_memory(make)
                seconds = first if first > SLOW else best_of(make)
            except (RuntimeError, ValueError, TypeError, NotImplementedError, MemoryError) as error:
                reasons.append(f"{name}: {first_line(error)}")
                continue
            if best is None or seconds < best[0]:
                best = seconds, name, of, make, memory
        if best is None:
            raise CannotDo("; ".join(reasons) or "no way is left")
        self._seconds, name, self._work, self._call, memory = best
        return {"way": name, "seconds": self._seconds, "memory": max(0, memory - self._peer.made_bytes(work))}

    def _ways(self, work: Work, folder: pathlib.Path, reasons: list[str]) -> Iterator[tuple[str, Work, Call]]:
        """Of the work, and where that is the same, of the work with groups of heads as rows."""
        as_rows = work.as_rows()
        for of, also in ((work, ""), *([(as_rows, ", groups as rows")] if as_rows else [])):
            try:
                yield from ((name + also, of, call) for name, call in self._peer.ways(of, folder).items())
            except CannotDo as cannot:
                reasons.append(str(cannot))

    def release(self, request: dict[str, Any]) -> dict[str, Any]:
        """Lets go of arrays."""
        self._call = self._work = None
        self._peer.release()
        gc.collect()
        ctypes.CDLL(None).malloc_trim(0)
        return {}

    def write(self, request: dict[str, Any]) -> dict[str, Any]:
        assert self._call and self._work
        clocks = Clocks()
        result = self._call()
        answer = clocks.since(1)
        for name, array in self._peer.outputs(self._work, result).items():
            np.ascontiguousarray(array, np.float32).tofile(pathlib.Path(request["folder"]) / f"{name}.f32")
        return answer

    def time(self, request: dict[str, Any]) -> dict[str, Any]:
        call, calls = self._call, request["calls"]
        assert call
        if self._seconds < LONG:
            call()  # caches and threads are awake again
        clocks = Clocks()
        for _ in range(calls):
            call()
        return clocks.since(calls)


def serve(make: Callable[[], Peer]) -> None:
    """Answers until the pipe is closed."""
    pr_set_pdeathsig = 1
    ctypes.CDLL(None).prctl(pr_set_pdeathsig, signal.SIGKILL)  # no stopped process is left behind
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(line_buffering=True)  # what is printed is in the log, however this process ends
    session, unmade = None, ""
    try:
        session = Session(make())  # before it is asked, for libraries take long to load
    except Exception as error:
        unmade = f"{type(error).__name__}: {first_line(error)}"
    for line in sys.stdin:
        request = json.loads(line)
        try:
            if session is None:
                raise CannotDo(unmade)
            answer = getattr(session, request["op"])(request)
        except CannotDo as error:
            answer = {"cannot": str(error)}
        except Exception as error:  # whatever a library raises is its answer
            answer = {"cannot": f"{type(error).__name__}: {first_line(error)}"}
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    # By its own name: what the peers raise and derive from is of that module, and this one is __main__.
    importlib.import_module("peers.worker").serve(lambda: importlib.import_module(f"peers.with_{sys.argv[1]}").make())
