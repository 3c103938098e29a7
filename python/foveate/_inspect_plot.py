# Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
"""Maps of heads, drawn by matplotlib."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from foveate._options import check_language

if TYPE_CHECKING:
    from foveate._inspect import Inspection

_CHINESE_FONTS = (
    "Noto Sans CJK SC", "Noto Sans CJK JP", "Source Han Sans SC", "WenQuanYi Micro Hei", "WenQuanYi Zen Hei",
    "PingFang SC", "Heiti SC", "Microsoft YaHei", "SimHei",
)  # fmt: skip
_MOST_ABREAST = 4
_INCHES = 2.6  # of a map's side
_MOST_HEADS = 64


def plot_of(inspection: Inspection, pooling: str, lang: str) -> Any:
    """A Figure with a map of each head, the first 64 of them."""
    check_language(lang)
    if pooling not in ("largest", "mean"):
        raise ValueError(f"pooling: {pooling!r}, expected 'largest' or 'mean'")
    if inspection.maps is None:
        raise ValueError("maps: there are none; call inspect with map_cells=64")
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise ImportError("plot() draws with matplotlib; pip install matplotlib") from None
    b, h, n_q, n_kv = inspection.shape
    array = getattr(inspection.maps, pooling)
    maps = array.reshape(b * h, *array.shape[-2:])[:_MOST_HEADS]
    columns = max(1, min(_MOST_ABREAST, len(maps)))
    rows = max(1, -(-len(maps) // columns))
    figure = Figure(figsize=(_INCHES * columns + 1, _INCHES * rows), layout="constrained")
    panels = figure.subplots(rows, columns, squeeze=False, sharex=True, sharey=True).ravel()
    families, lang = _families(lang)
    font: dict[str, Any] = {"fontfamily": families}
    top = float(maps.max(initial=0)) or 1
    image = None
    for number, panel in enumerate(panels):
        if number >= len(maps):
            panel.set_axis_off()
            continue
        extent = (-0.5, n_kv - 0.5, n_q - 0.5, -0.5)
        image = panel.imshow(maps[number], vmin=0, vmax=top, cmap="Blues", extent=extent, aspect="auto")
        panel.set_title(_title(number, b, h, lang), fontsize=9, **font)
    if image is not None:
        figure.colorbar(image, ax=list(panels)).set_label(_label(pooling, lang), **font)
    figure.supxlabel({"en": "key", "zh": "键"}[lang], fontsize=9, **font)
    figure.supylabel({"en": "query", "zh": "查询"}[lang], fontsize=9, **font)
    return figure


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
