# Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
"""The operators foveate::attention and foveate::attention_backward, as torch.library knows them.

A caller's options are one row of arguments behind q, k and v, in the order of `Options`, by the names of
foveate.attention. Only `seed` differs: a tensor, so that a compiled graph does not hold the number it was traced with.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch import Tensor

import foveate


class Options(NamedTuple):
    """What attention is given beside q, k and v. Types are those of the schema."""

    mask: Tensor | None = None
    bias: Tensor | None = None
    alibi: Tensor | None = None
    sinks: Tensor | None = None
    seed: Tensor | None = None
    q_lengths: Tensor | None = None
    kv_lengths: Tensor | None = None
    q_starts: Tensor | None = None
    kv_starts: Tensor | None = None
    block_table: Tensor | None = None
    blocks: Tensor | None = None
    tree_mask: Tensor | None = None
    k_scales: Tensor | None = None
    v_scales: Tensor | None = None
    scale: float | None = None
    layout: str = "bhnd"
    causal: bool = False
    align: str = "bottom-right"
    window: list[int] | None = None
    softcap: float = 0.0
    q_offset: int | None = None
    kv_offset: int | None = None
    dropout: float = 0.0
    tree_tokens: int = 0
    block_size: int = 0
    native_products: bool = True
    threads: int | None = None

    def for_engine(self) -> dict[str, Any]:
        """The keyword arguments of foveate.attention. Threads are PyTorch's unless they were given."""
        options = {name: value for name, value in self._asdict().items() if value is not None}
        options["threads"] = self.threads or torch.get_num_threads()
        if self.seed is not None:
            options["seed"] = int(self.seed) % 2**64
        return options


TENSORS = Options._fields[: Options._fields.index("scale")]

_OPTIONS_SCHEMA = ", ".join(
    [f"Tensor? {name}" for name in TENSORS]
    + ["float? scale, str layout, bool causal, str align, SymInt[]? window, float softcap, SymInt? q_offset"]
    + ["SymInt? kv_offset, float dropout, SymInt tree_tokens, SymInt block_size, bool native_products, int? threads"]
)


def _register(name: str, schema: str) -> Callable[[Callable[..., Any]], Any]:
    return torch.library.custom_op(f"foveate::{name}", mutates_args=(), device_types="cpu", schema=schema)


@_register("attention", f"(Tensor q, Tensor k, Tensor v, {_OPTIONS_SCHEMA}, bool weights) -> (Tensor, Tensor, Tensor)")
def attention_operator(q: Tensor, k: Tensor, v: Tensor, *rest: Any) -> tuple[Tensor, Tensor, Tensor]:
    """o, lse and the weights; these of no elements unless they are asked for."""
    *options, weights = rest
    with torch.no_grad():
        result: Any = foveate.attention(
            q, k, v, return_lse=True, return_weights=weights, **Options(*options).for_engine()
        )
    return (*result, q.new_empty(0)) if not weights else tuple(result)


def _fake_attention(q: Tensor, k: Tensor, v: Tensor, *rest: Any) -> tuple[Tensor, Tensor, Tensor]:
    options, weights = Options(*rest[:-1]), rest[-1]
    o = q.new_empty(*q.shape[:-1], v.shape[-1])
    rows = list(q.shape[:-1])
    if options.layout == "bnhd" and q.ndim > 2:
        rows[-2:] = rows[:-3:-1]
    lse = q.new_empty(rows, dtype=_computing(q))
    return o, lse, q.new_empty(_shape_of_weights(rows, k, options) if weights else 0)


def _computing(q: Tensor) -> torch.dtype:
    return torch.float64 if q.dtype == torch.float64 else torch.float32


def _shape_of_weights(rows: list[Any], k: Tensor, options: Options) -> list[Any]:
    def longest() -> Any:
        return torch.library.get_ctx().new_dynamic_size()

    heads_last = options.layout == "bnhd" and k.ndim > 2
    n_kv = k.shape[-3] if heads_last else k.shape[-2]
    if options.block_table is not None:
        n_kv = n_kv * options.block_table.shape[1]
    starts = options.q_starts if options.q_starts is not None else options.kv_starts
    b = list(rows[:-2]) if starts is None else [starts.shape[0] - 1]
    if options.kv_starts is not None:
        n_kv = longest()
    return [*b, *rows[-2:-1], longest() if options.q_starts is not None else rows[-1], n_kv]


_WANTED = ("dq", "dk", "dv", "dbias", "dsinks")


@_register(
    "attention_backward",
    f"(Tensor d_o, Tensor q, Tensor k, Tensor v, Tensor o, Tensor lse, {_OPTIONS_SCHEMA}, bool[] wanted)"
    " -> (Tensor, Tensor, Tensor, Tensor, Tensor)",
)
def backward_operator(d_o: Tensor, q: Tensor, k: Tensor, v: Tensor, o: Tensor, lse: Tensor, *rest: Any) -> Any:
    """dq, dk, dv, dbias and dsinks; of no elements where one is not wanted."""
    *options, wanted = rest
    with torch.no_grad():
        gradients = foveate.attention_backward(
            d_o, q, k, v, o, lse, **dict(zip(_WANTED, wanted, strict=True)), **Options(*options).for_engine()
        )
    given = Options(*options)
    inputs = (q, k, v, given.bias, given.sinks)
    return tuple(
        q.new_empty(0) if gradient is None or of is None else gradient.to(of.dtype)
        for gradient, of in zip(gradients, inputs, strict=True)
    )


def _fake_backward(
    d_o: Tensor, q: Tensor, k: Tensor, v: Tensor, o: Tensor, lse: Tensor, *rest: Any
) -> tuple[Tensor, ...]:
    options, wanted = Options(*rest[:-1]), rest[-1]
    inputs = (q, k, v, options.bias, options.sinks)
    return tuple(
        of.new_empty(of.shape) if want and of is not None else q.new_empty(0)
        for want, of in zip(wanted, inputs, strict=True)
    )


def _setup_context(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, Tensor, Tensor]) -> None:
    q, k, v, *rest = inputs
    tensors, ctx.numbers = rest[: len(TENSORS)], rest[len(TENSORS) : -1]
    o, lse, weights = output
    ctx.save_for_backward(q, k, v, o, lse, *tensors)
    ctx.mark_non_differentiable(weights)
    ctx.set_materialize_grads(False)


def _backward(ctx: Any, d_o: Tensor | None, d_lse: Tensor | None, _: Any) -> tuple[Tensor | None, ...]:
    q, k, v, o, lse, *tensors = ctx.saved_tensors
    options = Options(*tensors, *ctx.numbers)
    needs = dict(zip(("q", "k", "v", *Options._fields), ctx.needs_input_grad, strict=False))
    wanted = [needs[name] for name in ("q", "k", "v", "bias", "sinks")]
    none = (None,) * (len(needs) + 1)
    if (d_o is None and d_lse is None) or not any(wanted):
        return none
    if d_o is None:
        d_o = torch.zeros_like(o)
    if d_lse is None:
        gradients = attend_backward(d_o, q, k, v, o, lse, *options, wanted)
    else:
        gradients = _backward_with_lse(d_o, d_lse, q, k, v, o, lse, options, wanted)
    dq, dk, dv, dbias, dsinks = (of if want else None for of, want in zip(gradients, wanted, strict=True))
    by_option = tuple({"bias": dbias, "sinks": dsinks}.get(name) for name in Options._fields)
    return (dq, dk, dv, *by_option, None)


def _backward_with_lse(
    d_o: Tensor, d_lse: Tensor, q: Tensor, k: Tensor, v: Tensor, o: Tensor, lse: Tensor, options: Options, wanted: Any
) -> Any:
    """As the operator, where the loss depends on lse too.

    d lse_i / d s_ij = a_ij, so ds_ij = a_ij (d_o_i . v_j - (d_o_i . o_i - d_lse_i)): one more component of v that is 0,
    where o has 1 and d_o has -d_lse, is all that it takes. With a sink it is right for dsinks likewise.
    """
    heads_last = options.layout == "bnhd" and q.ndim > 2
    by_row = (d_lse.transpose(-1, -2) if heads_last else d_lse).unsqueeze(-1).to(q.dtype)
    dq, dk, dv, dbias, dsinks = attend_backward(
        torch.cat([d_o, -by_row], -1),
        q,
        k,
        torch.cat([v, torch.zeros_like(v[..., :1]) if v.shape[-1] else v.new_zeros(*v.shape[:-1], 1)], -1),
        torch.cat([o, torch.ones_like(by_row)], -1),
        lse,
        *options,
        wanted,
    )
    return dq, dk, dv[..., :-1] if wanted[2] else dv, dbias, dsinks


def _no_second_derivative(ctx: Any, *_: Any) -> None:
    raise NotImplementedError(
        "foveate.torch.attention: second derivatives are asked for, expected one backward pass; for double backward use"
        " torch.nn.functional.scaled_dot_product_attention under sdpa_kernel(SDPBackend.MATH)"
    )


def _no_forward_mode(ctx: Any, *_: Any) -> None:
    raise NotImplementedError(
        "foveate.torch.attention: forward-mode derivatives are asked for, expected those of a backward pass; use"
        " torch.nn.functional.scaled_dot_product_attention under sdpa_kernel(SDPBackend.MATH)"
    )


attention_operator.register_fake(_fake_attention)
backward_operator.register_fake(_fake_backward)
attention_operator.register_autograd(_backward, setup_context=_setup_context)
backward_operator.register_autograd(_no_second_derivative)


def _map_by_loop(operator: Any) -> Callable[..., Any]:
    """What torch.vmap is given: a call for each entry of the mapped axis, with the bits and dropout of that call."""

    def rule(info: Any, in_dims: tuple[int | None, ...], *args: Any) -> tuple[tuple[Tensor, ...], tuple[int, ...]]:
        def entry(index: int) -> list[Any]:
            pairs = zip(args, in_dims, strict=True)
            return [arg.select(dim, index) if isinstance(dim, int) else arg for arg, dim in pairs]

        each = [operator(*entry(index)) for index in range(info.batch_size)]
        results = tuple(torch.stack(parts) for parts in zip(*each, strict=True))
        return results, (0,) * len(results)

    operator.register_vmap(rule)
    return rule


class _Attend(torch.autograd.Function):
    """The operator for torch.func, whose transforms do not take the gradients of registered operators."""

    forward = staticmethod(lambda *args: attention_operator(*args))
    setup_context = staticmethod(lambda ctx, inputs, output: _setup_context(ctx, inputs, output))
    backward = staticmethod(_backward)
    jvp = staticmethod(_no_forward_mode)
    vmap = staticmethod(_map_by_loop(attention_operator))


class _AttendBackward(torch.autograd.Function):
    forward = staticmethod(lambda *args: backward_operator(*args))
    setup_context = staticmethod(lambda ctx, inputs, output: None)
    backward = staticmethod(_no_second_derivative)
    jvp = staticmethod(_no_second_derivative)
    vmap = staticmethod(_map_by_loop(backward_operator))


def attend(*args: Any) -> tuple[Tensor, Tensor, Tensor]:
    """attention_operator, under the transforms of torch.func too."""
    return _Attend.apply(*args) if transformed() else attention_operator(*args)  # type: ignore[no-any-return]


def attend_backward(*args: Any) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
    """backward_operator, likewise."""
    return _AttendBackward.apply(*args) if transformed() else backward_operator(*args)  # type: ignore[no-any-return]


def transformed() -> bool:
    """Whether a transform of torch.func is on."""
    return not torch.compiler.is_compiling() and torch._C._functorch.peek_interpreter_stack() is not None
