# Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
"""The roofline: each row by its operations a byte and operations a second, under what the machine can do.

A dot is foveate, with the row's number; a ring the best other, on a line between the two.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from peers import svg
from peers.figures import RowFigures
from peers.work import SIZES, Work

LEFT, TOP, WIDTH, HEIGHT, LEGEND = 70, 60, 620, 440, 330
ROOFS = {"f32": "float32", "bf16": "bfloat16", "i8": "int8"}


def intensity(work: Work) -> float:
    """Operations a byte, with every input and output moved once."""
    rows = work.b * work.h_q * work.n_q * (work.d_k + work.d_v) * SIZES[work.dtype]
    return work.flops / (work.bytes + rows)


class Axes:
    """Logarithmic, as wide as what is shown."""

    def __init__(self, points: Sequence[tuple[float, float]], top: float):
        self._x0 = math.floor(math.log10(min(x for x, _ in points)) - 0.2)
        self._x1 = math.ceil(math.log10(max(x for x, _ in points)) + 0.2)
        self._y0 = math.floor(math.log10(min(y for _, y in points)))
        self._y1 = math.log10(max(y for _, y in points)) + 0.2
        self._top = top

    def x(self, value: float) -> float:
        return LEFT + WIDTH * (math.log10(value) - self._x0) / (self._x1 - self._x0)

    def y(self, value: float) -> float:
        return self._top + HEIGHT * (1 - (math.log10(value) - self._y0) / (self._y1 - self._y0))

    def range_x(self) -> tuple[float, float]:
        return 10.0**self._x0, 10.0**self._x1

    def lowest(self) -> float:
        return 10.0**self._y0

    def grid(self) -> list[str]:
        parts = []
        for power in range(self._x0, self._x1 + 1):
            x = self.x(10.0**power)
            parts.append(svg.line(x, self._top, x, self._top + HEIGHT, "line"))
            parts.append(svg.text(x, self._top + HEIGHT + 18, f"{10.0**power:g}", 11, "soft", "middle"))
        for power in range(self._y0, math.floor(self._y1) + 1):
            y = self.y(10.0**power)
            parts.append(svg.line(LEFT, y, LEFT + WIDTH, y, "line"))
            parts.append(svg.text(LEFT - 8, y + 4, f"{10.0**power:g}", 11, "soft", "end"))
        bottom = self._top + HEIGHT + 38
        parts.append(svg.text(LEFT + WIDTH / 2, bottom, "FLOP a byte of inputs and outputs", 12, "soft", "middle"))
        parts.append(svg.text(LEFT, self._top - 10, "GFLOP/s", 12, "soft"))
        return parts


class Places:
    """Where numbers stand, so that none covers another."""

    def __init__(self) -> None:
        self._taken: list[tuple[float, float]] = []

    def take(self, x: float, y: float) -> None:
        self._taken.append((x, y))

    def near(self, x: float, y: float) -> tuple[float, float]:
        """The nearest place around a point that is free."""
        for radius in range(14, 260, 7):
            for step in range(16):
                angle = step * math.pi / 8  # beside a point first, for above and below is its line
                at = (x + radius * math.cos(angle), y + radius * math.sin(angle))
                inside = LEFT + 8 < at[0] < LEFT + WIDTH - 8
                if inside and all(abs(at[0] - a) > 17 or abs(at[1] - b) > 13 for a, b in self._taken):
                    self.take(*at)
                    return at
        return x, y


def picture(rows: Sequence[RowFigures], peaks: dict[int, dict[str, float]]) -> str:
    """A panel for each number of threads."""
    parts: list[str] = []
    y = 0.0
    for threads in sorted(peaks):
        shown = [row for row in rows if row.threads == threads and _mine(row) and row.work.limit(peaks[threads])]
        roofs = {what: peak for what, peak in peaks[threads].items() if what in ROOFS}
        if shown and roofs:
            parts += _panel(y, threads, shown, roofs, peaks[threads].get("read"))
            y += TOP + max(HEIGHT + 60, 17 * len(shown) + 60)
    return svg.document(LEFT + WIDTH + LEGEND, max(y, 60), "Roofline of foveate and its peers", parts)


def _mine(row: RowFigures) -> float | None:
    return next((x.best for name, x in row.peers.items() if name.startswith("foveate")), None)


def _other(row: RowFigures) -> float | None:
    return row.peers[row.rival].best if row.rival else None


def _panel(y: float, threads: int, rows: list[RowFigures], roofs: dict[str, float], read: float | None) -> list[str]:
    top = y + TOP
    shown = [(row.work, best) for row in rows for best in (_mine(row), _other(row)) if best]
    points = [(intensity(work), work.flops / best * 1e-9) for work, best in shown]
    axes = Axes([*points, *((points[0][0], peak * 1e-9) for peak in roofs.values())], top)
    title = f"Roofline, {threads} thread{'s' if threads > 1 else ''}: dots are foveate, rings the best other"
    parts = [svg.text(LEFT, y + 28, title, 16, bold=True), *axes.grid()]
    places = Places()
    for what, peak in roofs.items():
        parts += _roof(axes, ROOFS[what], peak, read)
    for work, best in shown:
        places.take(axes.x(intensity(work)), axes.y(work.flops / best * 1e-9))
    for index, row in enumerate(rows, 1):
        parts += _point(axes, index, row, places)
        share = next(x.share for name, x in row.peers.items() if name.startswith("foveate"))
        told = f"{index}  {row.work.name}: {share:.0%}" if share is not None else f"{index}  {row.work.name}"
        parts.append(svg.text(LEFT + WIDTH + 24, top + 6 + 17 * index, told, 11))
    parts.append(svg.text(LEFT + WIDTH + 24, top + 4, "foveate's share of the limit", 12, "soft"))
    return parts


def _roof(axes: Axes, name: str, peak: float, read: float | None) -> list[str]:
    """Memory's slope up to the ridge, then the peak."""
    left, right = axes.range_x()
    height = peak * 1e-9
    ridge = max(left, height / (read * 1e-9)) if read else left
    parts = [svg.line(axes.x(ridge), axes.y(height), axes.x(right), axes.y(height), "ink", 1.5)]
    parts.append(svg.text(axes.x(right) - 4, axes.y(height) - 5, f"{name} {height:.0f}", 11, "ink", "end"))
    if read and ridge > left:
        start = max(left, axes.lowest() / (read * 1e-9))  # where it enters the panel, from its left or from below
        parts.append(svg.line(axes.x(start), axes.y(start * read * 1e-9), axes.x(ridge), axes.y(height), "ink", 1.5))
    return parts


def _point(axes: Axes, index: int, row: RowFigures, places: Places) -> list[str]:
    x = axes.x(intensity(row.work))
    mine = axes.y(row.work.flops / (_mine(row) or 1) * 1e-9)
    parts = []
    if row.rival:
        other = axes.y(row.work.flops / (_other(row) or 1) * 1e-9)
        colour = "ahead" if row.ratio and row.ratio < 0.98 else "others"
        parts += [svg.line(x, mine, x, other, "others"), svg.circle(x, other, 3.5, colour, hollow=True)]
    at = places.near(x, mine)
    parts += [svg.line(x, mine, *at, "line"), svg.circle(x, mine, 4, "ours")]
    parts.append(svg.text(at[0], at[1] + 4, str(index), 11, "ink", "middle"))
    return parts
