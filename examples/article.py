# Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
"""Scaled dot-product attention on random arrays, with and without the scaling: what dividing by sqrt(d_k) is for. The
experiment of article.cc in Python; needs numpy and foveate alone."""

import numpy as np

import foveate

BATCH, HEADS, LENGTH, D_K = 2, 4, 8, 16

np.random.seed(42)
q, k, v = (np.random.randn(BATCH, HEADS, LENGTH, D_K) for _ in range(3))


def scores_and_weights(**options):
    """Weights are exp(score - lse), so that their logarithms give the scores again."""
    _, lse, weights = foveate.attention(q, k, v, return_lse=True, return_weights=True, **options)
    return np.log(weights) + lse[..., None], weights


raw_scores, raw_weights = scores_and_weights(scale=1)
scores, weights = scores_and_weights()

# Each score is a sum of d_k products of independent factors of variance 1. Left alone, scale is 1 / sqrt(d_k).
print(f"variance of the raw scores:    {raw_scores.var():.2f} (theory: d_k = {D_K})")
print(f"variance of the scaled scores: {scores.var():.2f} (theory: 1)")
# Spread-out scores let one key take nearly everything.
print(f"mean largest weight, unscaled: {raw_weights.max(axis=-1).mean():.3f}")
print(f"mean largest weight, scaled:   {weights.max(axis=-1).mean():.3f}")
print(f"rows sum to one:               {np.allclose(weights.sum(axis=-1), 1)}")
