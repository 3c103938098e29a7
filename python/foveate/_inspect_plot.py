# Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
"""Maps of heads, drawn by matplotlib as the command line's --figure draws them: cividis on a logarithmic scale, grey
for a weight of exactly 0, red for that in rows that are not finite."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from foveate._arrays import View
from foveate._options import one_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from foveate._inspect import Inspection

_CHINESE_FONTS = (
    "Noto Sans CJK SC", "Noto Sans CJK JP", "Source Han Sans SC", "WenQuanYi Micro Hei", "WenQuanYi Zen Hei",
    "PingFang SC", "Heiti SC", "Microsoft YaHei", "SimHei",
)  # fmt: skip
_MOST_ABREAST = 4
_INCHES = 2.6  # of a map's side
_MOST_HEADS = 64
_DECADES = 3
_NONE, _NOT_FINITE = "#e4e2dc", "#d98b82"


def plot_of(inspection: Inspection, pooling: str, lang: str) -> Figure:
    """A Figure with a map of each head, the first 64 of them."""
    one_of(lang, "lang", "en", "zh")
    one_of(pooling, "pooling", "largest", "mean")
    if inspection.maps is None:
        raise ValueError("maps: there are none; call inspect with map_cells=64")
    try:
        from matplotlib.colors import LogNorm
        from matplotlib.figure import Figure
    except ImportError:
        raise ImportError("plot() draws with matplotlib; pip install matplotlib") from None
    b, h, n_q, n_kv = inspection.shape
    array = getattr(inspection.maps, pooling)
    maps = array.reshape(b * h, *array.shape[-2:])[:_MOST_HEADS]
    red = _not_finite(inspection, array.shape[-2])[:_MOST_HEADS]
    columns = max(1, min(_MOST_ABREAST, len(maps)))
    rows = max(1, -(-len(maps) // columns))
    figure = Figure(figsize=(_INCHES * columns + 1, _INCHES * rows + 0.4), layout="constrained")
    panels = figure.subplots(rows, columns, squeeze=False, sharex=True, sharey=True).ravel()
    families, lang = _families(lang)
    font: dict[str, Any] = {"fontfamily": families}
    top = _scale_top(float(maps.max(initial=0)))
    norm = LogNorm(top / 10**_DECADES, top)
    image = None
    for number, panel in enumerate(panels):
        if number >= len(maps):
            panel.set_axis_off()
            continue
        extent = (-0.5, n_kv - 0.5, n_q - 0.5, -0.5)
        image = _draw(panel, maps[number], red[number], norm, extent)
        panel.set_title(_title(number, b, h, lang), fontsize=9, **font)
    if image is not None:
        _explain(figure, image, list(panels), top, bool(red.any())).set_label(_label(pooling, lang), **font)
    figure.supxlabel({"en": "key", "zh": "键"}[lang], fontsize=9, **font)
    figure.supylabel({"en": "query", "zh": "查询"}[lang], fontsize=9, **font)
    return figure


def _scale_top(largest: float) -> float:
    """Where the scale ends: the least of 1, 0.5, 0.2, 0.1, 0.05, ... that no weight exceeds."""
    steps = [float(f"{step}e-{decade}") for decade in range(1, 10) for step in (10, 5, 2)]
    return min((step for step in steps if largest <= step), default=1.0) if largest > 0 else 1.0


def _not_finite(inspection: Inspection, cells: int) -> View:
    """Which rows of cells have a query that is not finite: [heads, cells]."""
    b, h, n_q, _ = inspection.shape
    rows = inspection.rows
    bad = ((rows.keys > 0) & ~np.isfinite(rows.lse)).reshape(b * h, n_q)
    red = np.zeros((b * h, cells), np.bool_)
    heads, queries = np.nonzero(bad)
    red[heads, queries * cells // max(1, n_q)] = True
    return red


def _draw(panel: Any, cells: View, red: View, norm: Any, extent: Any) -> Any:
    """One map: its weights, and over them what is not finite."""
    from matplotlib.colors import ListedColormap

    panel.set_facecolor(_NONE)
    shown: dict[str, Any] = {"extent": extent, "aspect": "auto", "interpolation": "nearest"}
    image = panel.imshow(np.ma.masked_less_equal(cells, 0), norm=norm, cmap="cividis", **shown)
    if red.any():
        marked = np.ma.masked_equal((red[:, None] & (cells <= 0)).astype(float), 0)
        panel.imshow(marked, cmap=ListedColormap([_NOT_FINITE]), vmin=0, vmax=1, **shown)
    return image


def _explain(figure: Figure, image: Any, panels: list[Any], top: float, any_red: bool) -> Any:
    """The bar of colours, and what those beside it mean."""
    from matplotlib.patches import Patch

    bar = figure.colorbar(image, ax=panels)
    ticks = [top / 10**decade for decade in range(_DECADES + 1)]
    bar.set_ticks(ticks, labels=[f"{100 * tick:.3g} %" for tick in ticks], minor=False)
    bar.minorticks_off()
    meanings = {"0": _NONE} | ({"NaN, Inf": _NOT_FINITE} if any_red else {})
    patches = [Patch(facecolor=color, label=label) for label, color in meanings.items()]
    figure.legend(handles=patches, loc="outside lower right", ncols=2, frameon=False, fontsize=8)
    return bar


def _families(lang: str) -> tuple[list[str], str]:
    """matplotlib's own fonts, and behind them those installed that have Chinese; and the language they can write."""
    from matplotlib import font_manager, rcParams

    own = list(rcParams["font.family"])
    if lang != "zh":
        return own, lang
    installed = set(font_manager.get_font_names())
    chinese = [name for name in _CHINESE_FONTS if name in installed]
    return own + chinese, "zh" if chinese else "en"


def _title(number: int, b: int, h: int, lang: str) -> str:
    head = {"en": "head {}", "zh": "头 {}"}[lang].format(number % h)
    return head if b == 1 else {"en": "batch {}, {}", "zh": "批次 {}，{}"}[lang].format(number // h, head)


def _label(pooling: str, lang: str) -> str:
    return {
        "largest": {"en": "largest weight in the cell", "zh": "格内最大权重"},
        "mean": {"en": "mean weight in the cell", "zh": "格内平均权重"},
    }[pooling][lang]
