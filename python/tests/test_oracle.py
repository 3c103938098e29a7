# Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
"""Random calls of every option against the oracle, within the bound of their rounding."""

import ml_dtypes
import numpy as np
from hypothesis import given, note
from hypothesis import strategies as st

import foveate
import oracle

BFLOAT16 = ml_dtypes.bfloat16
HALF_STEP = {"float64": 2.0**-53, "float32": 2.0**-24, "float16": 2.0**-24, "bfloat16": 2.0**-24}
OUT_STEP = {"float64": 2.0**-53, "float32": 2.0**-24, "float16": 2.0**-11, "bfloat16": 2.0**-8}
SIZES = st.integers(0, 5) | st.sampled_from([17, 63, 64, 65, 97, 131])


@st.composite
def scattered(draw, shape, rng, dtype):
    """An array of that shape at other strides: sliced, turned round, transposed."""
    axes = draw(st.permutations(range(len(shape))))
    steps = [draw(st.sampled_from([1, 1, 2, -1, -3])) for _ in shape]
    base = rng.standard_normal([abs(steps[a]) * shape[a] for a in axes]).astype(dtype)
    view = base.transpose(np.argsort(axes))
    return view[tuple(slice(None, None, step) for step in steps)]


@st.composite
def calls(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    dtype = draw(st.sampled_from([np.float64, np.float32, np.float16, BFLOAT16]))
    b, h_kv, group = draw(st.integers(0, 2)), draw(st.integers(1, 2)), draw(st.integers(1, 3))
    n_q, n_kv = draw(SIZES), draw(SIZES)
    d_k, d_v = draw(st.integers(1, 20)), draw(st.integers(0, 20))
    h = h_kv * group
    small = np.float64 if dtype == np.float64 else np.float32
    q = draw(scattered((b, h, n_q, d_k), rng, dtype))
    k = draw(scattered((b, h_kv, n_kv, d_k), rng, dtype))
    v = draw(scattered((b, h_kv, n_kv, d_v), rng, dtype))
    options = {"native_products": False}

    def maybe(name, strategy):
        if draw(st.integers(0, 3)) == 0:
            options[name] = draw(strategy)

    def pairs(make):
        shape = [draw(st.sampled_from([extent, 1])) for extent in (b, h, n_q, n_kv)]
        return st.just(make(shape))

    side = st.integers(-1, 40)
    maybe("scale", st.sampled_from([0.0, -0.5, 1.0, 2.0]))
    maybe("causal", st.just(True))
    maybe("align", st.just("top-left"))
    maybe("window", st.tuples(side, side))
    maybe("softcap", st.sampled_from([0.5, 5.0]))
    maybe("alibi", st.just(rng.uniform(0, 0.5, h).astype(small)))
    maybe("sinks", st.just(rng.standard_normal(h).astype(small)))
    maybe("mask", pairs(lambda shape: rng.random(shape) < 0.6))
    maybe(
        "bias",
        pairs(lambda shape: np.where(rng.random(shape) < 0.1, -np.inf, rng.standard_normal(shape)).astype(small)),
    )
    maybe("q_lengths", st.just(rng.integers(0, n_q + 1, b)))
    maybe("kv_lengths", st.just(rng.integers(0, n_kv + 1, b)))
    maybe("q_offset", st.integers(-5, 200))
    maybe("kv_offset", st.integers(0, 100))
    maybe("dropout", st.sampled_from([0.1, 0.7]))
    if draw(st.integers(0, 5)) == 0:
        options["block_size"] = size = draw(st.sampled_from([1, 16, 64]))
        options["blocks"] = rng.random((b, 1, -(-n_q // size), -(-n_kv // size))) < 0.6
    options["seed"] = draw(st.integers(0, 2**64 - 1))
    return q, k, v, options


def within(got, expected, bound, name):
    got = np.asarray(got).astype(np.float64)
    assert got.shape == expected.shape, name
    same = (got == expected) | (np.isnan(got) & np.isnan(expected))
    with np.errstate(invalid="ignore"):
        wrong = ~same & ~(abs(got - expected) <= bound)
    assert not wrong.any(), (name, got[wrong][:5], expected[wrong][:5], np.broadcast_to(bound, got.shape)[wrong][:5])


@given(calls())
def test_attention_is_within_its_bound(call):
    q, k, v, options = call
    note({name: getattr(x, "shape", x) for name, x in options.items()})
    step = OUT_STEP[q.dtype.name]
    o, lse, weights = foveate.attention(q, k, v, return_lse=True, return_weights=True, **options)
    rest = {name: x for name, x in options.items() if name != "native_products"}
    right = oracle.attention(q, k, v, u=HALF_STEP[q.dtype.name], **rest)
    assert o.dtype == q.dtype and weights.dtype == q.dtype
    assert lse.dtype == (np.float64 if q.dtype == np.float64 else np.float32)
    tiny = {"float16": 2.0**-24}.get(q.dtype.name, 1e-37)
    within(o, right.o, right.o_error + step * abs(right.o) + tiny, "o")
    within(lse, right.lse, right.lse_error, "lse")
    error = right.weights * (2 * right.lse_error[..., None] + step) + tiny
    within(weights, right.weights, 2 * error, "weights")


@given(calls())
def test_gradients_are_near(call):
    """The bound of gradients is tested in tests/; here it is that the right arrays reach the right places."""
    q, k, v, options = call
    if q.dtype not in (np.float64, np.float32):
        q, k, v = (x.astype(np.float32) for x in (q, k, v))
    options["scale"] = options.get("scale") and min(options["scale"], 1.0)
    d_o = np.random.default_rng(1).standard_normal((*q.shape[:3], v.shape[3])).astype(q.dtype)
    o, lse = foveate.attention(q, k, v, return_lse=True, **options)
    wanted = {"dbias": "bias" in options, "dsinks": "sinks" in options}
    got = foveate.attention_backward(d_o, q, k, v, o, lse, **wanted, **options)
    rest = {name: x for name, x in options.items() if name != "native_products"}
    right = oracle.attention(q, k, v, d_o=d_o, **rest).grads
    tolerance = 1e-10 if q.dtype == np.float64 else 2e-4
    for name, expected in right.items():
        size = 1 + abs(expected).max(initial=0)
        within(getattr(got, name), expected, tolerance * size, name)
    assert (got.dbias is None) == ("bias" not in options)
    assert (got.dsinks is None) == ("sinks" not in options)


@given(st.integers(0, 2**64 - 1), st.sampled_from([0.0, 0.25, 0.9]), st.integers(0, 50))
def test_dropout_mask_is_philox(seed, p, kv_offset):
    shape = (2, 3, 5, 9)
    got = foveate.dropout_mask(shape, p, seed, kv_offset=kv_offset, q_offset=3)
    assert (got == oracle.keeps(shape, p, seed, np.tile(3 + np.arange(5), (2, 1)), kv_offset)).all()
