# Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
"""Linear attention and its gradients."""

from __future__ import annotations

from typing import Any, Generic, Literal, NamedTuple, SupportsIndex, TypedDict, Unpack, overload

from foveate import _engine
from foveate._arrays import ArrayT, Lists
from foveate._attention import MainT
from foveate._axes import Layout
from foveate._names import names_checked
from foveate._operands import Operands, engines
from foveate._options import threads_of


class LinearOptions(TypedDict, total=False):
    """The options of linear attention."""

    layout: Layout
    causal: bool
    align: Literal["bottom-right", "top-left"]
    q_offset: SupportsIndex | None
    mask: Any
    q_lengths: Any
    kv_lengths: Any
    threads: SupportsIndex | None


class LinearGradients(NamedTuple, Generic[MainT]):
    """Gradients of linear attention's inputs; None where one was not asked for.

    Attributes:
        dq: shaped as q.
        dk: shaped as k.
        dv: shaped as v.
    """

    dq: MainT
    dk: MainT
    dv: MainT


@names_checked(LinearOptions)
def linear_attention(q: ArrayT | Lists, k: Any, v: Any, *, out: Any = None, **options: Unpack[LinearOptions]) -> ArrayT:
    """Attention without a softmax, in time linear in the length: o_i = sum_j A_ij v_j / sum_j A_ij.

    A_ij = phi(q_i) . phi(k_j), and phi(x) = elu(x) + 1 component by component. A row that no key takes part in is 0.

    Args:
        q, k, v: as attention takes them; k and v are not int8.
        layout, causal, align, q_offset, q_lengths, kv_lengths, out, threads: as attention has them.
        mask: bool, True = takes part; broadcast to [..., h_kv, 1, n_kv]: not by rows.

    Returns:
        o, [..., h_q, n_q, d_v], of q's type and kind.

    Raises:
        As attention.

    Katharopoulos, Vyas, Pappas and Fleuret, arXiv:2006.16236.

    >>> import numpy as np
    >>> x = np.eye(2)
    >>> linear_attention(x, x, x)
    array([[0.55555556, 0.44444444],
           [0.44444444, 0.55555556]])
    """
    of = Operands(q, k, v, options)
    o, _, _ = of.outputs(out, False, False)
    _engine.linear_attention(*of.arrays, o.engine, options=of.options, threads=threads_of(options.get("threads")))
    return o.result(q)  # type: ignore[no-any-return]


# fmt: off
@overload
def linear_attention_backward(
    d_o: Any, q: ArrayT | Lists, k: Any, v: Any, *, dq: Literal[True] = True, dk: Literal[True] = True,
    dv: Literal[True] = True, **options: Unpack[LinearOptions],
) -> LinearGradients[ArrayT]: ...
@overload
def linear_attention_backward(
    d_o: Any, q: ArrayT | Lists, k: Any, v: Any, *, dq: bool = True, dk: bool = True,
    dv: bool = True, **options: Unpack[LinearOptions],
) -> LinearGradients[ArrayT | None]: ...
# fmt: on
@names_checked(LinearOptions)
def linear_attention_backward(
    d_o: Any,
    q: ArrayT | Lists,
    k: Any,
    v: Any,
    *,
    dq: bool = True,
    dk: bool = True,
    dv: bool = True,
    **options: Unpack[LinearOptions],
) -> LinearGradients[Any]:
    """The gradients of linear attention. What it returned is made anew.

    Args:
        d_o: the gradient of a loss by o, of its shape and type.
        q, k, v: what linear_attention was given.
        dq, dk, dv: which gradients are wanted.
        options: the options that linear_attention was given.

    Returns:
        LinearGradients, a named tuple, shaped as q, k and v; None for what is not wanted.

    Raises:
        As attention.

    >>> import numpy as np
    >>> x = np.eye(2)
    >>> linear_attention_backward(np.ones((2, 2)), x, x, x).dv
    array([[1., 1.],
           [1., 1.]])
    """
    of = Operands(q, k, v, options)
    gradients = of.gradients(dq, dk, dv, False, False)[:3]
    _engine.linear_attention_backward(
        *of.arrays,
        of.output_shaped(d_o, "d_o"),
        *engines(gradients),
        options=of.options,
        threads=threads_of(options.get("threads")),
    )
    return LinearGradients(*(one and one.result(q) for one in gradients))
