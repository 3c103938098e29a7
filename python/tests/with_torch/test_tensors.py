# Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
"""Plain calls on tensors, which are done at once: the bits, kinds and words of the general way."""

import numpy as np
import pytest
import torch

import foveate

general = foveate.attention.__wrapped__


def tensors(*shape, dtype=torch.float32):
    generator = torch.Generator().manual_seed(7)
    return [torch.randn(*shape, generator=generator, dtype=torch.float32).to(dtype) for _ in range(3)]


def same(a, b):
    return type(a) is type(b) is torch.Tensor and a.dtype == b.dtype and torch.equal(a, b)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.float16, torch.bfloat16])
@pytest.mark.parametrize("shape", [(8, 16), (3, 8, 16), (2, 3, 8, 16)])
def test_bits_are_those_of_the_general_way(shape, dtype):
    q, k, v = tensors(*shape, dtype=dtype)
    for options in ({}, {"causal": True}, {"scale": 0.3, "threads": 1}):
        assert same(foveate.attention(q, k, v, **options), general(q, k, v, **options))
    turned = q.transpose(-1, -2).contiguous().transpose(-1, -2)
    assert same(foveate.attention(turned, k, v), general(q, k, v))


def test_numpy_beside_tensors():
    q, k, v = tensors(3, 8, 16)
    assert same(foveate.attention(q, k.numpy(), v), general(q, k, v))
    of_numpy = foveate.attention(q.numpy(), k, v)
    assert isinstance(of_numpy, np.ndarray)
    assert np.array_equal(of_numpy, general(q, k, v).numpy())


def test_out_is_what_was_given():
    q, k, v = tensors(3, 8, 16)
    for out in (torch.empty(3, 8, 16), np.empty((3, 8, 16), np.float32)):
        assert foveate.attention(q, k, v, out=out) is out
        assert np.array_equal(np.asarray(out), general(q, k, v).numpy())


def test_parameters_negations_and_those_with_a_gradient():
    q, k, v = tensors(3, 8, 16)
    expected = general(q, k, v)
    with pytest.raises(TypeError, match="q: requires grad"):
        foveate.attention(q.clone().requires_grad_(), k, v)
    with torch.no_grad():
        assert same(foveate.attention(q.clone().requires_grad_(), k, v), expected)
        assert same(foveate.attention(torch.nn.Parameter(q.clone()), k, v), expected)
    assert same(foveate.attention(torch._neg_view(-q), k, v), expected)
    with pytest.raises(TypeError, match="k: on device meta"):
        foveate.attention(q, k.to("meta"), v)
    with pytest.raises(ValueError, match="k: head dim 15 does not equal q's 16"):
        foveate.attention(q, k[..., :-1], v)
