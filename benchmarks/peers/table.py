# Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
"""The table, in Markdown: a line a row and number of threads, losses as plain as wins."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from peers.figures import Figures, RowFigures
from peers.work import Work

HEADINGS = (
    "row",
    "threads",
    "unit",
    "foveate",
    "median",
    "share of limit",
    "best other",
    "ratio",
    "",
    "memory",
    "others",
)


def head() -> str:
    return "| " + " | ".join(HEADINGS) + " |\n" + "| --- " * len(HEADINGS) + "|"


def lines(row: RowFigures) -> list[str]:
    work = row.work
    mine, *more = [(name, x) for name, x in row.peers.items() if name.startswith("foveate")] or [("", None)]
    others = {name: x for name, x in row.peers.items() if not name.startswith("foveate")}
    ordered = sorted(others.items(), key=lambda item: item[1].best)
    told = [f"{name} {number(x.rate)}" for name, x in (*more, *ordered)]
    told += [f"{name} wrong" for name, why in row.reasons.items() if why.startswith("wrong")]
    figures: Figures | None = mine[1]
    cells = [
        work.name,
        str(row.threads),
        work.unit,
        number(figures.rate) if figures else "-",
        number(_rate_of_median(work, figures)) if figures else "-",
        f"{figures.share:.0%}" if figures and figures.share is not None else "",
        row.rival,
        f"{row.ratio:.2f}x" if row.ratio else "",
        verdict(row.ratio),
        memory(figures.memory) if figures else "",
        ", ".join(told),
    ]
    return ["| " + " | ".join(cells) + " |"]


def _rate_of_median(work: Work, figures: Figures) -> float:
    factor = figures.median / figures.best
    return figures.rate * factor if work.unit == "us" else figures.rate / factor


def verdict(ratio: float | None) -> str:
    """Within 2 % is level: runs differ by as much."""
    if ratio is None:
        return ""
    return "**loss**" if ratio < 0.98 else "level" if ratio < 1.02 else "win"


def number(x: float) -> str:
    """Three digits."""
    return f"{x:.0f}" if x >= 100 else f"{x:.1f}" if x >= 10 else f"{x:.2f}"


def memory(n: int) -> str:
    return f"{n / 1e6:.1f} MB" if n >= 50_000 else f"{n / 1e3:.0f} KB"


def page(
    rows: Iterable[RowFigures],
    met: dict[str, Any],
    absent: dict[str, str],
    peaks: dict[int, dict[str, float]],
    machine: dict[str, Any],
) -> str:
    """The whole of table.md."""
    rows = list(rows)
    where = f"{machine['processor']}, {machine['cores']} cores; {machine['system']}; {machine['clock']} time."
    text = [f"# Foveate beside its peers\n\n{where}\n"]
    for threads, best in peaks.items():
        told = ", ".join(
            f"{what} {number(rate * 1e-9)} {'GB/s' if what == 'read' else 'GFLOP/s'}" for what, rate in best.items()
        )
        text.append(f"Limits at {threads} threads, the best of this run: {told}.\n")
    text.append("`ratio` is the best other's best time over foveate's, below 1 a loss; rates are of the best sample.")
    text.append(
        "Those that are called from C++, unfused and ggml, are set beside foveate in C++ where that took part.\n"
    )
    text.append(head())
    text += [line for row in rows for line in lines(row)]
    text.append("\n## Who took part\n\n| peer | version | facts |\n| --- | --- | --- |")
    for name, hello in met.items():
        facts = ", ".join(f"{key}: {x}" for key, x in hello["facts"].items())
        text.append(f"| {name} | {hello['version']} | {facts} |")
    text.append("\n## Which way each went\n\n| row | threads | way |\n| --- | --- | --- |")
    for row in rows:
        ways = "; ".join(f"{name}: {x.way}" for name, x in row.peers.items())
        text.append(f"| {row.work.name} | {row.threads} | {ways} |")
    text.append("\n## Who did not, and why\n\n| peer | row | reason |\n| --- | --- | --- |")
    text += [f"| {name} | all | {why} |" for name, why in absent.items()]
    text += [f"| {peer} | {names} | {why} |" for (peer, why), names in _reasons(rows).items()]
    return "\n".join(text) + "\n"


def _reasons(rows: list[RowFigures]) -> dict[tuple[str, str], str]:
    """Rows by peer and reason."""
    found: dict[tuple[str, str], list[str]] = {}
    for row in rows:
        for peer, why in (row.reasons | row.rejected).items():
            found.setdefault((peer, why), []).append(row.work.name)
    return {key: ", ".join(dict.fromkeys(names)) for key, names in found.items()}
