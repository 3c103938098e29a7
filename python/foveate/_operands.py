# Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
"""q, k and v of one call on the engine's axes, with the options, and memory for what the call writes."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from foveate._arrays import FLOATS, INT8, View, computing, like, make, narrowed, view_of, writable_view_of
from foveate._axes import Axes, same_lead
from foveate._options import for_engine, lengths, pages_of


@dataclass
class Output:
    """An array that the engine writes: memory of its own, or the caller's."""

    array: View
    engine: View
    given: Any = None
    copy_to: View | None = None
    sum_over: tuple[int, ...] = ()
    summed_shape: tuple[int, ...] = ()
    dtype: np.dtype[Any] | None = None  #: that the result is converted to

    def result(self, q: Any) -> Any:
        """What the caller gets, after the engine has written."""
        if self.copy_to is not None:
            self.copy_to[...] = self.array
        if self.given is not None:
            return self.given
        array = self.array
        if self.sum_over:
            array = array.sum(axis=self.sum_over).reshape(self.summed_shape)
        return like(array if self.dtype in (None, array.dtype) else narrowed(array, self.dtype), q)


def engines(outputs: Iterable[Output | None]) -> list[View | None]:
    """Where the engine writes."""
    return [None if output is None else output.engine for output in outputs]


def output_of(shape: tuple[int, ...], axes: Axes, dtype: np.dtype[Any]) -> Output:
    """Memory of its own for an array of q's, k's or v's axes."""
    array = make(shape, dtype)
    return Output(array, axes.engine(array))


def given_output(
    out: Any, name: str, shape: tuple[int, ...], axes: Axes, dtype: np.dtype[Any], inputs: dict[str, tuple[View, View]]
) -> Output:
    """The caller's memory; where its leading axes cannot be taken as one, it is copied to at the end. inputs: as they
    were given, and as the engine gets them."""
    view = writable_view_of(out, name, (dtype,))
    if view.shape != shape:
        raise ValueError(f"{name}: shape {list(view.shape)}, expected {list(shape)}")
    engine = axes.engine(view)
    in_place = np.may_share_memory(engine, view) or view.size == 0
    for other, (given, seen) in inputs.items():
        hidden = not in_place or not np.may_share_memory(given, seen)  # from the engine, which looks for overlaps too
        if hidden and _overlap(view, given):
            raise ValueError(f"{name}: overlaps the input {other} in memory; give it memory of its own")
    if in_place:
        return Output(view, engine, out)
    own = output_of(shape, axes, dtype)
    return Output(own.array, own.engine, out, view)


def _overlap(a: View, b: View) -> bool:
    """Whether they share memory; true where that takes too long to find out."""
    try:
        return np.shares_memory(a, b, max_work=10_000)  # type: ignore[arg-type, unused-ignore]
    except np.exceptions.TooHardError:
        return True


def shaped(array: Any, name: str, shape: tuple[int, ...], dtypes: tuple[np.dtype[Any], ...] = FLOATS) -> View:
    """An array that has to have this shape."""
    view = view_of(array, name, dtypes)
    if view.shape != shape:
        raise ValueError(f"{name}: shape {list(view.shape)}, expected {list(shape)}")
    return view


def written(dtype: np.dtype[Any], main: np.dtype[Any]) -> np.dtype[Any]:
    """What the engine writes of a gradient that is to be of this type: float64 goes with itself alone."""
    return main if FLOATS[0] in (dtype, main) else dtype


def longest(starts: View) -> int:
    """The length of the longest of packed sequences."""
    return int(np.diff(starts).max(initial=0))


class Operands:
    """One call's inputs. What is wrong with types and axes is said here, all else by the engine."""

    def __init__(self, q: Any, k: Any, v: Any, options: Any) -> None:
        layout = options.get("layout", "bhnd")
        self.q, self.k = view_of(q, "q"), view_of(k, "k", (*FLOATS, INT8))
        self.v = view_of(v, "v", (*FLOATS, INT8))
        self.q_axes, self.k_axes = Axes.of(self.q, "q", layout), Axes.of(self.k, "k", layout)
        self.v_axes = Axes.of(self.v, "v", layout)
        self.scattered = any(options.get(name) is not None for name in ("q_starts", "kv_starts", "block_table"))
        if not self.scattered:
            same_lead(self.q_axes, self.k_axes, "k")
        same_lead(self.k_axes, self.v_axes, "v")
        self.arrays = (self.q_axes.engine(self.q), self.k_axes.engine(self.k), self.v_axes.engine(self.v))
        self.given = options
        self.options = for_engine(options, self.pair_axes(), self.k_axes, self.v_axes)

    def sequences(self) -> tuple[int, int, int]:
        """b, n_q and n_kv as masks and weights have them."""
        q, k, _ = self.arrays
        b, n_q, n_kv = q.shape[0], q.shape[2], k.shape[2]
        q_starts, kv_starts = (
            None if self.given.get(name) is None else lengths(name, self.given[name])
            for name in ("q_starts", "kv_starts")
        )
        if q_starts is not None:
            b, n_q = max(len(q_starts) - 1, 0), longest(q_starts)
        if kv_starts is not None:
            b, n_kv = max(len(kv_starts) - 1, 0), longest(kv_starts)
        if self.given.get("block_table") is not None:
            n_kv *= pages_of(self.given["block_table"]).shape[1]
        return b, n_q, n_kv

    def pair_axes(self) -> Axes:
        """The axes of what has n_q x n_kv entries: q's, or where sequences are packed or in pages, all four."""
        return Axes(4, (self.sequences()[0],), False) if self.scattered else self.q_axes

    def outputs(self, out: Any, lse: bool, weights: bool) -> tuple[Output, Output | None, Output | None]:
        """o, and lse and weights where they are wanted."""
        axes, q, v = self.q_axes, self.arrays[0], self.arrays[2]
        h, n = q.shape[1:3]
        shape = axes.shape(h, n, v.shape[3])
        o = output_of(shape, axes, q.dtype) if out is None else self._given_output(out, shape)
        return o, self._lse(axes.rows(h, n)) if lse else None, self._weights() if weights else None

    def _given_output(self, out: Any, shape: tuple[int, ...]) -> Output:
        inputs = dict(zip("qkv", zip((self.q, self.k, self.v), self.arrays, strict=True), strict=True))
        inputs |= {name: (one, one) for name, one in self.options.items() if isinstance(one, np.ndarray)}
        return given_output(out, "out", shape, self.q_axes, self.q.dtype, inputs)

    def _lse(self, shape: tuple[int, ...]) -> Output:
        array = make(shape, computing(self.q.dtype))
        return Output(array, self.q_axes.engine_rows(array))

    def _weights(self) -> Output:
        axes, (_, n_q, n_kv) = self.pair_axes(), self.sequences()
        array = make(axes.rows(self.arrays[0].shape[1], n_q, n_kv), self.q.dtype)
        return Output(array, axes.engine_pairs(array))

    def backward(self, d_o: Any, o: Any, lse: Any) -> tuple[View, View, View]:
        """o, lse and d_o on the engine's axes."""
        rows = self.q_axes.rows(*self.arrays[0].shape[1:3])
        lse_engine = self.q_axes.engine_rows(shaped(lse, "lse", rows))
        return self.output_shaped(o, "o"), lse_engine, self.output_shaped(d_o, "d_o")

    def output_shaped(self, array: Any, name: str) -> View:
        """An input of o's shape on the engine's axes."""
        h, n = self.arrays[0].shape[1:3]
        return self.q_axes.engine(shaped(array, name, self.q_axes.shape(h, n, self.arrays[2].shape[3])))

    def gradients(self, dq: bool, dk: bool, dv: bool, dbias: bool, dsinks: bool) -> tuple[Output | None, ...]:
        """Memory for those wanted."""
        main = computing(self.q.dtype)
        outputs: list[Output | None] = []
        for wanted, view, axes in ((dq, self.q, self.q_axes), (dk, self.k, self.k_axes), (dv, self.v, self.v_axes)):
            dtype = main if view.dtype == INT8 else view.dtype
            outputs.append(output_of(view.shape, axes, dtype) if wanted else None)
        outputs.append(self._dbias(main) if dbias else None)
        array = make((self.arrays[0].shape[1],), main) if dsinks else None
        outputs.append(None if array is None else Output(array, array))
        return tuple(outputs)

    def _dbias(self, main: np.dtype[Any]) -> Output:
        if "bias" not in self.options:
            raise ValueError("dbias: given without bias")
        bias = view_of(self.given["bias"], "bias")
        extents = self.options["bias"].shape
        if math.prod(extents) == bias.size:
            engine = make(extents, written(bias.dtype, main))
            return Output(engine.reshape(bias.shape), engine, dtype=bias.dtype)
        # Some of several leading axes were broadcast: these are summed over at the end, in the computing type.
        engine, lead = make(extents, main), self.pair_axes().lead
        shape = (1,) * (len(lead) + 3 - bias.ndim) + bias.shape
        over = tuple(axis for axis, extent in enumerate(lead) if shape[axis] != extent)
        return Output(
            engine.reshape(lead + bias.shape[-3:]), engine, sum_over=over, summed_shape=bias.shape, dtype=bias.dtype
        )
