# Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
"""What a user's typed code looks like: mypy --strict reads it, and nobody runs it."""

from typing import assert_type

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
    assert gradients.dq is not None
    assert_type(gradients.dq, Floats)
    assert_type(foveate.scaled_dot_product_attention(q, k, v, is_causal=True), Floats)
    merged, lse = foveate.merge(o, with_lse.lse, o, with_lse.lse)
    assert_type(lse, Floats)
    print(foveate.inspect(q, k, v, top_keys=3).heads.entropy_mean.max(), foveate.diagnose(q, k, v, o).verdict)
    cache = foveate.KvCache(8, 64, k_dtype="int8")
    cache.append(cache.add(), k, v)
    return merged
