# Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
"""Arguments of other names: refused as Python does, with what they are called here."""

from __future__ import annotations

import difflib
import functools
import inspect
from collections.abc import Callable
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")

_ELSEWHERE = "foveate.scaled_dot_product_attention has PyTorch's names"
_OF_OTHERS = {
    "is_causal": f"use causal=True, with align='top-left' for PyTorch's rule; {_ELSEWHERE}",
    "attn_mask": f"use mask for bool (True = takes part), bias for float; {_ELSEWHERE}",
    "query": f"here it is q; {_ELSEWHERE}",
    "key": f"here it is k; {_ELSEWHERE}",
    "value": f"here it is v; {_ELSEWHERE}",
    "dropout_p": f"use dropout, and seed; {_ELSEWHERE}",
    "enable_gqa": f"leave it out, heads may always be grouped; {_ELSEWHERE}",
    "softmax_scale": "use scale",
    "window_size": "use window",
    "alibi_slopes": "use alibi",
}


def names_checked(options: type | None = None) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Of a function whose **options are those of a TypedDict, or that has none: other names are a TypeError with a
    remedy."""

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        own = [name for name, one in inspect.signature(function).parameters.items() if one.kind != one.VAR_KEYWORD]
        known = frozenset((*own, *(options.__annotations__ if options else ())))

        @functools.wraps(function)
        def checked(*args: P.args, **given: P.kwargs) -> R:
            for name in given:
                if name not in known:
                    raise TypeError(_refusal(function.__name__, name, known))
            return function(*args, **given)

        return checked

    return decorate


def _refusal(function: str, name: str, known: frozenset[str]) -> str:
    said = f"{function}() got an unexpected keyword argument {name!r}"
    if name in _OF_OTHERS:
        return f"{said}; {_OF_OTHERS[name]}"
    near = difflib.get_close_matches(name, sorted(known), 1)
    return f"{said}; did you mean {near[0]!r}?" if near else said
