# Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
"""A cache of keys and values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, SupportsIndex, TypedDict, Unpack, cast, overload

from foveate import _engine
from foveate._arrays import FLOATS, ArrayT, Lists, View, computing, dtype_named, make, name_of, view_of
from foveate._attention import OutputAndLse, OutputAndWeights, OutputLseAndWeights, Outputs, result_of
from foveate._axes import Axes, Layout
from foveate._names import names_checked
from foveate._operands import Output, engines, given_output, longest, output_of
from foveate._options import AttentionOptions, boolean, for_engine, integer, lengths, threads_of

_FROM_THE_CACHE = ("k_scales", "v_scales", "kv_lengths", "kv_starts", "block_table")


class Usage(TypedDict):
    """What a cache holds; a page that several sequences share counts once.

    Attributes:
        sequences: how many there are.
        pages_in_use: pages that hold keys.
        pages_free: that there is memory for.
        bytes_in_use: of the pages in use, scales included.
        bytes_held: of all pages.
    """

    sequences: int
    pages_in_use: int
    pages_free: int
    bytes_in_use: int
    bytes_held: int


class KvCache:
    """Keys and values of many sequences, of one attention layer, each growing at its end as tokens come.

    They lie in pages; a fork shares its original's pages until one of them writes. A row attended to from the cache has
    the bits that attention gives over the same stored numbers in one plain array. Threads may share a cache: whoever
    changes it waits for those who read it. A signal's handler or a finalizer that interrupts an attend may read its
    cache; if it changes it, it gets a RuntimeError. os.fork waits for changes, and the child may go on with its copy.

    Args:
        h_kv, d_k, d_v: heads and head dimensions; d_v: d_k unless given.
        k_dtype, v_dtype: what is stored: "float32", "float16", "bfloat16" or "int8" each, or both "float64".
        page_size: keys to a page; 0: each sequence in one run, as long as it needs.
        max_pages: so many pages, never more, their memory taken at once; None: as many as it takes.
        k_scales: scales of the channels of int8 keys, instead of one a row: float32 [h_kv or 1, d_k].

    Raises:
        ValueError: what breaks the contract, in one line. MemoryError: no memory for the pages.

    >>> import numpy as np
    >>> cache = KvCache(h_kv=2, d_k=4)
    >>> prompt = cache.add()
    >>> k, v = np.random.default_rng(0).standard_normal((2, 2, 5, 4), dtype=np.float32)
    >>> cache.append(prompt, k, v)
    >>> branch = cache.fork(prompt)
    >>> cache.append(branch, k[:, :1], v[:, :1])
    >>> cache.length(prompt), cache.length(branch)
    (5, 6)
    >>> q = np.ones((2, 2, 1, 4), np.float32)
    >>> cache.attend(q, [prompt, branch], causal=True).shape
    (2, 2, 1, 4)
    """

    def __init__(
        self,
        h_kv: SupportsIndex,
        d_k: SupportsIndex,
        d_v: SupportsIndex | None = None,
        *,
        k_dtype: Any = "float32",
        v_dtype: Any = None,
        page_size: SupportsIndex = 64,
        max_pages: SupportsIndex | None = None,
        k_scales: Any = None,
    ) -> None:
        self._h_kv, self._d_k = integer(h_kv, "h_kv"), integer(d_k, "d_k")
        self._d_v = self._d_k if d_v is None else integer(d_v, "d_v")
        rows_a_page = integer(page_size, "page_size")
        scales: View | None = None
        if k_scales is not None:
            scales = view_of(k_scales, "k_scales", FLOATS[1:2])
            if scales.ndim != 2:
                raise ValueError(f"k_scales: {scales.ndim} axes, expected [h_kv or 1, d_k]")
            scales = scales[None, :, None, :]
        self._k_name = k_name = name_of(dtype_named(k_dtype, "k_dtype"))
        self._v_name = v_name = k_name if v_dtype is None else name_of(dtype_named(v_dtype, "v_dtype"))
        pages = -1 if max_pages is None else integer(max_pages, "max_pages", 0)
        self._cache = _engine.KvCache(self._h_kv, self._d_k, self._d_v, k_name, v_name, rows_a_page, pages, scales)

    def __repr__(self) -> str:
        v_dtype = "" if self._v_name == self._k_name else f", v_dtype={self._v_name!r}"
        usage = self.usage()
        held = f"{usage['sequences']} sequence{'' if usage['sequences'] == 1 else 's'}, {usage['bytes_in_use']:,} bytes"
        sizes = f"h_kv={self._h_kv}, d_k={self._d_k}, d_v={self._d_v}, k_dtype={self._k_name!r}{v_dtype}"
        return f"<foveate.KvCache of {sizes}: {held}>"

    def __reduce__(self) -> Any:
        raise TypeError("KvCache: not to be copied or pickled; fork() copies a sequence, in the same pages")

    def add(self) -> int:
        """A new sequence, without keys. Its number is never given again."""
        return self._cache.add()

    def fork(self, sequence: SupportsIndex) -> int:
        """A new sequence of the same keys and values, in the same pages."""
        return self._cache.fork(integer(sequence, "sequence"))

    def append(self, sequence: SupportsIndex, k: Any, v: Any, *, layout: Layout = "bhnd") -> None:
        """Puts rows behind the last: k [h_kv, n, d_k] and v [h_kv, n, d_v], of any float types; a leading axis of 1 may
        stand before them, and [n, d] will do for one head."""
        views = []
        for array, name in ((k, "k"), (v, "v")):
            view = view_of(array, name)
            views.append(Axes.of(view, name, layout).engine(view))
        self._cache.append(integer(sequence, "sequence"), *views)

    def truncate(self, sequence: SupportsIndex, length: SupportsIndex) -> None:
        """Keeps the first length keys."""
        self._cache.truncate(integer(sequence, "sequence"), integer(length, "length"))

    def remove(self, sequence: SupportsIndex) -> None:
        """Ends a sequence. Its pages are free once nobody else has them."""
        self._cache.remove(integer(sequence, "sequence"))

    def length(self, sequence: SupportsIndex) -> int:
        """How many keys a sequence has."""
        number = integer(sequence, "sequence")
        length = self._cache.length(number)
        if length < 0:
            raise ValueError(f"sequence: {number} is not in the cache; it was removed, or add() never gave it")
        return length

    def usage(self) -> Usage:
        """What the cache holds."""
        return cast(Usage, self._cache.usage())

    # fmt: off
    @overload
    def attend(
        self, q: ArrayT | Lists, sequences: Sequence[SupportsIndex], *, out: Any = None,
        return_lse: Literal[False] = False, return_weights: Literal[False] = False, **options: Unpack[AttentionOptions],
    ) -> ArrayT: ...
    @overload
    def attend(
        self, q: ArrayT | Lists, sequences: Sequence[SupportsIndex], *, out: Any = None,
        return_lse: Literal[True], return_weights: Literal[False] = False, **options: Unpack[AttentionOptions],
    ) -> OutputAndLse[ArrayT]: ...
    @overload
    def attend(
        self, q: ArrayT | Lists, sequences: Sequence[SupportsIndex], *, out: Any = None,
        return_lse: Literal[False] = False, return_weights: Literal[True], **options: Unpack[AttentionOptions],
    ) -> OutputAndWeights[ArrayT]: ...
    @overload
    def attend(
        self, q: ArrayT | Lists, sequences: Sequence[SupportsIndex], *, out: Any = None,
        return_lse: Literal[True], return_weights: Literal[True], **options: Unpack[AttentionOptions],
    ) -> OutputLseAndWeights[ArrayT]: ...
    @overload
    def attend(
        self, q: ArrayT | Lists, sequences: Sequence[SupportsIndex], *, out: Any = None,
        return_lse: bool = False, return_weights: bool = False, **options: Unpack[AttentionOptions],
    ) -> Outputs[ArrayT]: ...
    # fmt: on
    @names_checked(AttentionOptions)
    def attend(
        self,
        q: ArrayT | Lists,
        sequences: Sequence[SupportsIndex],
        *,
        out: Any = None,
        return_lse: bool = False,
        return_weights: bool = False,
        **options: Unpack[AttentionOptions],
    ) -> Outputs[ArrayT]:
        """attention of q over the keys and values of these sequences.

        Args:
            q: [b, h_q, n_q, d_k], a row of the batch for each sequence; for one, [h_q, n_q, d_k] will do. Or packed by
                q_starts: [h_q, total, d_k].
            sequences: their numbers; one may stand twice.
            out, return_lse, return_weights: as attention has them. Weights have as many columns as the longest sequence
                has keys, rounded up to whole pages.
            options: those of attention, but for k_scales, v_scales, kv_lengths, kv_starts and block_table.

        Returns, raises: as attention.
        """
        for name in _FROM_THE_CACHE:
            if options.get(name) is not None:
                raise ValueError(f"{name}: given, but it comes from the cache; leave it out")
        try:
            numbers = [integer(sequence, "sequences") for sequence in sequences]
        except TypeError:
            raise TypeError(f"sequences: {sequences!r}, expected the numbers of sequences") from None
        view = view_of(q, "q")
        axes = Axes.of(view, "q", options.get("layout", "bhnd"))
        engine = axes.engine(view)
        h, n = engine.shape[1:3]
        q_starts = options.get("q_starts")
        pairs = axes if q_starts is None else Axes(4, (len(numbers),), False)
        given = for_engine(options, pairs, axes, axes)
        shape = axes.shape(h, n, self._d_v)
        o = (
            output_of(shape, axes, view.dtype)
            if out is None
            else given_output(out, "out", shape, axes, view.dtype, {"q": (view, engine)})
        )
        lse = weights = None

        def make_weights(n_kv: int) -> View:
            nonlocal weights
            rows = n if q_starts is None else longest(lengths("q_starts", q_starts))
            array = make(pairs.rows(h, rows, n_kv), view.dtype)
            weights = Output(array, pairs.engine_pairs(array))
            return weights.engine

        with_weights = boolean(return_weights, "return_weights")
        if boolean(return_lse, "return_lse"):
            array = make(axes.rows(h, n), computing(view.dtype))
            lse = Output(array, axes.engine_rows(array))
        o_view, lse_view = engines((o, lse))
        self._cache.attend(
            engine, numbers, o_view, lse_view, make_weights if with_weights else None, given,
            threads_of(options.get("threads")),
        )  # fmt: skip
        return result_of(q, o, lse, weights)  # type: ignore[no-any-return]
