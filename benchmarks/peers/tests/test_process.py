# Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
"""A peer's process: asked, stopped, ended, silent; with a peer that is made up."""

from __future__ import annotations

import os
import pathlib
import sys
import time

import pytest
from peers.process import Ended, Process

PACKAGE = pathlib.Path(__file__).resolve().parents[2]
PEER = """
import os, sys, time
from peers.worker import CannotDo, Peer, serve

class Made(Peer):
    def hello(self, threads):
        print("what a library prints")
        return {"version": "1", "facts": {"cores": len(os.sched_getaffinity(0))}}
    def ways(self, work, folder):
        if work.causal:
            raise CannotDo("not causal")
        if work.backward:
            os.abort()
        if work.additive:
            time.sleep(60)
        def broken():
            raise RuntimeError("first\\nsecond")
        return {"slow": lambda: time.sleep(0.02), "quick": lambda: time.sleep(0.001), "broken": broken}
    def outputs(self, work, result):
        return {}

serve(Made)
"""


@pytest.fixture
def process(tmp_path):
    environment = os.environ | {"PYTHONPATH": str(PACKAGE)}
    one_core = {min(os.sched_getaffinity(0))}
    process = Process([sys.executable, "-c", PEER], environment, one_core, tmp_path / "log")
    yield process
    process.close()


def prepare(process: Process, timeout: float = 20, without: tuple[str, ...] = (), **work: object) -> dict[str, object]:
    return process.ask(timeout, op="prepare", work={"name": "w"} | work, folder=".", without=list(without))


def state(process: Process) -> str:
    return pathlib.Path(f"/proc/{process._process.pid}/stat").read_text().rpartition(")")[2].split()[0]


def test_the_fastest_way_is_kept_and_a_wrong_one_left_out(process) -> None:
    assert process.ask(20, op="hello", threads=1) == {"version": "1", "facts": {"cores": 1}}
    assert prepare(process)["way"] == "quick"
    assert prepare(process, without=("quick",))["way"] == "slow"
    assert prepare(process, without=("quick", "slow")) == {"cannot": "broken: first"}


def test_time_is_of_one_call(process) -> None:
    prepare(process)
    answer = process.ask(20, op="time", calls=5)
    assert 0.001 <= answer["wall"] < 0.02
    assert 0 <= answer["processor"] < answer["wall"]


def test_a_reason_is_an_answer(process) -> None:
    assert prepare(process, causal=True) == {"cannot": "not causal"}
    assert prepare(process)["way"] == "quick"


def test_it_is_stopped_while_nobody_asks(process) -> None:
    process.ask(20, op="hello", threads=1)
    deadline = time.monotonic() + 5
    while state(process) != "T" and time.monotonic() < deadline:
        time.sleep(0.01)
    assert state(process) == "T"


def test_what_ends_it_is_told(process) -> None:
    with pytest.raises(Ended, match="ended by SIGABRT"):
        prepare(process, backward=True)
    assert not process.alive


def test_silence_is_not_waited_for(process) -> None:
    with pytest.raises(Ended, match="no answer in 1 s"):
        prepare(process, timeout=1, additive=True)
    assert not process.alive


def test_what_it_prints_is_in_the_log(process, tmp_path) -> None:
    process.ask(20, op="hello", threads=1)
    process.close()
    assert "what a library prints" in (tmp_path / "log").read_text()
