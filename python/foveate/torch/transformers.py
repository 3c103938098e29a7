# Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
"""Hugging Face Transformers with attn_implementation="foveate"; importing this registers it.

    import foveate.torch.transformers
    model = AutoModel.from_pretrained(folder, attn_implementation="foveate")

Beside what "sdpa" does, it takes softcap, sinks and position biases, and returns weights where output_attentions asks
for them. Masks are made as for "sdpa": boolean, or none where causal says it all. Paged caches, which serve several
requests at once (continuous batching), are refused.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from transformers import AttentionInterface
from transformers.masking_utils import AttentionMaskInterface, sdpa_mask

from foveate.torch._attention import attention


def foveate_attention_forward(
    module: torch.nn.Module,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor | None,
    dropout: float = 0.0,
    scaling: float | None = None,
    is_causal: bool | None = None,
    softcap: float | None = None,
    s_aux: Tensor | None = None,
    position_bias: Tensor | None = None,
    **kwargs: Any,
) -> tuple[Tensor, Tensor | None]:
    """One attention call of a model, by the signature that Transformers wants.

    query [b, h_q, n_q, d], key and value [b, h_kv, n_kv, d]; attention_mask bool, True = takes part, or added to the
    scores. Returns o [b, n_q, h_q, d], and the weights [b, h_q, n_q, n_kv] or None.
    """
    if kwargs.get("cache") is not None:
        raise ValueError("attn_implementation: 'foveate' has no paged cache; for continuous batching use 'sdpa'")
    mask, bias = _mask_and_bias(attention_mask, position_bias, key.shape[2])
    if is_causal is None:
        is_causal = getattr(module, "is_causal", True)
    b = max(query.shape[0], key.shape[0])
    q, k, v = (tensor.expand(b, -1, -1, -1).transpose(1, 2) for tensor in (query, key, value))
    want_weights = bool(kwargs.get("output_attentions"))
    result = attention(
        q,
        k,
        v,
        layout="bnhd",
        # A mask that is there is the whole mask; a single query is the last of its sequence. Where neither is so,
        # the cache was empty, and query i is token i.
        causal=is_causal and attention_mask is None and query.shape[2] > 1,
        align="top-left",
        mask=mask,
        bias=bias,
        scale=scaling,
        softcap=softcap or 0.0,
        sinks=s_aux,
        dropout=dropout,
        return_weights=want_weights,
    )
    return (result.o, result.weights) if want_weights else (result, None)


def _mask_and_bias(
    attention_mask: Tensor | None, position_bias: Tensor | None, n_kv: int
) -> tuple[Tensor | None, Tensor | None]:
    if attention_mask is None:
        return None, position_bias
    attention_mask = attention_mask[..., :n_kv]
    if attention_mask.dtype == torch.bool:
        return attention_mask, position_bias
    return None, attention_mask if position_bias is None else attention_mask + position_bias


AttentionInterface.register("foveate", foveate_attention_forward)
AttentionMaskInterface.register("foveate", sdpa_mask)
