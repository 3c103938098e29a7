# Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
"""Our side of the pipe: a peer's process, stopped while it is not asked, so that threads that spin disturb nobody."""

from __future__ import annotations

import json
import os
import pathlib
import select
import signal
import subprocess
from typing import Any


class Ended(Exception):
    """The process ended, or answered nothing for too long; the message says which."""


class Process:
    """One peer at one number of threads."""

    def __init__(self, command: list[str], environment: dict[str, str], cores: set[int], log: pathlib.Path):
        """Starts it, on these cores alone."""
        log.parent.mkdir(parents=True, exist_ok=True)
        own, self._awake, self._buffer = os.sched_getaffinity(0), True, b""
        os.sched_setaffinity(0, cores)  # inherited, so that libraries see so many cores from their first line on
        try:
            with log.open("ab") as errors:
                self._process = subprocess.Popen(
                    command,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=errors,
                    env=environment,
                    start_new_session=True,  # Ctrl-C is ours to hear
                )
        finally:
            os.sched_setaffinity(0, own)

    def ask(self, timeout: float, **request: Any) -> dict[str, Any]:
        """The answer to one request."""
        self._wake()
        try:
            assert self._process.stdin
            self._process.stdin.write(json.dumps(request).encode() + b"\n")
            self._process.stdin.flush()
            return json.loads(self._line(timeout))
        except (BrokenPipeError, ValueError):  # closed by itself, or by us after a silence
            raise Ended(self._status()) from None
        finally:
            self._stop()

    def _line(self, timeout: float) -> bytes:
        assert self._process.stdout
        while b"\n" not in self._buffer:
            if not select.select([self._process.stdout], [], [], timeout)[0]:
                self.close()
                raise Ended(f"no answer in {timeout:.0f} s")
            read = os.read(self._process.stdout.fileno(), 1 << 16)
            if not read:
                raise Ended(self._status())
            self._buffer += read
        line, _, self._buffer = self._buffer.partition(b"\n")
        return line

    def _status(self) -> str:
        code = self._process.wait()
        return f"ended by {signal.Signals(-code).name}" if code < 0 else f"ended with status {code}"

    def _signal(self, number: signal.Signals) -> None:
        if self._process.poll() is None:
            os.killpg(self._process.pid, number)

    def _wake(self) -> None:
        if not self._awake:
            self._signal(signal.SIGCONT)
        self._awake = True

    def _stop(self) -> None:
        if self._awake:
            self._signal(signal.SIGSTOP)
        self._awake = False

    @property
    def alive(self) -> bool:
        return self._process.poll() is None

    def close(self) -> None:
        self._signal(signal.SIGKILL)  # stopped ones too
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe:
                pipe.close()
