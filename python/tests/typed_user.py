# Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
"""What a user's typed code looks like: mypy --strict reads it, and nobody runs it."""

from typing import Any, assert_type

import numpy as np
import numpy.typing as npt

import foveate

Floats = npt.NDArray[np.float32]


def attend(q: Floats, k: Floats, v: Floats) -> Floats:
    o = foveate.attention(q, k, v, causal=True, window=(128, 0))
    assert_type(o, Floats)
    with_lse = foveate.attention(q, k, v, return_lse=True)
    assert_type(with_lse, foveate.OutputAndLse[Floats])
    gradients = foveate.attention_backward(o, q, k, v, with_lse.o, with_lse.lse, softcap=30)
    assert_type(gradients.dq, Floats)
    assert_type(gradients.dbias, None)
    biased = foveate.attention_backward(o, q, k, v, with_lse.o, with_lse.lse, bias=q, dbias=True)
    assert_type(biased.dbias, Floats)
    assert_type(foveate.attention_backward(o, q, k, v, o, with_lse.lse, dq=False).dk, Floats | None)
    assert_type(foveate.linear_attention_backward(o, q, k, v).dv, Floats)
    assert_type(foveate.additive_attention_backward(o, q, k, v, q, k, v, None, o, with_lse.lse).dw_q, Floats)
    assert_type(foveate.scaled_dot_product_attention(q, k, v, is_causal=True), Floats)
    merged, lse = foveate.merge(o, with_lse.lse, o, with_lse.lse)
    assert_type(lse, Floats)
    print(foveate.inspect(q, k, v, top_keys=3).heads.entropy_mean.max(), foveate.diagnose(q, k, v, o).verdict)
    cache = foveate.KvCache(8, 64, k_dtype="int8")
    cache.append(cache.add(), k, v)
    assert_type(cache.attend(q, [0], causal=True), Floats)
    assert_type(cache.attend(q, [0], return_lse=True).lse, Floats)
    assert_type(foveate.additive_attention(q, k, v, q, k, v, return_weights=True).weights, Floats)
    foveate.inspect(q, k).plot().savefig("maps.png")
    return merged


def attend_lists() -> npt.NDArray[Any]:
    q = [[1.0, 0.0], [0.0, 1.0]]
    assert_type(foveate.attention(q, q, q, return_lse=True), foveate.OutputAndLse[npt.NDArray[Any]])
    return foveate.attention(q, q, q)


def attend_as_told(q: Floats, lse: bool) -> Floats:
    result = foveate.attention(q, q, q, return_lse=lse)
    return result if isinstance(result, np.ndarray) else result.o
