# Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
"""Additive and linear attention, their gradients, merged states and bitmaps of blocks, against plain NumPy."""

import numpy as np
import pytest

import foveate


def additive(q, k, v, w_q, w_k, w, b, mask):
    u = q @ w_q.T + b
    t = k @ w_k.T
    scores = np.tanh(u[..., :, None, :] + t[..., None, :, :]) @ w
    scores = np.where(mask, scores, -np.inf)
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return weights / weights.sum(axis=-1, keepdims=True) @ v


def linear(q, k, v, mask):
    def phi(x):
        return np.where(x > 0, x + 1, np.exp(np.minimum(x, 0)))

    weights = np.where(mask, phi(q) @ phi(k).swapaxes(-1, -2), 0)
    return weights @ v / weights.sum(axis=-1, keepdims=True)


def slope(f, x, direction, step=1e-6):
    """The derivative of f by x along a direction."""
    return (f(x + step * direction) - f(x - step * direction)) / (2 * step)


@pytest.fixture
def arrays(rng):
    q, k, v, d_o = rng.standard_normal((4, 2, 3, 9, 5))
    parameters = [rng.standard_normal(shape) for shape in ((4, 5), (4, 5), (4,), (4,))]
    return q, k, v, d_o, parameters


def test_additive_attention_and_its_gradients(arrays, rng):
    q, k, v, d_o, parameters = arrays
    lower = np.tril(np.ones((9, 9), bool))
    o, lse, weights = foveate.additive_attention(
        q, k, v, *parameters, causal=True, return_lse=True, return_weights=True
    )
    np.testing.assert_allclose(o, additive(q, k, v, *parameters, lower), rtol=1e-12)
    np.testing.assert_allclose(weights @ v, o, rtol=1e-12)
    got = foveate.additive_attention_backward(d_o, q, k, v, *parameters, o, lse, causal=True)
    inputs = [q, k, v, *parameters]
    for at, name in enumerate(("dq", "dk", "dv", "dw_q", "dw_k", "dw", "db")):
        direction = rng.standard_normal(inputs[at].shape)

        def loss(x, at=at):
            return (d_o * additive(*inputs[:at], x, *inputs[at + 1 :], lower)).sum()

        np.testing.assert_allclose(
            (getattr(got, name) * direction).sum(), slope(loss, inputs[at], direction), rtol=1e-5
        )
    assert got.dbias is None and got.dsinks is None


def test_linear_attention_and_its_gradients(arrays, rng):
    q, k, v, d_o, _ = arrays
    for mask, options in (
        (np.ones((9, 9), bool), {}),
        (np.tril(np.ones((9, 9), bool)), {"causal": True}),
        (np.arange(9) % 3 > 0, {"mask": np.arange(9) % 3 > 0}),
    ):
        np.testing.assert_allclose(foveate.linear_attention(q, k, v, **options), linear(q, k, v, mask), rtol=1e-12)
        got = foveate.linear_attention_backward(d_o, q, k, v, **options)
        for at in range(3):
            direction = rng.standard_normal(q.shape)

            def loss(x, at=at, mask=mask):
                return (d_o * linear(*(x if n == at else y for n, y in enumerate((q, k, v))), mask)).sum()

            np.testing.assert_allclose((got[at] * direction).sum(), slope(loss, (q, k, v)[at], direction), rtol=1e-5)


def test_merge_of_pieces_is_the_whole(arrays):
    q, k, v, _, _ = arrays
    o, lse = foveate.attention(q, k, v, causal=True, return_lse=True)
    pieces = [
        foveate.attention(
            q, k[..., part, :], v[..., part, :], causal=True, q_offset=0, kv_offset=part.start, return_lse=True
        )
        for part in (slice(0, 4), slice(4, 9))
    ]
    merged = foveate.merge(*pieces[0], *pieces[1])
    np.testing.assert_allclose(merged.o, o, rtol=1e-12)
    np.testing.assert_allclose(merged.lse, lse, rtol=1e-12)
    turned = [x.swapaxes(1, 2) if x.ndim == 4 else x for piece in pieces for x in piece]
    assert foveate.merge(*turned, layout="bnhd").o.swapaxes(1, 2).tobytes() == merged.o.tobytes()
    with pytest.raises(ValueError, match="^lse_b: shape"):
        foveate.merge(*pieces[0], pieces[1].o, pieces[1].lse[0])


def test_blocks_are_a_mask(rng):
    q, k, v = rng.standard_normal((3, 2, 100, 8))
    blocks = foveate.make_blocks(100, 100, block_size=16, window=(16, 0), global_tokens=1, random_blocks=1, heads=2)
    assert blocks.shape == (1, 2, 7, 7) and (blocks[0, 0] != blocks[0, 1]).any()
    mask = blocks[0].repeat(16, axis=1).repeat(16, axis=2)[:, :100, :100]
    got = foveate.attention(q, k, v, blocks=blocks, block_size=16)
    assert got.tobytes() == foveate.attention(q, k, v, mask=mask).tobytes()


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda q, p: foveate.additive_attention(q, q, q, p[0][:, :3], *p[1:]), ValueError, "w_q: "),
        (lambda q, p: foveate.additive_attention(q, q, q, p[0][0], *p[1:]), ValueError, "w_q: 1 axes"),
        (lambda q, p: foveate.additive_attention(q, q, q, *p[:2], p[2] > 0, p[3]), TypeError, "w: dtype bool"),
        (lambda q, p: foveate.linear_attention(q, q, q, mask=np.ones((9, 9))), TypeError, "mask: dtype float64"),
        (lambda q, p: foveate.linear_attention(q, q, q, softcap=1.0), TypeError, "linear_attention() got an unexp"),
        (lambda q, p: foveate.make_blocks(-1, 2), ValueError, "n_q: -1"),
        (lambda q, p: foveate.dropout_mask((1, 2), 0.5), ValueError, "shape: 2 extents"),
    ],
)
def test_refusals(arrays, call, error, message):
    with pytest.raises(error) as refusal:
        call(arrays[0], arrays[4])
    assert str(refusal.value).startswith(message)
