# Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
"""The cache of keys and values: what attention over plain arrays gives, to the bit."""

import signal
import subprocess
import sys
import threading

import ml_dtypes
import numpy as np
import pytest

import foveate


@pytest.fixture
def kv(rng):
    return rng.standard_normal((2, 150, 8), dtype=np.float32), rng.standard_normal((2, 150, 6), dtype=np.float32)


@pytest.mark.parametrize("page_size", [64, 5, 0])
def test_the_bits_are_those_of_plain_arrays(rng, kv, page_size):
    k, v = kv
    cache = foveate.KvCache(2, 8, 6, page_size=page_size)
    sequence = cache.add()
    for first, last in ((0, 70), (70, 71), (71, 150)):
        cache.append(sequence, k[:, first:last], v[:, first:last])
    q = rng.standard_normal((4, 3, 8), dtype=np.float32)
    o, lse, weights = cache.attend(q, [sequence], causal=True, return_lse=True, return_weights=True)
    right = foveate.attention(q, k, v, causal=True, return_lse=True, return_weights=True)
    assert o.tobytes() == right.o.tobytes() and lse.tobytes() == right.lse.tobytes()
    assert weights[..., :150].tobytes() == right.weights.tobytes() and not weights[..., 150:].any()


def test_forks_share_pages_until_they_write(kv):
    k, v = kv
    cache = foveate.KvCache(2, 8, 6, page_size=64, max_pages=8)
    first = cache.add()
    cache.append(first, k, v)
    assert cache.usage()["pages_in_use"] == 3
    second = cache.fork(first)
    assert cache.usage()["pages_in_use"] == 3
    cache.append(second, k[:, :1], v[:, :1])
    assert cache.usage()["pages_in_use"] == 4
    assert (cache.length(first), cache.length(second)) == (150, 151)
    cache.truncate(second, 10)
    assert cache.length(second) == 10
    cache.remove(first)
    for call in (cache.length, cache.fork):
        with pytest.raises(ValueError, match="^sequence: 0 is not in the cache"):
            call(first)
    assert cache.usage()["sequences"] == 1


def test_batches_packed_and_padded(rng, kv):
    k, v = kv
    cache = foveate.KvCache(2, 8, 6)
    sequences = [cache.add(), cache.add()]
    cache.append(sequences[0], k[:, :100], v[:, :100])
    cache.append(sequences[1], k[:, 100:], v[:, 100:])
    q = rng.standard_normal((5, 4, 8), dtype=np.float32)  # [total, h, d]
    packed = cache.attend(q, sequences, layout="bnhd", q_starts=[0, 2, 5], causal=True)
    for sequence, (a, b), (c, d) in zip(sequences, ((0, 2), (2, 5)), ((0, 100), (100, 150)), strict=True):
        one = cache.attend(q[a:b], [sequence], layout="bnhd", causal=True)
        assert one.tobytes() == packed[a:b].tobytes()
        plain = foveate.attention(q[a:b].swapaxes(0, 1), k[:, c:d], v[:, c:d], causal=True)
        assert one.swapaxes(0, 1).tobytes() == plain.tobytes()


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "int8"])
def test_narrow_storage(rng, kv, dtype):
    k, v = kv
    cache = foveate.KvCache(2, 8, 6, k_dtype=dtype)
    sequence = cache.add()
    cache.append(sequence, k, v)
    q = rng.standard_normal((2, 3, 8), dtype=np.float32)
    got = cache.attend(q, [sequence], native_products=False)
    if dtype != "int8":
        narrow = np.dtype(ml_dtypes.bfloat16 if dtype == "bfloat16" else dtype)
        assert (
            got.tobytes() == foveate.attention(q, k.astype(narrow), v.astype(narrow), native_products=False).tobytes()
        )
    np.testing.assert_allclose(got, foveate.attention(q, k, v), atol=0.05)


def test_dtypes_by_any_name():
    for dtype in (np.float16, np.dtype("float16"), ml_dtypes.bfloat16, "int8"):
        assert foveate.KvCache(1, 4, k_dtype=dtype).usage()["sequences"] == 0
    with pytest.raises(ValueError, match="^k_dtype: 'float8', expected float64, float32, float16, int8 or bfloat16$"):
        foveate.KvCache(1, 4, k_dtype="float8")


def test_repr_tells_the_sizes():
    cache = foveate.KvCache(2, 8, 6, k_dtype="int8", v_dtype="float16")
    cache.add()
    assert repr(cache) == (
        "<foveate.KvCache of h_kv=2, d_k=8, d_v=6, k_dtype='int8', v_dtype='float16': 1 sequence, 0 bytes>"
    )


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda c, k, v: foveate.KvCache(0, 8), "h_kv: "),
        (lambda c, k, v: foveate.KvCache(1, 8, k_dtype="int32"), "k_dtype: "),
        (lambda c, k, v: c.append(7, k, v), "sequence: "),
        (lambda c, k, v: c.append(0, k[..., :3], v), "k: "),
        (lambda c, k, v: c.append(0, k, v[:, :9]), "v: |k: "),
        (lambda c, k, v: c.truncate(0, 1), "length: "),
        (lambda c, k, v: c.attend(k, [7]), "sequences: "),
        (lambda c, k, v: c.attend(k, [0], kv_lengths=[1]), "kv_lengths: given, but it comes from the cache"),
        (lambda c, k, v: [c.append(0, k, v) for _ in range(9)], "pages: "),
    ],
)
def test_refusals(kv, call, message):
    cache = foveate.KvCache(2, 8, 6, max_pages=6)
    cache.add()
    with pytest.raises((ValueError, MemoryError), match=f"^({message})"):
        call(cache, *kv)


def test_threads_may_share_a_cache(rng, kv):
    k, v = kv
    cache = foveate.KvCache(2, 8, 6)
    shared = cache.add()
    cache.append(shared, k, v)
    q = rng.standard_normal((2, 1, 8), dtype=np.float32)
    right, failures = cache.attend(q, [shared]).tobytes(), []

    def work(number):
        for _ in range(100):
            own = cache.fork(shared)
            cache.append(own, k[:, :number], v[:, :number])
            if cache.attend(q, [shared]).tobytes() != right or cache.length(own) != 150 + number:
                failures.append(number)
            cache.remove(own)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(1, 7)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures and cache.usage()["sequences"] == 1


def test_a_sequence_that_is_gone_is_one_error(rng, kv):
    cache = foveate.KvCache(2, 8, 6)
    for number in (cache.add(), cache.add()):
        cache.append(number, *kv)
    cache.remove(1)
    q, messages = rng.standard_normal((2, 4, 3, 8), dtype=np.float32), set()
    for weights in (False, True):
        with pytest.raises(ValueError, match="sequences") as error:
            cache.attend(q, [0, 1], return_weights=weights)
        messages.add(str(error.value))
    assert len(messages) == 1


def test_weights_have_the_size_that_the_cache_has_then(rng):
    """While another thread makes it longer."""
    cache = foveate.KvCache(1, 4, page_size=1)
    sequence, done = cache.add(), threading.Event()
    row = rng.standard_normal((1, 1, 4), dtype=np.float32)

    def grow():
        while not done.is_set():
            cache.append(sequence, row, row)
            if cache.length(sequence) > 300:
                cache.truncate(sequence, 1)

    cache.append(sequence, row, row)
    thread = threading.Thread(target=grow)
    thread.start()
    try:
        for _ in range(300):
            o, weights = cache.attend(row, [sequence], return_weights=True)
            # Keys are alike, so weights are even.
            np.testing.assert_allclose(weights, 1 / weights.shape[-1], rtol=1e-5)
            np.testing.assert_allclose(o, row, rtol=1e-4)
    finally:
        done.set()
        thread.join()


def in_a_process(script):
    """So that what would wait for good is ended."""
    done = subprocess.run([sys.executable, "-c", script], timeout=100, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]


# A long attend of one sequence, and what a handler does meanwhile.
INTERRUPTED = """
import signal, numpy as np, foveate
rows = np.random.default_rng(0).standard_normal((8, 4096, 64), dtype=np.float32)
cache, other = foveate.KvCache(8, 64), foveate.KvCache(8, 64)
sequence, spare = cache.add(), cache.add()
cache.append(sequence, rows, rows)
right = cache.attend(rows[:, :5], [sequence])
heard = []

def handler(*_):
    for change in (lambda: cache.append(spare, rows, rows), cache.add, lambda: cache.fork(sequence),
                   lambda: cache.truncate(sequence, 1), lambda: cache.remove(sequence)):
        try:
            change()
        except RuntimeError as error:
            heard.append(str(error))
    assert cache.length(sequence) == 4096 and cache.usage()["sequences"] == 2
    assert cache.attend(rows[:, :5], [sequence]).tobytes() == right.tobytes()
    other.append(other.add(), rows, rows)
    heard.append("all")

signal.signal(signal.SIGALRM, handler)
many = np.concatenate([rows] * 2, 1)
signal.setitimer(signal.ITIMER_REAL, 0.1)
o = cache.attend(many, [sequence])
assert o[:, :5].tobytes() == right.tobytes()
assert heard[5:] == ["all"] and all(text.startswith("cache: changed by a signal") for text in heard[:5]), heard
cache.append(sequence, rows, rows)
"""


def test_a_handler_may_read_the_cache_that_its_thread_reads():
    in_a_process(INTERRUPTED)


# The child of a fork in the midst of another thread's changes.
FORKED = """
import os, signal, threading, numpy as np, foveate
rows = np.full((4, 20000, 64), 3, np.float32)
cache, done = foveate.KvCache(4, 64), threading.Event()
sequence = cache.add()

def change():
    while not done.is_set():
        cache.append(sequence, rows, rows)
        cache.truncate(sequence, 0)

def child():
    signal.alarm(20)
    before = cache.length(sequence)
    assert before in (0, 20000)
    cache.append(sequence, rows[:, :7], rows[:, :7])
    assert cache.length(sequence) == before + 7
    o = cache.attend(rows[:, :1], [sequence])
    assert abs(o - 3).max() < 1e-4

thread = threading.Thread(target=change)
thread.start()
try:
    for _ in range(15):
        pid = os.fork()
        if pid == 0:
            try:
                child()
                os._exit(0)
            finally:
                os._exit(1)
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
finally:
    done.set()
    thread.join()
"""


@pytest.mark.skipif(not hasattr(signal, "alarm"), reason="no fork")
def test_a_fork_waits_for_changes():
    in_a_process(FORKED)
