# Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
"""What attention looks at, in arrays, words and pictures."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple, TypedDict, Unpack, cast

from foveate import _engine
from foveate._arrays import View, view_of
from foveate._axes import Axes, same_lead
from foveate._inspect_html import html_of
from foveate._inspect_plot import plot_of
from foveate._options import ScoreOptions, check_language, check_names, for_engine, integer, threads_of


class HeadFigures(NamedTuple):
    """Figures of heads, each an array [..., h]; NaN and -1 where there is none to give.

    rows are all of a head; empty see no key; not_finite have NaN or Inf, first_not_finite is the first of them;
    saturated have one weight above 0.99 of more than one key. Means are over the other rows. product is scale * q . k.
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
    """Figures of rows, each an array [..., h, n_q]; NaN and -1 where there is none to give. Entropy is in nats;
    jacobian is the norm of the softmax's derivative, diag(p) - p p^T."""

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
    """Keys of the greatest weights of each row, [..., h, n_q, top_keys]; key -1, weight 0 where no more have any."""

    keys: View
    weights: View


class Maps(NamedTuple):
    """Weights pooled into cells, [..., h, rows, columns]: the largest of each cell, and the mean."""

    largest: View
    mean: View


class Text(TypedDict):
    """A sentence in each language."""

    en: str
    zh: str


class Finding(TypedDict):
    """What stands out in some heads of one sequence. batch counts all leading axes as one; key, offset, least and most
    say what kind makes of them, and stand in the text."""

    kind: str
    batch: int
    heads: list[int]
    key: int
    offset: int
    least: float
    most: float
    text: Text


class NotFinite(TypedDict):
    """Where the first NaN or Inf of a head came from."""

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
    """Two heads of one sequence that attend nearly alike; distance 0: the same, 1: no key in common."""

    batch: int
    first: int
    second: int
    distance: float


class Inspection:
    """What inspect found. Arrays are NumPy's and read-only; str() says what stands out, plot() draws the maps."""

    heads: HeadFigures
    rows: RowFigures
    received: View
    top: Top | None
    maps: Maps | None
    findings: list[Finding]
    not_finite: list[NotFinite]
    similar: list[Similar]
    scale: float
    shape: tuple[int, int, int, int]  #: b, h_q, n_q, n_kv, b being all leading axes

    def __init__(self, report: _engine.Report, axes: Axes, h: int, n_q: int, n_kv: int, top_keys: int) -> None:
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

    def text(self, lang: Literal["en", "zh"] = "en") -> str:
        """What stands out, a line a finding."""
        check_language(lang)
        if not self.findings:
            return {"en": "Nothing stands out.", "zh": "没有特别之处。"}[lang]
        return "\n".join(finding["text"][lang] for finding in self.findings)

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        b, h, n_q, n_kv = self.shape
        return f"<foveate.Inspection of b={b}, h_q={h}, n_q={n_q}, n_kv={n_kv}: {len(self.findings)} findings>"

    def plot(self, pooling: Literal["largest", "mean"] = "largest", *, lang: Literal["en", "zh"] = "en") -> Any:
        """Draws a map of each head with matplotlib, which has to be installed; returns the Figure.

        Queries run down, keys to the right, and darker is more weight, by one scale for all. Chinese wants a font that
        has it, of those that are looked for; where there is none the labels are English.
        """
        return plot_of(self, pooling, lang)

    def _repr_html_(self) -> str:
        return html_of(self)


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
    check_names(options, ScoreOptions, "inspect")
    layout = options.get("layout", "bhnd")
    views = [view_of(array, name) for array, name in ((q, "q"), (k, "k"), (v, "v")) if array is not None]
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
    return Inspection(report, axes[0], engine[0].shape[1], engine[0].shape[2], engine[1].shape[2], top_keys)
