# Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
"""What is to be said of one attention call: figures of its heads, what stands out, what looks wrong with its mask."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

import foveate
from foveate import Inspection
from foveate.torch._padding import Padding

#: Weight of real tokens on padding below which nothing is said: masks by -10000 and the like leave none of it.
_ATTENDED = 1e-3

#: A bias below it is meant as a mask.
_MASKING = -1e4


@dataclass
class Looked:
    """One call. sums are of each head, [h], over its `rows` real rows with figures."""

    b: int
    n_q: int
    n_kv: int
    rows: np.ndarray[Any, Any]
    sums: dict[str, np.ndarray[Any, Any]]
    worst: dict[str, np.ndarray[Any, Any]]
    marks: dict[str, np.ndarray[Any, Any]]
    faults: list[tuple[str, str]]


def look(q: Tensor, k: Tensor, v: Tensor, options: dict[str, Any], padding: Padding) -> Looked:
    """Looks at a call of foveate.attention with heads before tokens, q [..., h, n, d]."""
    q, k, v = (tensor.detach().cpu() for tensor in (q, k, v))
    options = {name: of.detach().cpu() if isinstance(of, Tensor) else of for name, of in options.items()}
    seen = foveate.inspect(q, k, v, map_cells=0, **options)
    b, _, n_q, n_kv = seen.shape
    keys, rows = padding.of(b, n_kv), padding.of(b, n_q)
    real = torch.ones(b, n_q, dtype=torch.bool) if rows is None else ~rows
    if q.ndim != 4:
        keys = None
    on_first, on_padding = _weight_on(q, k, options, keys)
    sequences = _Sequences(b, real, keys, padding.only_claimed(b, n_kv))
    faults = [*_inverted(q, options, sequences), *_attended(on_padding, seen, sequences)]
    # A mask that is the wrong way round explains rows without keys.
    faults += _not_finite(seen) + ([] if faults and faults[0][0] == "inverted" else _without_keys(seen, real))
    return Looked(b, n_q, n_kv, *_figures(seen, on_first, real), _marks(seen), faults)


@dataclass
class _Sequences:
    b: int
    real: Tensor  #: [b, n_q]
    padding: Tensor | None  #: [b, n_kv]
    only_claimed: bool  #: and nothing but the mask itself says so


def _weight_on(q: Tensor, k: Tensor, options: dict[str, Any], padding: Tensor | None) -> tuple[Tensor, Tensor]:
    """Each row's weight on the first key and on padding, [b, h, n_q]: attention over values of 1 there, 0 elsewhere."""
    v = torch.zeros(*k.shape[:-1], 2)
    v[..., :1, 0] = 1
    if padding is not None:
        v[..., 1] = padding[:, None]
    o: Any = foveate.attention(q, k, v.to(k.dtype), **options)
    first, on_padding = o.double().reshape(-1, *o.shape[-3:] if o.ndim > 2 else (1, *o.shape)).unbind(-1)
    return first, on_padding


def _figures(seen: Inspection, on_first: Tensor, real: Tensor) -> tuple[Any, dict[str, Any], dict[str, Any]]:
    """Sums over rows of tokens that are not padding, and the largest weight and score."""
    b, h, n_q, _ = seen.shape
    of = {name: np.asarray(array).reshape(b, h, n_q) for name, array in seen.rows._asdict().items()}
    known = np.isfinite(of["entropy"]) & real.numpy()[:, None, :]

    def total(values: Any) -> Any:
        return np.where(known, values, 0).sum((0, 2))

    saturated = (of["largest_weight"] > 0.99) & (of["keys"] > 1)
    sums = {
        "effective_keys": total(np.exp(of["entropy"])),
        "visible_keys": total(of["keys"]),
        "entropy": total(of["entropy"]),
        "saturated": total(saturated),
        "jacobian": total(of["jacobian"]),
        "score_variance": total(of["product_variance"]),
        "first_key_mass": total(on_first.numpy()),
    }
    largest = ("largest_weight", "largest_score")
    return (
        known.sum((0, 2)),
        sums,
        {name: np.where(known, of[name], -np.inf).max((0, 2), initial=-np.inf) for name in largest},
    )


def _marks(seen: Inspection) -> dict[str, Any]:
    """How many of the sequences have a head of that kind, by kind and head: [h]."""
    marks: dict[str, Any] = {}
    for finding in seen.findings:
        counts = marks.setdefault(finding["kind"], np.zeros(seen.shape[1]))
        counts[finding["heads"]] += 1
    return marks


def _not_finite(seen: Inspection) -> list[tuple[str, str]]:
    texts = [of["text"]["en"].rstrip(".") for of in seen.findings if of["kind"] == "not_finite"]
    return [("not_finite", text) for text in texts[:1]]


def _without_keys(seen: Inspection, real: Tensor) -> list[tuple[str, str]]:
    b, h, n_q, _ = seen.shape
    empty = (np.asarray(seen.rows.keys).reshape(b, h, n_q) == 0) & real.numpy()[:, None, :]
    count = int(empty.any(1).sum())
    if not count:
        return []
    sequence, _, row = (int(index) for index in np.argwhere(empty)[0])
    where = f"row {row}" + (f" of sequence {sequence}" if b > 1 else "")
    rows = "1 row sees" if count == 1 else f"{count} rows see"
    return [("no_key", f"{rows} no key, so that the output there is 0; the first is {where}")]


def _visible(options: dict[str, Any], like: Tensor) -> Tensor | None:
    """Which pairs a mask or bias lets through in some head, [b or 1, n_q or 1, n_kv or 1]; None: there is neither."""
    visible: Tensor | None = options.get("mask")
    bias = options.get("bias")
    if bias is not None:
        # NaN is no mask.
        through = ~(bias <= _MASKING)
        visible = through if visible is None else visible & through
    if visible is None:
        return None
    visible = visible.reshape((1,) * max(0, like.ndim - visible.ndim) + visible.shape)
    if visible.ndim < 3:
        visible = visible[None]
    heads = visible.any(-3)
    lead = heads.shape[:-2]
    whole = torch.broadcast_to(heads, (*(like.shape[:-3] if lead.numel() > 1 else lead), *heads.shape[-2:]))
    return whole.reshape(-1, *heads.shape[-2:])


def _inverted(q: Tensor, options: dict[str, Any], of: _Sequences) -> list[tuple[str, str]]:
    visible = _visible(options, q)
    if visible is None or visible.shape[-1] < 2:
        return []
    n_q, n_kv = q.shape[-2], visible.shape[-1]
    visible = visible.expand(of.b, n_q, n_kv)
    hidden = ~visible.any((1, 2))
    real = of.real if of.padding is None else of.real & (~of.padding).any(1, keepdim=True)
    wrongly = hidden & (real.any(1) | of.only_claimed)
    if bool(wrongly.any()):
        sequence = int(wrongly.nonzero()[0])
        which = "every sequence" if bool(hidden.all()) else f"sequence {sequence}"
        return [("inverted", f"the mask looks inverted: it hides all keys from {which}")]
    # Pairs that every mask of ordinary use has: of tokens with themselves and those before.
    pairs = visible & of.real[:, :, None]
    if n_q == n_kv:  # else they may be of two texts
        pairs = pairs & torch.ones(n_q, n_kv, dtype=torch.bool).tril()
    if of.padding is not None:
        pairs = pairs & ~of.padding[:, None, :]
    if n_q < 2 or bool((pairs.any((1, 2)) | ~real.any(1)).any()):
        return []
    padded = of.padding is not None and bool(of.padding.any())
    if n_q != n_kv:
        return [("inverted", "the mask looks inverted: tokens see padding alone")]
    only = "later tokens and padding" if padded else "later tokens"
    return [("inverted", f"the mask looks inverted: tokens see {only} alone, neither themselves nor those before")]


def _attended(on_padding: Tensor, seen: Inspection, of: _Sequences) -> list[tuple[str, str]]:
    """Weight that tokens give to padding, where it is known; else what inspect says of keys that are 0 at the end."""
    if of.padding is None:
        zero = [each for each in seen.findings if each["kind"] == "padding" and each["most"] > _ATTENDED]
        return [("padding", each["text"]["en"].rstrip(".")) for each in zero[:1]]
    rows = of.real & of.padding.any(1, keepdim=True) & (~of.padding).any(1, keepdim=True)
    if not bool(rows.any()):
        return []
    by_head = (on_padding * rows[:, None, :]).nan_to_num().sum((0, 2)) / rows.sum()
    if not bool((by_head > _ATTENDED).any()):
        return []
    mean, most = float(by_head.mean()), float(by_head.max())
    if mean > 0.99:
        return [("inverted", "the mask looks inverted: tokens give all their weight to padding")]
    text = f"padding is attended to: tokens give {_percent(mean)} of their weight to it"
    return [("padding", f"{text}, most in head {int(by_head.argmax())}: {_percent(most)}")]


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %" if share >= 0.01 else f"{100 * share:.2f} %"
