# Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
"""Attention for PyTorch: an operator with gradients, PyTorch's own calls taken over, and a look into a model's heads.

>>> import torch, foveate.torch
>>> q = torch.randn(2, 8, 128, 64, requires_grad=True)
>>> foveate.torch.attention(q, q, q, causal=True).sum().backward()
"""

from foveate.torch._attention import attention, scaled_dot_product_attention
from foveate.torch._replace import Replaced, replace_sdpa
from foveate.torch._watch import watch
from foveate.torch._watched import Fault, Layer, Watched

__all__ = [
    "Fault",
    "Layer",
    "Replaced",
    "Watched",
    "attention",
    "replace_sdpa",
    "scaled_dot_product_attention",
    "watch",
]
