# Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
"""The little of SVG that the two pictures are made of, in colours for light pages and dark ones."""

from __future__ import annotations

from xml.sax.saxutils import escape

# Class, on light, on dark.
COLOURS = (
    ("paper", "#ffffff", "#14171c"),
    ("ink", "#1c2127", "#e8eaed"),
    ("soft", "#5c6570", "#a0a8b2"),
    ("line", "#d4d9df", "#353c45"),
    ("ours", "#0b6bcb", "#5aa9f5"),
    ("others", "#9aa4b0", "#6b7683"),
    ("ahead", "#c2410c", "#fb923c"),
)


def _style() -> str:
    def rules(index: int) -> str:
        return "".join(f".{c[0]}{{fill:{c[index]}}}.{c[0]}-stroke{{stroke:{c[index]};fill:none}}" for c in COLOURS)

    font = "text{font-family:system-ui,'DejaVu Sans',sans-serif}"
    return f"<style>{font}{rules(1)}@media (prefers-color-scheme:dark){{{rules(2)}}}</style>"


def text(
    x: float, y: float, content: str, size: float = 12, colour: str = "ink", anchor: str = "start", bold: bool = False
) -> str:
    weight = ' font-weight="600"' if bold else ""
    place = f'x="{x:.1f}" y="{y:.1f}" font-size="{size}" text-anchor="{anchor}"'
    return f'<text class="{colour}" {place}{weight}>{escape(content)}</text>'


def rectangle(x: float, y: float, width: float, height: float, colour: str) -> str:
    return f'<rect class="{colour}" x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}"/>'


def line(x1: float, y1: float, x2: float, y2: float, colour: str, width: float = 1, dashes: str = "") -> str:
    dashed = f' stroke-dasharray="{dashes}"' if dashes else ""
    place = f'x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"'
    return f'<line class="{colour}-stroke" {place} stroke-width="{width}"{dashed}/>'


def circle(x: float, y: float, radius: float, colour: str, hollow: bool = False) -> str:
    kind = f'class="{colour}-stroke" stroke-width="1.5"' if hollow else f'class="{colour}"'
    return f'<circle {kind} cx="{x:.1f}" cy="{y:.1f}" r="{radius}"/>'


def document(width: float, height: float, title: str, parts: list[str]) -> str:
    size = f'width="{width:.0f}" height="{height:.0f}" viewBox="0 0 {width:.0f} {height:.0f}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img"><title>{escape(title)}</title>{_style()}'
    return "\n".join([head, rectangle(0, 0, width, height, "paper"), *parts, "</svg>"]) + "\n"
