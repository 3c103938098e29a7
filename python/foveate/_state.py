# Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
"""What stands around attention: states of pieces merged, dropout written out, bitmaps of blocks."""

from __future__ import annotations

from typing import Any, Literal, SupportsFloat, SupportsIndex

from foveate import _engine
from foveate._arrays import BOOLS, ArrayT, Lists, View, computing, like, make, view_of
from foveate._attention import OutputAndLse
from foveate._axes import Axes, Layout
from foveate._options import boolean, for_engine, integer, sides, threads_of


def merge(
    o_a: ArrayT | Lists,
    lse_a: Any,
    o_b: Any,
    lse_b: Any,
    *,
    layout: Layout = "bhnd",
    threads: SupportsIndex | None = None,
) -> OutputAndLse[ArrayT]:
    """Attention over two sets of keys from the results over each: for keys that come in pieces.

    Pieces are computed with q_offset and kv_offset, so that causal masks, windows and ALiBi know where each key stands;
    a sink belongs to exactly one piece. The bits are not those of the whole.

    Args:
        o_a, lse_a: what attention returned of some keys, with return_lse: [..., h, n, d_v] and [..., h, n].
        o_b, lse_b: the same of others.
        layout: of o_a and o_b.

    Returns:
        (o, lse) over both, of the types of o_a and lse_a. Where an lse is -inf the other's row is taken.

    Raises:
        TypeError, ValueError: as attention.

    >>> import numpy as np
    >>> q, k, v = np.random.default_rng(0).standard_normal((3, 4, 2))
    >>> pieces = [attention(q, k[s], v[s], return_lse=True) for s in (slice(0, 3), slice(3, 4))]
    >>> o, lse = merge(*pieces[0], *pieces[1])
    >>> np.allclose(o, attention(q, k, v))
    True
    """
    a = view_of(o_a, "o_a")
    b = view_of(o_b, "o_b", (a.dtype,))
    axes = Axes.of(a, "o_a", layout)
    if b.shape != a.shape:
        raise ValueError(f"o_b: shape {list(b.shape)} does not equal o_a's {list(a.shape)}")
    h, n = axes.engine(a).shape[1:3]
    states = []
    for array, name in ((lse_a, "lse_a"), (lse_b, "lse_b")):
        view = view_of(array, name, (computing(a.dtype),))
        if view.shape != axes.rows(h, n):
            raise ValueError(f"{name}: shape {list(view.shape)}, expected {list(axes.rows(h, n))}")
        states.append(view)
    o, lse = make(a.shape, a.dtype), make(states[0].shape, states[0].dtype)
    _engine.merge(
        axes.engine(a),
        axes.engine_rows(states[0]),
        axes.engine(b),
        axes.engine_rows(states[1]),
        axes.engine(o),
        axes.engine_rows(lse),
        threads_of(threads),
    )
    return OutputAndLse(like(o, o_a), like(lse, o_a))


def dropout_mask(
    shape: tuple[int, int, int, int],
    dropout: SupportsFloat,
    seed: SupportsIndex = 0,
    *,
    align: Literal["bottom-right", "top-left"] = "bottom-right",
    q_lengths: Any = None,
    kv_lengths: Any = None,
    q_offset: SupportsIndex | None = None,
    kv_offset: SupportsIndex | None = None,
    threads: SupportsIndex | None = None,
) -> View:
    """Which weights attention keeps under dropout: bool [b, h_q, n_q, n_kv], True = kept.

    Args:
        shape: (b, h_q, n_q, n_kv).
        dropout, seed, align, q_lengths, kv_lengths, q_offset, kv_offset: what attention is given.

    Returns:
        A NumPy array. Every pair is written, whether it takes part or not.

    Raises:
        TypeError, ValueError: as attention.

    >>> dropout_mask((1, 1, 2, 4), 0.5, seed=1).shape
    (1, 1, 2, 4)
    """
    try:
        extents = tuple(integer(extent, "shape", 0) for extent in shape)
    except TypeError:
        raise TypeError(f"shape: {shape!r}, expected (b, h_q, n_q, n_kv)") from None
    if len(extents) != 4:
        raise ValueError(f"shape: {len(extents)} extents, expected (b, h_q, n_q, n_kv)")
    keep = make(extents, BOOLS[0])
    axes = Axes(4, extents[:1], False)
    given = {
        "dropout": dropout, "seed": seed, "align": align, "q_lengths": q_lengths, "kv_lengths": kv_lengths,
        "q_offset": q_offset, "kv_offset": kv_offset,
    }  # fmt: skip
    _engine.dropout_mask(keep, for_engine(given, axes, axes, axes), threads_of(threads))
    return keep


def make_blocks(
    n_q: SupportsIndex,
    n_kv: SupportsIndex,
    *,
    block_size: SupportsIndex = 64,
    window: tuple[int, int] = (0, 0),
    global_tokens: SupportsIndex = 0,
    random_blocks: SupportsIndex = 0,
    seed: SupportsIndex = 0,
    causal: bool = False,
    batch: SupportsIndex = 1,
    heads: SupportsIndex = 1,
) -> View:
    """A bitmap for attention's blocks: sliding windows, global tokens and random blocks, as in Longformer and BigBird.

    Args:
        n_q, n_kv: numbers of queries and keys.
        block_size: rows and columns of a block.
        window: (left, right) of each query's position, both inclusive; -1: no bound on that side.
        global_tokens: so many first keys that every query sees, and first queries that see every key.
        random_blocks: so many more blocks in each row of blocks, other ones in every head.
        causal: only blocks with some pair j <= p_i; attention's causal is wanted beside it for the pairs.
        batch, heads: how many bitmaps; 1: one that all share.

    Returns:
        bool [batch, heads, ceil(n_q / block_size), ceil(n_kv / block_size)], a NumPy array.

    Raises:
        ValueError: sizes below 0, and the like.

    >>> make_blocks(128, 256, window=(64, 0), causal=True).astype(int)
    array([[[[0, 1, 1, 0],
             [0, 0, 1, 1]]]])
    """
    sizes = {"n_q": n_q, "n_kv": n_kv, "global_tokens": global_tokens, "random_blocks": random_blocks}
    rows, columns, tokens, random = (integer(size, name, 0) for name, size in sizes.items())
    size = integer(block_size, "block_size", 1)
    extents = integer(batch, "batch", 0), integer(heads, "heads", 0), -(-rows // size), -(-columns // size)
    blocks = make(extents, BOOLS[0])
    left, right = sides(window)
    drawn = integer(seed, "seed", 0, 2**64 - 1)
    _engine.make_blocks(blocks, rows, columns, size, left, right, tokens, random, drawn, boolean(causal, "causal"))
    return blocks
