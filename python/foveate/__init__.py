# Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
"""Scaled dot-product attention: exact, fast, and visible.

>>> import numpy as np, foveate
>>> q = k = v = np.random.default_rng(0).standard_normal((8, 1024, 64), dtype=np.float32)
>>> foveate.attention(q, k, v, causal=True).shape
(8, 1024, 64)
"""

from foveate._attention import (
    Gradients,
    OutputAndLse,
    OutputAndWeights,
    OutputLseAndWeights,
    attention,
    attention_backward,
)
from foveate._inspect import Inspection, inspect
from foveate._sdpa import scaled_dot_product_attention

__all__ = [
    "Gradients",
    "Inspection",
    "OutputAndLse",
    "OutputAndWeights",
    "OutputLseAndWeights",
    "attention",
    "attention_backward",
    "inspect",
    "scaled_dot_product_attention",
]
