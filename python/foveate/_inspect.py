# Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
"""What attention looks at, in arrays, words and pictures."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypedDict, Unpack, cast

from foveate import _engine
from foveate._arrays import View, view_of
from foveate._axes import Axes, same_lead
from foveate._inspect_html import html_of
from foveate._inspect_plot import plot_of
from foveate._names import names_checked
from foveate._options import ScoreOptions, for_engine, integer, one_of, threads_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class HeadFigures(NamedTuple):
    """Figures of heads, each an array [..., h]; NaN and -1 where there is none to give.

    Means and shares are over the rows that see a key and are finite.

    Attributes:
        rows: all rows of the head, up to its sequence's length.
        empty: rows that see no key.
        not_finite: rows with NaN or Inf in scores or output.
        saturated: rows with one weight above 0.99, of more than one key.
        first_not_finite: the first row that is not finite.
        pairs: pairs of a query and a key that takes part.
        product_mean: of scale * q . k over these pairs.
        product_variance: likewise.
        largest_score: its value.
        largest_score_row: its query.
        largest_score_key: its key.
        largest_weight: of rows with more than one key.
        largest_weight_row: its query.
        largest_weight_key: its key.
        lse_mean: of the logarithm of the sum of exp(scores).
        entropy_mean: of the weights of a row, in nats.
        effective_keys_mean: of exp(entropy): how many keys a row looks at.
        jacobian_mean: of the norm of softmax's derivative, diag(a) - a a^T; 0 passes no gradient on.
        first_key_mass: mean weight of key 0.
        sink_mass: mean share that the head's sink takes.
    """

    rows: View
    empty: View
    not_finite: View
    saturated: View
    first_not_finite: View
    pairs: View
    product_mean: View
    product_variance: View
    largest_score: View
    largest_score_row: View
    largest_score_key: View
    largest_weight: View
    largest_weight_row: View
    largest_weight_key: View
    lse_mean: View
    entropy_mean: View
    effective_keys_mean: View
    jacobian_mean: View
    first_key_mass: View
    sink_mass: View


class RowFigures(NamedTuple):
    """Figures of rows, each an array [..., h, n_q]; NaN and -1 where there is none to give.

    Attributes:
        keys: how many take part.
        product_mean: of scale * q . k over them.
        product_variance: likewise.
        largest_score: of them.
        largest_key: the key of the largest weight.
        largest_weight: its weight.
        lse: the logarithm of the sum of exp(scores).
        entropy: of the weights, in nats; exp(entropy) is the effective number of keys.
        jacobian: the norm of softmax's derivative, diag(a) - a a^T.
    """

    keys: View
    product_mean: View
    product_variance: View
    largest_score: View
    largest_key: View
    largest_weight: View
    lse: View
    entropy: View
    jacobian: View


class Top(NamedTuple):
    """The greatest weights of each row, each an array [..., h, n_q, top_keys].

    Attributes:
        keys: largest first; -1 where no more keys have any weight.
        weights: theirs; 0 there.
    """

    keys: View
    weights: View


class Maps(NamedTuple):
    """Weights pooled into cells, each an array [..., h, rows, columns]; rows are queries, columns are keys.

    Attributes:
        largest: weight of each cell.
        mean: weight of each cell.
    """

    largest: View
    mean: View


class Text(TypedDict):
    """A sentence in each language."""

    en: str
    zh: str


class Finding(TypedDict):
    """What stands out in some heads of one sequence, a dict.

    Attributes:
        kind: "not_finite", "empty", "one_visible", "padding", "sink", "one_key", "learned_sink", "saturated", "even",
            "offset" or "alike".
        batch: the sequence, all leading axes counted as one.
        heads: those of which it can be said.
        key: of "sink" and "one_key" the key; else -1.
        offset: of "offset" the key looked at minus the query's position.
        least: over these heads, the share of mass or of rows; of "alike" the distance.
        most: likewise.
        text: a sentence, by language: {"en": ..., "zh": ...}.
    """

    kind: str
    batch: int
    heads: list[int]
    key: int
    offset: int
    least: float
    most: float
    text: Text


class NotFinite(TypedDict):
    """Where the first NaN or Inf of a head came from, a dict.

    Attributes:
        batch: the sequence, all leading axes counted as one.
        head: of it.
        rows: how many rows of it are not finite.
        row: the first of them.
        origin: where it came from: "q", "k", "v", "bias", "sink", "product", "scale", "score" or "output".
        overflow: finite numbers made it; else it was given.
        key: the key that has to do with it, or -1.
        component: of q, k, v or o, or -1.
        value: what was given, or what the step made.
        outcome: why the row is not finite: "nan", "opposite" (inf - inf, or 0 * inf), "softmax" (a score is +inf),
            "all_lowest" (every score is -inf) or "sum" (inf in o).
        text: a sentence, by language: {"en": ..., "zh": ...}.
    """

    batch: int
    head: int
    rows: int
    row: int
    origin: str
    overflow: bool
    key: int
    component: int
    value: float
    outcome: str
    text: Text


class Similar(NamedTuple):
    """Two heads of one sequence that attend nearly alike.

    Attributes:
        batch: the sequence, all leading axes counted as one.
        first: head.
        second: head.
        distance: 0: the same, 1: no key in common.
    """

    batch: int
    first: int
    second: int
    distance: float


class Inspection:
    """What inspect found. Arrays are NumPy's and read-only; print() shows the report, a notebook a shorter one.

    Attributes:
        heads: HeadFigures, arrays [..., h].
        rows: RowFigures, arrays [..., h, n_q].
        received: the mass that each key receives, an array [..., h, n_kv].
        top: Top, the largest weights of each row; None without top_keys.
        maps: Maps, weights pooled into cells; None without map_cells.
        findings: what stands out, worst first: a list of Finding.
        not_finite: a NotFinite for each head with rows that are not finite.
        similar: pairs of heads nearly alike, nearest first: a list of Similar.
        scale: what products were multiplied by.
        shape: (b, h_q, n_q, n_kv), b being all leading axes in one.
    """

    heads: HeadFigures
    rows: RowFigures
    received: View
    top: Top | None
    maps: Maps | None
    findings: list[Finding]
    not_finite: list[NotFinite]
    similar: list[Similar]
    scale: float
    shape: tuple[int, int, int, int]

    def __init__(
        self, report: _engine.Report, axes: Axes, h: int, n_q: int, n_kv: int, top_keys: int, sinks: bool
    ) -> None:
        lead = axes.lead + ((h,) if axes.ndim > 2 else ())

        def of_heads(array: View, *more: int) -> View:
            return array.reshape((*lead, *more))

        self.shape = (report.batch(), h, n_q, n_kv)
        self.scale = report.scale
        self.heads = HeadFigures(**{name: of_heads(array) for name, array in report.heads().items()})
        self.rows = RowFigures(**{name: of_heads(array, n_q) for name, array in report.rows().items()})
        self.received = of_heads(report.received(), n_kv)
        self.top = Top(*(of_heads(array, n_q, top_keys) for array in report.top())) if top_keys else None
        height, width, *maps = report.maps()
        self.maps = Maps(*(of_heads(array, height, width) for array in maps)) if height else None
        self.findings = cast("list[Finding]", report.findings())
        self.not_finite = cast("list[NotFinite]", report.not_finite())
        self.similar = [Similar(*pair) for pair in report.similar()]
        texts = (report.text(sinks, axes.bnhd, zh).rstrip("\n") for zh in (False, True))
        self._texts = dict(zip(("en", "zh"), (re.sub(r"--(?=[a-z])", "", text) for text in texts), strict=True))

    def text(self, lang: Literal["en", "zh"] = "en") -> str:
        """What print() shows: what stands out, then a line a head of scores and of weights, for 80 columns."""
        return self._texts[one_of(lang, "lang", "en", "zh")]

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        (b, h, n_q, n_kv), found = self.shape, len(self.findings)
        said = f"{found} finding{'' if found == 1 else 's'}"
        return f"<foveate.Inspection of b={b}, h_q={h}, n_q={n_q}, n_kv={n_kv}: {said}>"

    def plot(self, pooling: Literal["largest", "mean"] = "largest", *, lang: Literal["en", "zh"] = "en") -> Figure:
        """Draws a map of each head with matplotlib, which has to be installed; returns the Figure.

        Queries run down, keys to the right; brighter is more weight, by one logarithmic scale of three decades for all.
        A weight of exactly 0, what is masked among them, is grey, and red in rows that are not finite. Chinese wants a
        font that has it, of those that are looked for; where there is none the labels are English.
        """
        return plot_of(self, pooling, lang)

    def _repr_html_(self) -> str:
        return html_of(self)


@names_checked(ScoreOptions)
def inspect(
    q: Any,
    k: Any,
    v: Any = None,
    *,
    top_keys: int = 0,
    map_cells: int = 64,
    **options: Unpack[ScoreOptions],
) -> Inspection:
    """What attention over q and k looks at: figures of heads, rows and keys, without the n_q x n_kv matrix.

    Args:
        q: [..., h_q, n_q, d_k], as attention takes it.
        k: [..., h_kv, n_kv, d_k], of a float type.
        v: [..., h_kv, n_kv, d_v], or None: then NaN and Inf in values are not looked for.
        top_keys: so many keys with the greatest weights of each row, at most 1024; 0: none.
        map_cells: most cells of a map along an axis; 0: no maps, which saves a quarter of the time.
        options: those of attention, but for dropout, packed sequences, pages, scales and trees.

    Returns:
        An Inspection: heads, rows, received ([..., h_q, n_kv], the mass each key receives), top, maps, findings,
        not_finite, similar.

    Raises:
        As attention.

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> q, k = rng.standard_normal((2, 4, 96, 16))
    >>> seen = inspect(q, k * np.array([1, 1, 1, 8])[:, None, None])
    >>> seen.heads.entropy_mean.shape, seen.rows.largest_key.shape
    ((4,), (4, 96))
    >>> seen.findings[0]["kind"], seen.findings[0]["heads"]
    ('saturated', [3])
    """
    layout = options.get("layout", "bhnd")
    views = [view_of(array, name) for array, name in ((q, "q"), (k, "k"), (v, "v")) if array is not None or name != "v"]
    axes = [Axes.of(view, name, layout) for view, name in zip(views, "qkv", strict=False)]
    for other, name in zip(axes[1:], "kv", strict=False):
        same_lead(axes[0], other, name)
    engine = [of.engine(view) for of, view in zip(axes, views, strict=True)]
    top_keys, map_cells = integer(top_keys, "top_keys", 0, 1024), integer(map_cells, "map_cells", 0, 65536)
    given = for_engine(options, axes[0], axes[1], axes[1])
    report = _engine.inspect(
        engine[0], engine[1], engine[2] if v is not None else None, given, top_keys, map_cells,
        threads_of(options.get("threads")),
    )  # fmt: skip
    return Inspection(
        report, axes[0], engine[0].shape[1], engine[0].shape[2], engine[1].shape[2], top_keys, "sinks" in given
    )
