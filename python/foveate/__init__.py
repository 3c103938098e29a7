# Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
"""Scaled dot-product attention: exact, fast, and visible.

>>> import numpy as np, foveate
>>> q = k = v = np.random.default_rng(0).standard_normal((8, 1024, 64), dtype=np.float32)
>>> foveate.attention(q, k, v, causal=True).shape
(8, 1024, 64)
"""

from foveate._additive import AdditiveGradients, additive_attention, additive_attention_backward
from foveate._attention import (
    Gradients,
    OutputAndLse,
    OutputAndWeights,
    OutputLseAndWeights,
    attention,
    attention_backward,
)
from foveate._diagnose import Diagnosis, Explanation, Mistake, diagnose
from foveate._info import Info, info, pin_target
from foveate._inspect import Finding, HeadFigures, Inspection, Maps, NotFinite, RowFigures, Similar, Top, inspect
from foveate._kv_cache import KvCache, Usage
from foveate._linear import LinearGradients, linear_attention, linear_attention_backward
from foveate._sdpa import scaled_dot_product_attention
from foveate._state import dropout_mask, make_blocks, merge

__all__ = [
    "AdditiveGradients",
    "Diagnosis",
    "Explanation",
    "Finding",
    "Gradients",
    "HeadFigures",
    "Info",
    "Inspection",
    "KvCache",
    "LinearGradients",
    "Maps",
    "Mistake",
    "NotFinite",
    "OutputAndLse",
    "OutputAndWeights",
    "OutputLseAndWeights",
    "RowFigures",
    "Similar",
    "Top",
    "Usage",
    "additive_attention",
    "additive_attention_backward",
    "attention",
    "attention_backward",
    "diagnose",
    "dropout_mask",
    "info",
    "inspect",
    "linear_attention",
    "linear_attention_backward",
    "make_blocks",
    "merge",
    "pin_target",
    "scaled_dot_product_attention",
]

__version__ = info()["version"]
