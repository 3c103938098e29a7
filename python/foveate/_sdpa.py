# Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
"""PyTorch's torch.nn.functional.scaled_dot_product_attention, by its names, order and meaning."""

from __future__ import annotations

import re
import sys
from typing import Any

import numpy as np

from foveate import _engine
from foveate._arrays import BOOLS, ArrayT, Lists, View, is_torch, name_of, view_of
from foveate._attention import attend
from foveate._cores import usable_cores
from foveate._operands import Operands
from foveate._options import AttentionOptions, boolean


def scaled_dot_product_attention(
    query: ArrayT | Lists,
    key: Any,
    value: Any,
    attn_mask: Any = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    *,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> ArrayT:
    """As torch.nn.functional.scaled_dot_product_attention, on arrays of any kind.

    Args:
        query: [..., h, L, E], or [L, E].
        key: [..., h, S, E]. Leading axes are broadcast.
        value: [..., h, S, Ev].
        attn_mask: bool, True = takes part, or float of query's type, added to the scores; broadcast to [..., h, L, S].
        dropout_p: the probability that a weight is left out. The seed is drawn from PyTorch's generator for tensors,
            from NumPy's global one for others.
        is_causal: query i attends to keys 0 to i (top left), whatever L and S are. Refused beside attn_mask.
        scale: 1 / sqrt(E) unless given.
        enable_gqa: key and value may have fewer heads, of which query's are a multiple.

    Returns:
        [..., h, L, Ev], of query's type and kind. A row that no key takes part in is 0.

    Other than in PyTorch: dropout_p is below 1, E at least 1, attn_mask has no more leading axes than query, and heads
    of key and value that enable_gqa groups are equally many.

    Raises:
        TypeError: types that differ, or are not taken; tensors that require grad (foveate.torch records gradients).
        ValueError: shapes that do not fit; attn_mask beside is_causal.

    >>> import numpy as np
    >>> x = np.eye(2)
    >>> scaled_dot_product_attention(x, x, x, is_causal=True)
    array([[1.        , 0.        ],
           [0.33023845, 0.66976155]])
    """
    if attn_mask is None and not dropout_p and not enable_gqa and _alike(query, key, value):
        done = _engine.plain_attention(
            (query, key, value), {"causal": is_causal, "align": "top-left", "scale": scale}, usable_cores
        )
        if done is not None:
            return done  # type: ignore[return-value]
    q, k, v = _broadcast(query, key, value, boolean(enable_gqa, "enable_gqa"))
    options = AttentionOptions(causal=boolean(is_causal, "is_causal"), align="top-left", scale=scale)
    if attn_mask is not None:
        if is_causal:
            raise ValueError(
                "attn_mask: given beside is_causal; expected one of them; put the causal mask into attn_mask"
            )
        mask = view_of(attn_mask, "attn_mask", (*BOOLS, q.dtype))
        options["mask" if mask.dtype == BOOLS[0] else "bias"] = mask
    if dropout_p:
        options["dropout"], options["seed"] = dropout_p, _drawn_seed(query)
    try:
        return attend(Operands(q, k, v, options))[0].result(query)  # type: ignore[no-any-return]
    except ValueError as error:
        raise ValueError(_in_words_of_pytorch(str(error))) from None


def _alike(query: Any, key: Any, value: Any) -> bool:
    """Whether they are NumPy's own arrays of one type with the same leading axes and heads."""
    return (
        type(query) is type(key) is type(value) is np.ndarray
        and query.dtype == key.dtype == value.dtype
        and query.shape[:-2] == key.shape[:-2] == value.shape[:-2]
    )


def _broadcast(query: Any, key: Any, value: Any, grouped: bool) -> list[View]:
    """The three, with the same leading axes; heads are among them unless they are grouped."""
    names = ("query", "key", "value")
    views = [view_of(array, name) for array, name in zip((query, key, value), names, strict=True)]
    for view, name in zip(views, names, strict=True):
        if view.ndim < 2:
            raise ValueError(f"{name}: {view.ndim} axes, expected at least 2")
        if view.dtype != views[0].dtype:
            raise TypeError(
                f"{name}: dtype {name_of(view.dtype)}, query has {name_of(views[0].dtype)}; expected the same"
            )
    kept = 3 if grouped else 2
    try:
        lead = np.broadcast_shapes(*(view.shape[:-kept] for view in views))
    except ValueError:
        shapes = ", ".join(str(list(view.shape)) for view in views)
        remedy = "" if grouped else "; where key and value have fewer heads, set enable_gqa=True"
        raise ValueError(f"query, key, value: shapes {shapes} do not broadcast in their leading axes{remedy}") from None
    return [np.broadcast_to(view, lead + view.shape[-kept:]) for view in views]


def _drawn_seed(query: object) -> int:
    if is_torch(query):
        return int(sys.modules["torch"].randint(0, 2**63 - 1, ()).item())
    return int(np.random.randint(0, 2**63 - 1))


def _in_words_of_pytorch(message: str) -> str:
    names = {"q": "query", "k": "key", "v": "value", "mask": "attn_mask", "bias": "attn_mask", "dropout": "dropout_p"}
    return re.sub(r"^(q|k|v|mask|bias|dropout)(?=:)|\b[qkv](?='s\b)", lambda found: names[found.group()], message)
