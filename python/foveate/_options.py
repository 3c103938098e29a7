# Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
"""The options of attention: what they are called, and what the engine is given for each."""

from __future__ import annotations

import operator
from typing import Any, Literal, SupportsFloat, SupportsIndex, TypedDict

import numpy as np

from foveate._arrays import BOOLS, FLOATS, INTEGERS, View, view_of
from foveate._axes import Axes, Layout
from foveate._cores import usable_cores


class ScoreOptions(TypedDict, total=False):
    """Which keys take part with which scores: what attention takes, its gradients, and whoever looks at it."""

    scale: SupportsFloat | None
    layout: Layout
    causal: bool
    align: Literal["bottom-right", "top-left"]
    window: tuple[int, int] | None
    softcap: SupportsFloat
    alibi: Any
    sinks: Any
    mask: Any
    bias: Any
    q_lengths: Any
    kv_lengths: Any
    q_offset: SupportsIndex | None
    kv_offset: SupportsIndex | None
    blocks: Any
    block_size: SupportsIndex
    threads: SupportsIndex | None


class AttentionOptions(ScoreOptions, total=False):
    """All options of attention that do not say what to return."""

    dropout: SupportsFloat
    seed: SupportsIndex
    k_scales: Any
    v_scales: Any
    q_starts: Any
    kv_starts: Any
    block_table: Any
    tree_mask: Any
    tree_tokens: SupportsIndex
    native_products: bool


def integer(value: Any, name: str, low: int = -(2**63), high: int = 2**63 - 1) -> int:
    """A whole number that the engine can take."""
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{name}: {value!r}, expected an integer") from None
    if not low <= number <= high:
        raise ValueError(f"{name}: {number}, expected {low} to {high}")
    return number


def real(value: Any, name: str) -> float:
    """A float."""
    try:
        if not isinstance(value, (str, bytes, bytearray)):
            return float(value)
    except (TypeError, ValueError):
        pass
    except OverflowError:
        raise ValueError(f"{name}: an integer beyond the range of floats") from None
    raise TypeError(f"{name}: {value!r}, expected a number")


def boolean(value: Any, name: str) -> bool:
    """True or False, NumPy's too, or 1 or 0."""
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    try:
        number = operator.index(value)
    except TypeError:
        number = -1
    if number not in (0, 1):
        raise TypeError(f"{name}: {value!r}, expected True or False")
    return number == 1


def one_of(value: Any, name: str, *known: str) -> str:
    """One of these words."""
    if not isinstance(value, str) or value not in known:
        raise ValueError(f"{name}: {value!r}, expected {' or '.join(map(repr, known))}")
    return value


def threads_of(value: Any) -> int:
    """How many threads at most; all cores for None."""
    return usable_cores() if value is None else integer(value, "threads", 1, 65536)


def _axis(name: str, array: Any, dtypes: tuple[np.dtype[Any], ...]) -> View:
    view = view_of(array, name, dtypes)
    if view.ndim != 1:
        raise ValueError(f"{name}: {view.ndim} axes, expected one")
    return view


def lengths(name: str, array: Any) -> View:
    """Lengths, starts; an empty list, which NumPy takes for floats, is none of them."""
    empty = isinstance(array, (list, tuple)) and not array
    return _axis(name, np.empty(0, np.int64) if empty else array, INTEGERS)


def pages_of(block_table: Any) -> View:
    """A block table, which has two axes."""
    view = view_of(block_table, "block_table", INTEGERS)
    if view.ndim != 2:
        raise ValueError(f"block_table: {view.ndim} axes, expected [b, most pages]")
    return view


def sides(window: Any) -> tuple[int, int]:
    """A window's left and right."""
    try:
        left, right = window
    except (TypeError, ValueError):
        raise TypeError(f"window: {window!r}, expected a pair (left, right); -1: no bound on that side") from None
    return integer(left, "window: left", -1), integer(right, "window: right", -1)


def _scales(name: str, array: Any, axes: Axes) -> View:
    view = view_of(array, name, (FLOATS[1],))
    if view.ndim != axes.ndim:
        raise ValueError(f"{name}: {view.ndim} axes, expected {axes.ndim}, as {name[0]} has")
    return Axes(view.ndim, view.shape[:-3], axes.bnhd).engine(view)


_REALS = ("scale", "softcap", "dropout")
_INTEGERS = ("q_offset", "kv_offset", "tree_tokens", "block_size")
_HEADS = ("alibi", "sinks")
_SEQUENCES = ("q_lengths", "kv_lengths", "q_starts", "kv_starts")


def for_engine(options: Any, axes: Axes, k_axes: Axes, v_axes: Axes) -> dict[str, Any]:
    """What the engine reads of the options that were given: arrays as views on its axes. axes are q's."""
    given = {name: value for name, value in options.items() if value is not None}
    out: dict[str, Any] = {}
    out.update((name, real(given[name], name)) for name in _REALS if name in given)
    out.update((name, integer(given[name], name)) for name in _INTEGERS if name in given)
    out.update((name, _axis(name, given[name], FLOATS)) for name in _HEADS if name in given)
    out.update((name, lengths(name, given[name])) for name in _SEQUENCES if name in given)
    out.update((name, boolean(given[name], name)) for name in ("causal", "native_products") if name in given)
    if "seed" in given:
        out["seed"] = integer(given["seed"], "seed", 0, 2**64 - 1)
    if "align" in given:
        out["top_left"] = one_of(given["align"], "align", "bottom-right", "top-left") == "top-left"
    if "window" in given:
        out["window_left"], out["window_right"] = sides(given["window"])
    for name in ("mask", "blocks"):
        if name in given:
            out[name] = axes.broadcast(view_of(given[name], name, BOOLS), name)
    if "bias" in given:
        out["bias"] = axes.broadcast(view_of(given["bias"], "bias"), "bias")
    if "tree_mask" in given:
        out["tree_mask"] = axes.broadcast(view_of(given["tree_mask"], "tree_mask", INTEGERS[:1]), "tree_mask")
    for name, of in (("k_scales", k_axes), ("v_scales", v_axes)):
        if name in given:
            out[name] = _scales(name, given[name], of)
    if "block_table" in given:
        out["block_table"] = pages_of(given["block_table"])
    return out
