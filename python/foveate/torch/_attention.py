# Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
"""Attention on PyTorch's tensors, with gradients."""

from __future__ import annotations

from typing import Any, Literal

import torch
from torch import Tensor

from foveate import OutputAndLse, OutputAndWeights, OutputLseAndWeights
from foveate.torch._operator import TENSORS, Options, attend


def attention(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    *,
    scale: float | None = None,
    layout: Literal["bhnd", "bnhd"] = "bhnd",
    causal: bool = False,
    align: Literal["bottom-right", "top-left"] = "bottom-right",
    window: tuple[int, int] | None = None,
    softcap: float = 0.0,
    alibi: Tensor | None = None,
    sinks: Tensor | None = None,
    mask: Tensor | None = None,
    bias: Tensor | None = None,
    q_lengths: Tensor | None = None,
    kv_lengths: Tensor | None = None,
    q_offset: int | None = None,
    kv_offset: int | None = None,
    dropout: float = 0.0,
    seed: int | Tensor | None = None,
    return_lse: bool = False,
    return_weights: bool = False,
    threads: int | None = None,
    k_scales: Tensor | None = None,
    v_scales: Tensor | None = None,
    q_starts: Tensor | None = None,
    kv_starts: Tensor | None = None,
    block_table: Tensor | None = None,
    tree_mask: Tensor | None = None,
    tree_tokens: int = 0,
    blocks: Tensor | None = None,
    block_size: int = 0,
    native_products: bool = True,
) -> Any:
    """foveate.attention on tensors, as an operator of PyTorch: recorded by autograd, taken by torch.compile whole.

    Shapes, options and results are those of foveate.attention; what differs:

    * Gradients reach q, k, v, bias and sinks, from o and from lse. Weights carry none; there are no second derivatives.
    * Arrays among the options are tensors, all in the CPU's memory.
    * seed: a number, or a tensor of one; left out, it is drawn from PyTorch's generator, which torch.manual_seed sets.
    * threads: left out, torch.get_num_threads().
    * Under torch.autocast, q, k and v take its type (float64 stays).

    Raises:
        TypeError: a tensor of a type that is not taken, or not in the CPU's memory.
        ValueError: what breaks the contract, in one line; a gradient asked of alibi or of scales, which have none.

    Any number of threads may call at once.

    >>> q = torch.eye(2, requires_grad=True)
    >>> o, lse = attention(q, q, q, causal=True, return_lse=True)
    >>> o.sum().backward()
    >>> q.grad.shape
    torch.Size([2, 2])
    """
    options = Options(
        mask=mask,
        bias=bias,
        alibi=alibi,
        sinks=sinks,
        seed=_seed(seed) if dropout else None,
        q_lengths=q_lengths,
        kv_lengths=kv_lengths,
        q_starts=q_starts,
        kv_starts=kv_starts,
        block_table=block_table,
        blocks=blocks,
        tree_mask=tree_mask,
        k_scales=k_scales,
        v_scales=v_scales,
        scale=scale,
        layout=layout,
        causal=causal,
        align=align,
        window=None if window is None else list(window),
        softcap=softcap,
        q_offset=q_offset,
        kv_offset=kv_offset,
        dropout=dropout,
        tree_tokens=tree_tokens,
        block_size=block_size,
        native_products=native_products,
        threads=threads,
    )
    _check(q, k, v, options)
    o, lse, weights = attend(*_autocast(q, k, v), *options, return_weights)
    if return_lse and return_weights:
        return OutputLseAndWeights(o, lse, weights)
    if return_lse:
        return OutputAndLse(o, lse)
    return OutputAndWeights(o, weights) if return_weights else o


def scaled_dot_product_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    *,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Tensor:
    """torch.nn.functional.scaled_dot_product_attention by the same names, order and meaning, gradients included.

    query [..., h, L, E], key [..., h, S, E], value [..., h, S, Ev]; leading axes are broadcast, and with enable_gqa
    query's heads are a multiple of the others'. attn_mask: bool, True = takes part, or of query's type and added to the
    scores. is_causal: query i attends to keys 0 to i, whatever L and S are; refused beside attn_mask. dropout_p draws
    from PyTorch's generator. A row that no key takes part in is 0. Errors as attention's.

    >>> x = torch.eye(2)
    >>> scaled_dot_product_attention(x, x, x, is_causal=True)
    tensor([[1.0000, 0.0000],
            [0.3302, 0.6698]])
    """
    q, k, v, options = as_attention(query, key, value, attn_mask, is_causal, scale, enable_gqa)
    return attention(q, k, v, dropout=dropout_p, **options)  # type: ignore[no-any-return]


def as_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None,
    is_causal: bool,
    scale: float | None,
    enable_gqa: bool,
) -> tuple[Tensor, Tensor, Tensor, dict[str, Any]]:
    """What attention is given for such a call of PyTorch's, dropout aside; errors are in PyTorch's words."""
    query, key, value = _autocast(query, key, value)
    if attn_mask is not None:
        (attn_mask,) = _autocast(attn_mask)
    _check_like_pytorch(query, key, value, attn_mask, is_causal)
    kept = 3 if enable_gqa else 2
    try:
        shapes = (tensor.shape[:-kept] for tensor in (query, key, value))
        lead = torch.broadcast_shapes(*shapes)  # type: ignore[no-untyped-call]
    except RuntimeError:
        got = ", ".join(str(list(tensor.shape)) for tensor in (query, key, value))
        remedy = "" if enable_gqa else "; where key and value have fewer heads, set enable_gqa=True"
        raise ValueError(f"query, key, value: shapes {got} do not broadcast in their leading axes{remedy}") from None
    q, k, v = (tensor.expand(*lead, *tensor.shape[-kept:]) for tensor in (query, key, value))
    boolean = attn_mask is not None and attn_mask.dtype == torch.bool
    options = {
        "scale": scale,
        "causal": is_causal,
        "align": "top-left",
        "mask": attn_mask if boolean else None,
        "bias": None if boolean else attn_mask,
    }
    return q, k, v, options


def _seed(seed: int | Tensor | None) -> Tensor:
    if seed is None:
        return torch.randint(0, 2**63 - 1, ())
    if isinstance(seed, Tensor):
        return seed
    if not 0 <= seed < 2**64:
        raise ValueError(f"seed: {seed}, expected 0 to {2**64 - 1}")
    return torch.full((), seed - 2**64 if seed >= 2**63 else seed, dtype=torch.int64)


def _check(q: Tensor, k: Tensor, v: Tensor, options: Options) -> None:
    tensors = {"q": q, "k": k, "v": v, **{name: getattr(options, name) for name in TENSORS}}
    for name, tensor in tensors.items():
        if tensor is None:
            continue
        if not isinstance(tensor, Tensor):
            kind = type(tensor).__name__
            raise TypeError(f"{name}: {kind}, expected a tensor; use torch.as_tensor, or foveate.attention")
        if tensor.device.type not in ("cpu", "meta"):
            raise TypeError(f"{name}: on device {tensor.device}, expected the CPU's memory; use {name}.cpu()")
    for name in ("alibi", "k_scales", "v_scales"):
        if tensors[name] is not None and tensors[name].requires_grad and torch.is_grad_enabled():
            raise ValueError(f"{name}: requires grad, but has no gradient here; use {name}.detach()")


def _check_like_pytorch(query: Tensor, key: Tensor, value: Tensor, attn_mask: Tensor | None, is_causal: bool) -> None:
    if attn_mask is not None and is_causal:
        raise ValueError("attn_mask: given beside is_causal; expected one of them; put the causal mask into attn_mask")
    for name, tensor in (("query", query), ("key", key), ("value", value)):
        if tensor.ndim < 2:
            raise ValueError(f"{name}: {tensor.ndim} axes, expected at least 2")
        if tensor.dtype != query.dtype:
            raise TypeError(f"{name}: dtype {tensor.dtype}, query has {query.dtype}; expected the same")
    if attn_mask is not None and attn_mask.dtype not in (torch.bool, query.dtype):
        expected = f"bool (True = takes part) or query's {query.dtype}"
        raise TypeError(f"attn_mask: dtype {attn_mask.dtype}, expected {expected}")


def _autocast(*tensors: Tensor) -> tuple[Tensor, ...]:
    """Tensors as PyTorch's own attention gets them under torch.autocast on CPUs."""
    if not torch.is_autocast_enabled("cpu"):
        return tensors
    dtype = torch.get_autocast_dtype("cpu")
    narrow = (torch.float32, torch.float16, torch.bfloat16)
    return tuple(tensor.to(dtype) if tensor.dtype in narrow else tensor for tensor in tensors)
