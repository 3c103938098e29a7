# Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
"""scaled_dot_product_attention as PyTorch has it, and beside PyTorch where that is installed."""

import inspect

import numpy as np
import pytest

import foveate
import oracle


def reference(q, k, v, mask=None, causal=False, scale=None):
    """The reference of PyTorch's documentation, in float64."""
    scores = q @ k.swapaxes(-1, -2) * (q.shape[-1] ** -0.5 if scale is None else scale)
    if causal:
        scores = np.where(np.tril(np.ones(scores.shape[-2:], bool)), scores, -np.inf)
    if mask is not None:
        scores = np.where(mask, scores, -np.inf) if mask.dtype == bool else scores + mask
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return weights / weights.sum(axis=-1, keepdims=True) @ v


@pytest.fixture
def qkv(rng):
    return rng.standard_normal((2, 3, 5, 8)), rng.standard_normal((2, 3, 7, 8)), rng.standard_normal((2, 3, 7, 6))


def test_its_signature_is_pytorchs():
    expected = "(query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, *, scale=None, enable_gqa=False)"
    signature = inspect.signature(foveate.scaled_dot_product_attention)
    bare = [p.replace(annotation=inspect.Parameter.empty) for p in signature.parameters.values()]
    assert str(inspect.Signature(bare)) == expected


def test_plain_causal_scaled(qkv):
    for options in ({}, {"is_causal": True}, {"scale": 0.3}, {"is_causal": True, "scale": -1.0}):
        expected = reference(*qkv, causal=options.get("is_causal", False), scale=options.get("scale"))
        np.testing.assert_allclose(foveate.scaled_dot_product_attention(*qkv, **options), expected, rtol=1e-12)


def test_masks(qkv, rng):
    for shape in ((5, 7), (1, 7), (3, 5, 7), (2, 1, 1, 7), (2, 1, 5, 7)):
        mask = rng.random(shape) < 0.7
        mask[..., 0] = True
        bias = rng.standard_normal(shape)
        for given in (mask, bias):
            got = foveate.scaled_dot_product_attention(*qkv, given)
            np.testing.assert_allclose(got, reference(*qkv, mask=given), rtol=1e-12)


def test_leading_axes_broadcast_and_heads_are_grouped(qkv, rng):
    q, k, v = qkv
    for key, value in ((k[:1], v[:1]), (k[:, :1], v[:, :1]), (k[0], v[0]), (k[0, 0], v[0, 0])):
        np.testing.assert_allclose(foveate.scaled_dot_product_attention(q, key, value), reference(q, key, value))
    q = rng.standard_normal((2, 6, 5, 8))
    got = foveate.scaled_dot_product_attention(q, k, v, enable_gqa=True)
    np.testing.assert_allclose(got, reference(q, np.repeat(k, 2, axis=1), np.repeat(v, 2, axis=1)))
    one = foveate.scaled_dot_product_attention(q[0, 0], k[0, 0], v[0, 0])
    np.testing.assert_allclose(one, reference(q[0, 0], k[0, 0], v[0, 0]))


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda f, q, k, v: f(q, k, v, np.ones((5, 7), bool), is_causal=True), ValueError, "attn_mask: given beside"),
        (lambda f, q, k, v: f(q, k, v, np.ones((5, 7), np.float32)), TypeError, "attn_mask: dtype float32"),
        (lambda f, q, k, v: f(q, k, v, np.ones((5, 7), int)), TypeError, "attn_mask: dtype int64"),
        (lambda f, q, k, v: f(q, k, v, np.ones((5, 6), bool)), ValueError, "attn_mask: "),
        (lambda f, q, k, v: f(q.astype("f4"), k, v), TypeError, "key: dtype float64, query has float32"),
        (lambda f, q, k, v: f(np.concatenate([q, q], 1), k, v), ValueError, "query, key, value: shapes"),
        (lambda f, q, k, v: f(q[..., :4], k, v), ValueError, "key: head dim 8 does not equal query's 4"),
        (lambda f, q, k, v: f(q, k[:, :, :6], v), ValueError, "value: "),
        (lambda f, q, k, v: f(q, k, v, dropout_p=1.5), ValueError, "dropout_p: 1.5"),
        (lambda f, q, k, v: f(q[0, 0, 0], k, v), ValueError, "query: 1 axes"),
    ],
)
def test_refusals(qkv, call, error, message):
    with pytest.raises(error) as refusal:
        call(foveate.scaled_dot_product_attention, *qkv)
    assert str(refusal.value).startswith(message)
    assert "\n" not in str(refusal.value)


def test_dropout_draws_from_numpys_generator(qkv):
    def drawn(seed):
        np.random.seed(seed)
        return foveate.scaled_dot_product_attention(*qkv, dropout_p=0.5)

    assert (drawn(3) == drawn(3)).all() and not (drawn(3) == drawn(4)).all()
    np.random.seed(3)
    seed = int(np.random.randint(0, 2**63 - 1))
    right = oracle.attention(*qkv, align="top-left", dropout=0.5, seed=seed)
    np.testing.assert_allclose(drawn(3), right.o, rtol=1e-12)


def test_beside_pytorch(qkv):
    torch = pytest.importorskip("torch")
    tensors = [torch.from_numpy(x) for x in qkv]
    mask = torch.rand(2, 1, 5, 7) < 0.7
    mask[..., 0] = True
    for options in ({}, {"is_causal": True}, {"attn_mask": mask}, {"attn_mask": mask.double()}, {"scale": 0.5}):
        got = foveate.scaled_dot_product_attention(*tensors, **options)
        torch.testing.assert_close(got, torch.nn.functional.scaled_dot_product_attention(*tensors, **options))
