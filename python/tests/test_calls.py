# Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
"""How calls run: Ctrl-C, threads, processes, memory."""

import os
import resource
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import foveate


@pytest.fixture(scope="module")
def long_call():
    """Some seconds of work on any machine: 70 TFLOP, of which a test takes as much as it lets run."""
    head = np.random.default_rng(0).standard_normal((131072, 64), dtype=np.float32)
    q = np.broadcast_to(head, (16, *head.shape))
    return lambda **options: foveate.attention(q, q, q, **options)


def interrupt_soon(seconds=0.3):
    timer = threading.Timer(seconds, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    return timer


def test_ctrl_c_stops_a_call(long_call):
    started = time.monotonic()
    timer = interrupt_soon()
    with pytest.raises(KeyboardInterrupt):
        long_call()
    timer.join()
    assert 0.2 < time.monotonic() - started < 5


def test_ctrl_c_stops_gradients_inspection_and_diagnosis():
    x = np.random.default_rng(0).standard_normal((4, 32768, 64), dtype=np.float32)
    lse = np.zeros(x.shape[:2], np.float32)
    for call in (
        lambda: foveate.attention_backward(x, x, x, x, x, lse),
        lambda: foveate.inspect(x, x),
        lambda: foveate.diagnose(x, x, x, x),
    ):
        started = time.monotonic()
        timer = interrupt_soon()
        with pytest.raises(KeyboardInterrupt):
            call()
        timer.join()
        assert time.monotonic() - started < 10


def rows(*shape):
    return np.broadcast_to(np.float32(1), shape)


W = np.ones((64, 64), np.float32)
ONE_TASK = {  # calls of one task or few, of many seconds each
    "attention_backward": lambda x: foveate.attention_backward(x, x, x, x, x, np.zeros(x.shape[:2], np.float32)),
    "additive_attention": lambda x: foveate.additive_attention(x[:, :1], *[rows(1, 2**24, 64)] * 2, W, W, W[0]),
    "linear_attention": lambda x: foveate.linear_attention(x[:, :1], rows(1, 2**30, 64), rows(1, 2**30, 64)),
    "inspect": lambda x: foveate.inspect(x[:, :1], rows(1, 2**27, 64)),
    "diagnose": lambda x: foveate.diagnose(x, x, x, x),
}


@pytest.mark.parametrize("name", ONE_TASK)
def test_ctrl_c_is_heard_within_a_task(name, rng):
    x = rng.standard_normal((1, 131072, 64), dtype=np.float32)
    started = time.monotonic()
    timer = interrupt_soon()
    with pytest.raises(KeyboardInterrupt):
        ONE_TASK[name](x)
    timer.join()
    assert time.monotonic() - started < 10


def test_a_handler_may_call_too(rng):
    """What it computes in the midst of another call is right, and so is the other."""
    x = rng.standard_normal((8, 6000, 64), dtype=np.float32)
    right, inner = foveate.attention(x[:1, :64], x[:1], x[:1]), []
    before = signal.signal(signal.SIGALRM, lambda *_: inner.append(foveate.attention(x[:1, :64], x[:1], x[:1])))
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.05)
        o = foveate.attention(x, x, x)
    finally:
        signal.signal(signal.SIGALRM, before)
    assert inner and inner[0].tobytes() == right.tobytes() == o[:1, :64].tobytes()


def test_a_handler_that_does_not_raise_lets_the_call_finish(rng):
    heard = []
    before = signal.signal(signal.SIGINT, lambda *_: heard.append(time.monotonic()))
    try:
        q = rng.standard_normal((8, 8192, 64), dtype=np.float32)
        right = foveate.attention(q[:1, :64], q[:1], q[:1])
        timer = interrupt_soon(0.05)
        o = foveate.attention(q, q, q)
        timer.join()
    finally:
        signal.signal(signal.SIGINT, before)
    assert heard and o[:1, :64].tobytes() == right.tobytes()


def test_another_handler_may_raise_what_it_likes(long_call):
    def alarmed(*_):
        raise TimeoutError("enough")

    before = signal.signal(signal.SIGALRM, alarmed)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        with pytest.raises(TimeoutError, match="enough"):
            long_call()
    finally:
        signal.signal(signal.SIGALRM, before)


def test_other_threads_run_meanwhile(rng):
    q = rng.standard_normal((8, 4096, 64), dtype=np.float32)
    beats, done = [], threading.Event()

    def beat():
        while not done.is_set():
            beats.append(time.monotonic())
            time.sleep(0.002)

    thread = threading.Thread(target=beat)
    thread.start()
    started = time.monotonic()
    foveate.attention(q, q, q)
    ended = time.monotonic()
    done.set()
    thread.join()
    assert sum(started < beat < ended for beat in beats) >= 3


def test_threads_may_call_at_once(rng):
    arrays = [rng.standard_normal((3, 2, 300, 16), dtype=np.float32) for _ in range(8)]
    right = [foveate.attention(*qkv, causal=True) for qkv in arrays]
    got = [None] * 8

    def run(number):
        for _ in range(20):
            got[number] = foveate.attention(*arrays[number], causal=True)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(a.tobytes() == b.tobytes() for a, b in zip(got, right, strict=True))


def test_the_number_of_threads_changes_no_bit(rng):
    q, k, v = rng.standard_normal((3, 4, 700, 32), dtype=np.float32)
    results = {foveate.attention(q, k, v, threads=threads).tobytes() for threads in (None, 1, 2, 7)}
    assert len(results) == 1


def test_a_forked_process_computes_too():
    script = """
import os, sys
import numpy as np, foveate
q = np.random.default_rng(0).standard_normal((4, 600, 32), dtype=np.float32)
right = foveate.attention(q, q, q).tobytes()
child = os.fork()
if child == 0:
    os._exit(0 if foveate.attention(q, q, q).tobytes() == right else 3)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    assert subprocess.run([sys.executable, "-c", script], timeout=60).returncode == 0


def test_calls_leave_no_memory_behind(rng):
    q = rng.standard_normal((4, 512, 64), dtype=np.float32)

    def call():
        o, lse = foveate.attention(q, q, q, return_lse=True)
        foveate.attention_backward(o, q, q, q, o, lse)
        foveate.inspect(q, q, top_keys=4)
        with pytest.raises(ValueError):
            foveate.attention(q, q[..., :5], q)

    for _ in range(10):
        call()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _ in range(150):
        call()
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before  # KiB; one leak a call would be 75 MiB
    assert grown < 32 * 1024


def test_small_calls_on_several_threads_leave_no_memory_behind(rng):
    q = rng.standard_normal((2, 3, 5, 8), dtype=np.float32)

    def calls(count):
        for _ in range(count):
            foveate.attention(q, q, q)

    calls(200)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    calls(5000)
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before  # KiB; an arena a call would be 35 MiB
    assert grown < 8 * 1024


def test_long_calls_leave_no_memory_behind(rng):
    """Each is made on a thread of its own."""
    q = rng.standard_normal((2, 800, 64), dtype=np.float32)  # 184 million multiply-adds

    def calls(count):
        for _ in range(count):
            foveate.attention(q, q, q)

    calls(20)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    calls(500)
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown < 8 * 1024


def test_no_memory_is_a_memory_error():
    q = np.broadcast_to(np.float32(1), (2**20, 2**20, 2**10, 8))
    with pytest.raises(MemoryError):
        foveate.attention(q, q, q)
