# Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
"""Additive attention and its gradients."""

from __future__ import annotations

from typing import Any, Generic, Literal, NamedTuple, TypeVar, Unpack, overload

from foveate import _engine
from foveate._arrays import ArrayT, Lists, View, computing, make, view_of
from foveate._attention import MainT, OutputAndLse, OutputAndWeights, OutputLseAndWeights, Outputs, result_of
from foveate._names import names_checked
from foveate._operands import Operands, Output, engines, written
from foveate._options import AttentionOptions, boolean, threads_of

OtherT = TypeVar("OtherT")


class AdditiveGradients(NamedTuple, Generic[MainT, OtherT]):
    """Gradients of additive attention's inputs; None where one was not asked for.

    Attributes:
        dq: shaped as q.
        dk: shaped as k.
        dv: shaped as v.
        dbias: shaped as bias.
        dsinks: [h_q].
        dw_q: [d_a, d_k].
        dw_k: [d_a, d_k].
        dw: [d_a].
        db: [d_a]; None where there was no b.
    """

    dq: MainT
    dk: MainT
    dv: MainT
    dbias: OtherT | None
    dsinks: OtherT | None
    dw_q: MainT
    dw_k: MainT
    dw: MainT
    db: OtherT | None


def _parameters(w_q: Any, w_k: Any, w: Any, b: Any) -> tuple[View | None, ...]:
    views: list[View | None] = []
    for name, array, axes in (("w_q", w_q, 2), ("w_k", w_k, 2), ("w", w, 1), ("b", b, 1)):
        view = None if array is None and name == "b" else view_of(array, name)
        if view is not None and view.ndim != axes:
            raise ValueError(f"{name}: {view.ndim} axes, expected {'[d_a, d_k]' if axes == 2 else '[d_a]'}")
        views.append(view)
    return tuple(views)


# fmt: off
@overload
def additive_attention(
    q: ArrayT | Lists, k: Any, v: Any, w_q: Any, w_k: Any, w: Any, b: Any = None, *, out: Any = None,
    return_lse: Literal[False] = False, return_weights: Literal[False] = False, **options: Unpack[AttentionOptions],
) -> ArrayT: ...
@overload
def additive_attention(
    q: ArrayT | Lists, k: Any, v: Any, w_q: Any, w_k: Any, w: Any, b: Any = None, *, out: Any = None,
    return_lse: Literal[True], return_weights: Literal[False] = False, **options: Unpack[AttentionOptions],
) -> OutputAndLse[ArrayT]: ...
@overload
def additive_attention(
    q: ArrayT | Lists, k: Any, v: Any, w_q: Any, w_k: Any, w: Any, b: Any = None, *, out: Any = None,
    return_lse: Literal[False] = False, return_weights: Literal[True], **options: Unpack[AttentionOptions],
) -> OutputAndWeights[ArrayT]: ...
@overload
def additive_attention(
    q: ArrayT | Lists, k: Any, v: Any, w_q: Any, w_k: Any, w: Any, b: Any = None, *, out: Any = None,
    return_lse: Literal[True], return_weights: Literal[True], **options: Unpack[AttentionOptions],
) -> OutputLseAndWeights[ArrayT]: ...
@overload
def additive_attention(
    q: ArrayT | Lists, k: Any, v: Any, w_q: Any, w_k: Any, w: Any, b: Any = None, *, out: Any = None,
    return_lse: bool = False, return_weights: bool = False, **options: Unpack[AttentionOptions],
) -> Outputs[ArrayT]: ...
# fmt: on
@names_checked(AttentionOptions)
def additive_attention(
    q: ArrayT | Lists,
    k: Any,
    v: Any,
    w_q: Any,
    w_k: Any,
    w: Any,
    b: Any = None,
    *,
    out: Any = None,
    return_lse: bool = False,
    return_weights: bool = False,
    **options: Unpack[AttentionOptions],
) -> Outputs[ArrayT]:
    """Attention with a small network for a score: s_ij = scale * w . tanh(w_q q_i + b + w_k k_j), scale 1 unless given.

    Args:
        q, k, v, out, return_lse, return_weights: as attention has them; k is not int8.
        w_q, w_k: [d_a, d_k], the same for all heads.
        w, b: [d_a]; b left out: 0.
        options: those of attention, but for keys in pages.

    Returns, raises: as attention.

    Bahdanau, Cho and Bengio, arXiv:1409.0473.

    >>> import numpy as np
    >>> x, w = np.eye(2), np.array([[1.0, -1.0]])
    >>> additive_attention(x, x, x, w, w, np.ones(1))
    array([[0.72392747, 0.27607253],
           [0.72392747, 0.27607253]])
    """
    of, parameters = Operands(q, k, v, options), _parameters(w_q, w_k, w, b)
    outputs = of.outputs(out, boolean(return_lse, "return_lse"), boolean(return_weights, "return_weights"))
    _engine.additive_attention(
        *of.arrays,
        *parameters,
        *engines(outputs),
        options=of.options,
        threads=threads_of(options.get("threads")),
    )
    return result_of(q, *outputs)  # type: ignore[no-any-return]


# fmt: off
@overload
def additive_attention_backward(
    d_o: Any, q: ArrayT | Lists, k: Any, v: Any, w_q: Any, w_k: Any, w: Any, b: Any, o: Any, lse: Any, *,
    dq: Literal[True] = True, dk: Literal[True] = True, dv: Literal[True] = True,
    dbias: bool = False, dsinks: bool = False, dw_q: Literal[True] = True, dw_k: Literal[True] = True,
    dw: Literal[True] = True, db: bool | None = None, **options: Unpack[AttentionOptions],
) -> AdditiveGradients[ArrayT, ArrayT]: ...
@overload
def additive_attention_backward(
    d_o: Any, q: ArrayT | Lists, k: Any, v: Any, w_q: Any, w_k: Any, w: Any, b: Any, o: Any, lse: Any, *,
    dq: bool = True, dk: bool = True, dv: bool = True,
    dbias: bool = False, dsinks: bool = False, dw_q: bool = True, dw_k: bool = True,
    dw: bool = True, db: bool | None = None, **options: Unpack[AttentionOptions],
) -> AdditiveGradients[ArrayT | None, ArrayT]: ...
# fmt: on
@names_checked(AttentionOptions)
def additive_attention_backward(
    d_o: Any,
    q: ArrayT | Lists,
    k: Any,
    v: Any,
    w_q: Any,
    w_k: Any,
    w: Any,
    b: Any,
    o: Any,
    lse: Any,
    *,
    dq: bool = True,
    dk: bool = True,
    dv: bool = True,
    dbias: bool = False,
    dsinks: bool = False,
    dw_q: bool = True,
    dw_k: bool = True,
    dw: bool = True,
    db: bool | None = None,
    **options: Unpack[AttentionOptions],
) -> AdditiveGradients[Any, Any]:
    """The gradients of additive attention, from what additive_attention was given and returned.

    Args:
        d_o: the gradient of a loss by o, of its shape and type.
        q, k, v, w_q, w_k, w, b: what additive_attention was given.
        o, lse: what it returned.
        dq, dk, dv, dbias, dsinks, dw_q, dw_k, dw, db: which gradients are wanted; db: where b is given.
        options: the options that additive_attention was given.

    Returns:
        AdditiveGradients, a named tuple, each shaped as what it is the gradient of; those of parameters are sums over
        all rows and heads. None for what is not wanted.

    Raises:
        As attention.

    >>> import numpy as np
    >>> x, w = np.eye(2), np.array([[1.0, -1.0]])
    >>> o, lse = additive_attention(x, x, x, w, w, np.ones(1), return_lse=True)
    >>> additive_attention_backward(x, x, x, x, w, w, np.ones(1), None, o, lse).dw_q.shape
    (1, 2)
    """
    of, parameters = Operands(q, k, v, options), _parameters(w_q, w_k, w, b)
    before, wanted = of.backward(d_o, o, lse), of.gradients(dq, dk, dv, dbias, dsinks)
    db = b is not None if db is None else db
    asked = (dw_q, dw_k, dw, db)
    gradients = (*wanted, *(_gradient(of, view) if one else None for view, one in zip(parameters, asked, strict=True)))
    _engine.additive_attention_backward(
        *of.arrays, *parameters, *before, *engines(gradients), options=of.options,
        threads=threads_of(options.get("threads")),
    )  # fmt: skip
    return AdditiveGradients(*(one and one.result(q) for one in gradients))


def _gradient(of: Operands, parameter: View | None) -> Output:
    if parameter is None:
        raise ValueError("db: given without b")
    main = computing(of.q.dtype)
    array = make(parameter.shape, written(parameter.dtype, main))
    return Output(array, array, dtype=parameter.dtype)
