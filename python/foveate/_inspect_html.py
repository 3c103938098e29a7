# Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
"""An inspection as HTML for notebooks: the findings, then a table of heads. Text takes the notebook's own colour, so
that it can be read on light and on dark."""

from __future__ import annotations

import math
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from foveate._inspect import Inspection

_MOST_HEADS = 64
_COLUMNS = {
    "entropy": "entropy_mean",
    "effective keys": "effective_keys_mean",
    "score variance": "product_variance",
    "largest weight": "largest_weight",
    "saturated rows": "saturated",
    "mass on key 0": "first_key_mass",
    "mass on the sink": "sink_mass",
    "rows not finite": "not_finite",
}
_CELL = "text-align:right;padding:.15em .7em;font-variant-numeric:tabular-nums"


def html_of(inspection: Inspection) -> str:
    """One element, with no style but its own."""
    b, h, n_q, n_kv = inspection.shape
    title = (
        f"{b} × {h} heads, {n_q:,} queries, {n_kv:,} keys" if b > 1 else f"{h} heads, {n_q:,} queries, {n_kv:,} keys"
    )
    sentences = [finding["text"]["en"] for finding in inspection.findings] or ["Nothing stands out."]
    said = "".join(f"<li>{escape(sentence)}</li>" for sentence in sentences)
    return (
        f'<div style="color:inherit"><p><b>foveate.inspect</b> · {title}</p>'
        f'<ul style="margin:.3em 0">{said}</ul>{_table(inspection)}</div>'
    )


def _table(inspection: Inspection) -> str:
    b, h = inspection.shape[:2]
    columns = {name: getattr(inspection.heads, field).reshape(b * h) for name, field in _COLUMNS.items()}
    heading = "".join(f'<th scope="col" style="{_CELL}">{name}</th>' for name in ("head", *columns))
    rows = []
    for number in range(min(b * h, _MOST_HEADS)):
        name = f"{number // h}, {number % h}" if b > 1 else str(number)
        cells = "".join(f'<td style="{_CELL}">{_figure(column[number])}</td>' for column in columns.values())
        rows.append(f'<tr><th scope="row" style="{_CELL}">{name}</th>{cells}</tr>')
    more = f"<p>… {b * h - _MOST_HEADS:,} heads more</p>" if b * h > _MOST_HEADS else ""
    style = 'style="border-collapse:collapse;background:transparent;color:inherit"'
    table = f"<table {style}><thead><tr>{heading}</tr></thead><tbody>{''.join(rows)}</tbody></table>"
    # The table scrolls by itself where the page is narrow.
    return f'<div tabindex="0" style="overflow-x:auto;max-width:100%">{table}</div>{more}'


def _figure(value: float) -> str:
    if value != value:
        return "–"
    if 0.9995 <= value < 1:  # not told as 1
        return f"{math.floor(value * 1e4) / 1e4:.4f}"
    return f"{int(value):,}" if float(value).is_integer() else f"{value:.3g}"
