# Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
"""The cache of keys and values: what attention over plain arrays gives, to the bit."""

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
