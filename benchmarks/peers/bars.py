# Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
"""Speeds relative to foveate's, as bars: a column for each number of threads, a band for each row."""

from __future__ import annotations

from collections.abc import Sequence

from peers import svg
from peers.figures import RowFigures
from peers.table import number

NAMES, BAR, VALUES = 160, 230, 110  # widths: of peers' names, of a bar as fast as foveate's, of what is past it
COLUMN = NAMES + int(BAR * 1.5) + VALUES
STEP, TITLE, TOP, MARGIN = 16, 22, 64, 20
MOST = 1.5  # a bar is cut here, and its number told


def picture(rows: Sequence[RowFigures]) -> str:
    threads = sorted({row.threads for row in rows})
    names = list(dict.fromkeys(row.work.name for row in rows))
    by = {(row.work.name, row.threads): row for row in rows}
    parts = [svg.text(MARGIN, 28, "Speed relative to foveate's, higher is faster", 16, bold=True)]
    for column, count in enumerate(threads):
        x = MARGIN + column * COLUMN
        parts.append(svg.text(x, 50, f"{count} thread{'s' if count > 1 else ''}", 13, "soft"))
    y = float(TOP)
    for name in names:
        here = [(x, by[name, count]) for x, count in enumerate(threads) if (name, count) in by]
        for column, row in here:
            parts += _band(MARGIN + column * COLUMN, y, row)
        y += TITLE + STEP * max(len(row.peers) for _, row in here) + 14
    return svg.document(2 * MARGIN + COLUMN * max(1, len(threads)), y + 6, "Foveate beside its peers", parts)


def _band(x: float, y: float, row: RowFigures) -> list[str]:
    mine = next((f for name, f in row.peers.items() if name.startswith("foveate")), None)
    fastest_first = sorted(row.peers.items(), key=lambda item: (not item[0].startswith("foveate"), item[1].best))
    share = f", {mine.share:.0%} of the limit" if mine and mine.share is not None else ""
    parts = [svg.text(x, y + 14, f"{row.work.name}, {row.work.unit}{share}", 12, bold=True)]
    left = x + NAMES
    for index, (name, figures) in enumerate(fastest_first):
        top = y + TITLE + index * STEP
        ours = name not in row.speeds
        speed = row.speeds.get(name, mine.best / figures.best if mine else 0.0)
        colour = "ours" if ours else "ahead" if speed > 1.02 else "others"
        told = number(figures.rate) + ("" if ours else f"  ({speed:.2f}x)")
        length = BAR * min(speed, MOST)
        parts.append(svg.text(left - 6, top + 11, name, 11, "ink" if ours else "soft", "end"))
        parts.append(svg.rectangle(left, top + 2, max(length, 1), STEP - 4, colour))
        parts.append(svg.text(left + length + 5, top + 11, told, 11, "ink"))
    return parts
