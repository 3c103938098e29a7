# Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
"""Attention and its gradients on arrays of any kind."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import (
    Any,
    Generic,
    Literal,
    NamedTuple,
    ParamSpec,
    SupportsFloat,
    SupportsIndex,
    TypeAlias,
    TypeVar,
    Unpack,
    overload,
)

from foveate import _engine
from foveate._arrays import ArrayT, Lists
from foveate._axes import Layout
from foveate._cores import usable_cores
from foveate._names import names_checked
from foveate._operands import Operands, Output, engines
from foveate._options import AttentionOptions, boolean, threads_of


class OutputAndLse(NamedTuple, Generic[ArrayT]):
    """What attention returns with return_lse.

    Attributes:
        o: [..., h_q, n_q, d_v].
        lse: [..., h_q, n_q], natural logarithms.
    """

    o: ArrayT
    lse: ArrayT


class OutputAndWeights(NamedTuple, Generic[ArrayT]):
    """What attention returns with return_weights.

    Attributes:
        o: [..., h_q, n_q, d_v].
        weights: [..., h_q, n_q, n_kv].
    """

    o: ArrayT
    weights: ArrayT


class OutputLseAndWeights(NamedTuple, Generic[ArrayT]):
    """What attention returns with both.

    Attributes:
        o: [..., h_q, n_q, d_v].
        lse: [..., h_q, n_q], natural logarithms.
        weights: [..., h_q, n_q, n_kv].
    """

    o: ArrayT
    lse: ArrayT
    weights: ArrayT


Outputs: TypeAlias = ArrayT | OutputAndLse[ArrayT] | OutputAndWeights[ArrayT] | OutputLseAndWeights[ArrayT]

MainT = TypeVar("MainT")
BiasT = TypeVar("BiasT")
SinksT = TypeVar("SinksT")


class Gradients(NamedTuple, Generic[MainT, BiasT, SinksT]):
    """Gradients of attention's inputs; None where one was not asked for.

    Attributes:
        dq: shaped as q.
        dk: shaped as k.
        dv: shaped as v.
        dbias: shaped as bias.
        dsinks: [h_q].
    """

    dq: MainT
    dk: MainT
    dv: MainT
    dbias: BiasT
    dsinks: SinksT


def attend(
    of: Operands, out: Any = None, lse: bool = False, weights: bool = False, threads: Any = None
) -> tuple[Output, Output | None, Output | None]:
    """o, and lse and weights where they are wanted, computed."""
    outputs = of.outputs(out, lse, weights)
    _engine.attention(*of.arrays, *engines(outputs), options=of.options, threads=threads_of(threads))
    return outputs


def result_of(q: Any, o: Output, lse: Output | None, weights: Output | None) -> Any:
    """o alone, or a named tuple of what was asked for, all of q's kind."""
    arrays = [output.result(q) for output in (o, lse, weights) if output is not None]
    if lse is not None and weights is not None:
        return OutputLseAndWeights(*arrays)
    if lse is not None:
        return OutputAndLse(*arrays)
    return OutputAndWeights(*arrays) if weights is not None else arrays[0]


P = ParamSpec("P")
R = TypeVar("R")


def plain_first(function: Callable[P, R]) -> Callable[P, R]:
    """Of attention: calls on NumPy's own arrays with few options, or none, are done by the engine at once, without what
    takes other arrays apart or says what is wrong. All others are the function's."""
    plain = _engine.plain_attention

    @functools.wraps(function)
    def either(*args: P.args, **given: P.kwargs) -> R:
        done = plain(args, given, usable_cores)
        return function(*args, **given) if done is None else done  # type: ignore[return-value]

    return either


# fmt: off
@overload
def attention(
    q: ArrayT | Lists, k: Any, v: Any, *, out: Any = None, return_lse: Literal[False] = False,
    return_weights: Literal[False] = False, **options: Unpack[AttentionOptions],
) -> ArrayT: ...
@overload
def attention(
    q: ArrayT | Lists, k: Any, v: Any, *, out: Any = None, return_lse: Literal[True],
    return_weights: Literal[False] = False, **options: Unpack[AttentionOptions],
) -> OutputAndLse[ArrayT]: ...
@overload
def attention(
    q: ArrayT | Lists, k: Any, v: Any, *, out: Any = None, return_lse: Literal[False] = False,
    return_weights: Literal[True], **options: Unpack[AttentionOptions],
) -> OutputAndWeights[ArrayT]: ...
@overload
def attention(
    q: ArrayT | Lists, k: Any, v: Any, *, out: Any = None, return_lse: Literal[True],
    return_weights: Literal[True], **options: Unpack[AttentionOptions],
) -> OutputLseAndWeights[ArrayT]: ...
@overload
def attention(
    q: ArrayT | Lists, k: Any, v: Any, *, out: Any = None, return_lse: bool = False,
    return_weights: bool = False, **options: Unpack[AttentionOptions],
) -> Outputs[ArrayT]: ...
# fmt: on
@plain_first
@names_checked()
def attention(
    q: ArrayT | Lists,
    k: Any,
    v: Any,
    *,
    scale: SupportsFloat | None = None,
    layout: Layout = "bhnd",
    causal: bool = False,
    align: Literal["bottom-right", "top-left"] = "bottom-right",
    window: tuple[int, int] | None = None,
    softcap: SupportsFloat = 0.0,
    alibi: Any = None,
    sinks: Any = None,
    mask: Any = None,
    bias: Any = None,
    q_lengths: Any = None,
    kv_lengths: Any = None,
    q_offset: SupportsIndex | None = None,
    kv_offset: SupportsIndex | None = None,
    dropout: SupportsFloat = 0.0,
    seed: SupportsIndex = 0,
    out: Any = None,
    return_lse: bool = False,
    return_weights: bool = False,
    threads: SupportsIndex | None = None,
    k_scales: Any = None,
    v_scales: Any = None,
    q_starts: Any = None,
    kv_starts: Any = None,
    block_table: Any = None,
    tree_mask: Any = None,
    tree_tokens: SupportsIndex = 0,
    blocks: Any = None,
    block_size: SupportsIndex = 0,
    native_products: bool = True,
) -> Outputs[ArrayT]:
    """Scaled dot-product attention, exact: o = softmax(scale q k^T) v, with all that may stand between.

    For query row i of head h, over the keys j of key head h // (h_q // h_kv):

        s_ij  = scale * (q_i . k_j)                 scale: 1 / sqrt(d_k) unless given
        s_ij  = softcap * tanh(s_ij / softcap)      where softcap > 0
        s_ij += bias_ij - alibi_h * abs(p_i - j)
        a_ij  = exp(s_ij) / z_i                     z_i = sum_j exp(s_ij) (+ exp(sink_h)), lse_i = ln z_i
        o_i   = sum_j a_ij v_j

    over the keys that mask, causal (j <= p_i), window (p_i - left <= j <= p_i + right), lengths and blocks all allow.
    A row that no key takes part in has o = 0 and lse = -inf.

    Args:
        q: [..., h_q, n_q, d_k], or [n_q, d_k]. float64, float32, float16 or bfloat16; an array of NumPy, PyTorch or
            JAX, or whatever has DLPack or the buffer protocol. Read in place, whatever its strides; copied only
            where several leading axes cannot be taken as one.
        k: [..., h_kv, n_kv, d_k], as many axes as q; h_q is a multiple of h_kv. Also int8, with k_scales.
        v: [..., h_kv, n_kv, d_v]. Also int8, with v_scales.
        scale: any finite number, 0 and negative included.
        layout: the order of axes of q, k, v and o: "bhnd", or "bnhd" for [..., n, h, d].
        causal: only keys at or before the query's position p_i take part.
        align: p_i = i + (n_kv - n_q) for "bottom-right", as a cache of keys wants it; p_i = i for "top-left".
        window: (left, right), both inclusive; -1: no bound on that side.
        softcap: 0 is none.
        alibi: slopes, [h_q].
        sinks: one more score a head, which takes weight and adds no value, [h_q].
        mask: bool, True = takes part; broadcast to [..., h_q, n_q, n_kv] by NumPy's rules. It is read in place, unless
            it has some of several leading axes and lacks others: then it is copied, expanded over these.
        bias: added to the scores; float, broadcast like mask. -inf: takes no part.
        q_lengths, kv_lengths: how much of each sequence is there, [b] integers, b being all leading axes in one.
        q_offset, kv_offset: positions outright: p_i = q_offset + i, and key j stands at kv_offset + j.
        dropout: the probability, in [0, 1), that a weight is left out of o. lse and weights are without it.
        seed: of dropout, 0 to 2**64 - 1; dropout_mask tells what it keeps.
        out: where to write o: of o's shape and type; it is what is returned then.
        return_lse: also lse, [..., h_q, n_q] in any layout, float32, or float64 of a float64 q.
        return_weights: also the weights a, [..., h_q, n_q, n_kv], of q's type.
        threads: at most so many; None: all cores. Bits do not depend on it.
        k_scales, v_scales: of int8 keys and values, float32, shaped as they are, each extent that or 1.
        q_starts, kv_starts: sequences packed one behind the other: q is [h_q, total, d_k] (bnhd: [total, h_q, d_k]),
            and sequence s has its rows q_starts[s] to q_starts[s + 1] - 1. [b + 1] integers.
        block_table: keys in pages: k and v are [pages, h_kv, page_size, d], and key j of sequence s lies in row
            j % page_size of page block_table[s, j // page_size]. [b, most pages] integers; wants kv_lengths.
        tree_mask, tree_tokens: a bit for each pair of a query and one of the last tree_tokens keys, int64
            [b, h_q, n_q, ceil(tree_tokens / 64)].
        blocks, block_size: query i and key j meet only if blocks[..., i // block_size, j // block_size]; bool.
        native_products: whether the processor's own products of bfloat16 and int8 may be used, which round more.

    Returns:
        o, [..., h_q, n_q, d_v], of q's type and kind; with return_lse or return_weights a named tuple of o, lse and
        weights, those that were asked for.

    Raises:
        TypeError: an array of a type that is not taken, or not in the CPU's memory.
        ValueError: what breaks the contract, in one line: k: head dim 4 does not equal q's 8. Nothing is written then.
        MemoryError: no memory for the result or the work.
        KeyboardInterrupt: after Ctrl-C, which stops the work; out is partly written then.

    Any number of threads may call at once. The GIL is released meanwhile, but for work of microseconds; inputs may not
    change then.

    >>> import numpy as np
    >>> q = np.array([[1.0, 0.0], [0.0, 1.0]])
    >>> v = np.array([[1.0], [2.0]])
    >>> attention(q, q, v, causal=True)
    array([[1.        ],
           [1.66976155]])
    >>> o, lse = attention(q, q, v, return_lse=True)
    >>> lse
    array([1.10794031, 1.10794031])
    """
    options = AttentionOptions(
        scale=scale,
        layout=layout,
        causal=causal,
        align=align,
        window=window,
        softcap=softcap,
        alibi=alibi,
        sinks=sinks,
        mask=mask,
        bias=bias,
        q_lengths=q_lengths,
        kv_lengths=kv_lengths,
        q_offset=q_offset,
        kv_offset=kv_offset,
        dropout=dropout,
        seed=seed,
        k_scales=k_scales,
        v_scales=v_scales,
        q_starts=q_starts,
        kv_starts=kv_starts,
        block_table=block_table,
        tree_mask=tree_mask,
        tree_tokens=tree_tokens,
        blocks=blocks,
        block_size=block_size,
        native_products=native_products,
    )
    wanted = boolean(return_lse, "return_lse"), boolean(return_weights, "return_weights")
    outputs = attend(Operands(q, k, v, options), out, *wanted, threads)
    return result_of(q, *outputs)  # type: ignore[no-any-return]


# fmt: off
@overload
def attention_backward(
    d_o: Any, q: ArrayT | Lists, k: Any, v: Any, o: Any, lse: Any, *,
    dq: Literal[True] = True, dk: Literal[True] = True, dv: Literal[True] = True,
    dbias: Literal[False] = False, dsinks: Literal[False] = False, **options: Unpack[AttentionOptions],
) -> Gradients[ArrayT, None, None]: ...
@overload
def attention_backward(
    d_o: Any, q: ArrayT | Lists, k: Any, v: Any, o: Any, lse: Any, *,
    dq: Literal[True] = True, dk: Literal[True] = True, dv: Literal[True] = True,
    dbias: Literal[True], dsinks: Literal[False] = False, **options: Unpack[AttentionOptions],
) -> Gradients[ArrayT, ArrayT, None]: ...
@overload
def attention_backward(
    d_o: Any, q: ArrayT | Lists, k: Any, v: Any, o: Any, lse: Any, *,
    dq: Literal[True] = True, dk: Literal[True] = True, dv: Literal[True] = True,
    dbias: Literal[False] = False, dsinks: Literal[True], **options: Unpack[AttentionOptions],
) -> Gradients[ArrayT, None, ArrayT]: ...
@overload
def attention_backward(
    d_o: Any, q: ArrayT | Lists, k: Any, v: Any, o: Any, lse: Any, *,
    dq: Literal[True] = True, dk: Literal[True] = True, dv: Literal[True] = True,
    dbias: Literal[True], dsinks: Literal[True], **options: Unpack[AttentionOptions],
) -> Gradients[ArrayT, ArrayT, ArrayT]: ...
@overload
def attention_backward(
    d_o: Any, q: ArrayT | Lists, k: Any, v: Any, o: Any, lse: Any, *,
    dq: bool = True, dk: bool = True, dv: bool = True,
    dbias: bool = False, dsinks: bool = False, **options: Unpack[AttentionOptions],
) -> Gradients[ArrayT | None, ArrayT | None, ArrayT | None]: ...
# fmt: on
@names_checked(AttentionOptions)
def attention_backward(
    d_o: Any,
    q: ArrayT | Lists,
    k: Any,
    v: Any,
    o: Any,
    lse: Any,
    *,
    dq: bool = True,
    dk: bool = True,
    dv: bool = True,
    dbias: bool = False,
    dsinks: bool = False,
    **options: Unpack[AttentionOptions],
) -> Gradients[Any, Any, Any]:
    """The gradients of attention: given d_o, the gradient of a loss by o, those by q, k, v, bias and sinks.

    Args:
        d_o: of o's shape and type.
        q, k, v: what attention was given.
        o, lse: what it returned. Under dropout too.
        dq, dk, dv, dbias, dsinks: which gradients are wanted.
        options: the options that attention was given, the same dropout and seed among them.

    Returns:
        Gradients, a named tuple: dq, dk and dv shaped as q, k and v and of their types (of int8, float32: by the number
        meant), dbias shaped as bias and of its type (of lse's, where some of several
        leading axes were broadcast), dsinks [h_q] of lse's type; None for what is not wanted. All of q's kind.

    Raises:
        As attention; keys in pages have no gradients.

    >>> import numpy as np
    >>> q = np.array([[1.0, 0.0], [0.0, 1.0]])
    >>> v = np.array([[1.0], [2.0]])
    >>> o, lse = attention(q, q, v, return_lse=True)
    >>> gradients = attention_backward(np.ones_like(o), q, q, v, o, lse)
    >>> gradients.dv
    array([[1.],
           [1.]])
    """
    of = Operands(q, k, v, options)
    before = of.backward(d_o, o, lse)
    wanted = of.gradients(dq, dk, dv, dbias, dsinks)
    _engine.attention_backward(
        *of.arrays, *before, *engines(wanted), options=of.options, threads=threads_of(options.get("threads"))
    )
    return Gradients(*(one and one.result(q) for one in wanted))
