# Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
"""The report of a watched model: layer by layer, head by head."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from foveate.torch._look import Looked

_WIDTH = 80

#: What a figure is called above its table, and how it is written.
_FIGURES = {
    "effective_keys": "Effective number of keys, exp(entropy)",
    "visible_keys": "Keys that take part, mean over rows",
    "entropy": "Entropy of the weights, in nats",
    "saturated": "Share of rows with one weight above 0.99",
    "jacobian": "Norm of d weights / d scores, mean over rows",
    "score_variance": "Variance of a row's scaled products, mean over rows",
    "first_key_mass": "Weight on key 0, mean over rows",
    "largest_weight": "Largest weight",
    "largest_score": "Largest score",
}

#: A letter for each kind of head that foveate.inspect tells, and what it says.
_MARKS = {
    "sink": ("s", "much weight on one of the first keys, a sink"),
    "one_key": ("k", "much weight on one key"),
    "learned_sink": ("l", "much weight on the learned sink"),
    "saturated": ("x", "rows saturated, one weight above 0.99"),
    "even": ("e", "weights nearly even"),
    "offset": ("o", "looks at the same place relative to the query"),
}


class Fault(NamedTuple):
    """What looks wrong in a layer. kind: "inverted", "padding", "not_finite" or "no_key"."""

    layer: str
    kind: str
    text: str


@dataclass
class Layer:
    """The calls of one module. figures are of each head, [h], over rows of tokens that are not padding:

    effective_keys, visible_keys, entropy, saturated (a share), jacobian, score_variance and first_key_mass are means,
    largest_weight and largest_score the largest. NaN where no row has one. marks: each head's letters in the report.
    """

    name: str
    calls: int = 0
    shape: tuple[int, int, int, int] = (0, 0, 0, 0)  #: b, h, n_q, n_kv of the last call
    rows: np.ndarray[Any, Any] = field(default_factory=lambda: np.zeros(0))
    _sums: dict[str, Any] = field(default_factory=dict, repr=False)
    _worst: dict[str, Any] = field(default_factory=dict, repr=False)
    _marks: dict[str, Any] = field(default_factory=dict, repr=False)
    _sequences: int = 0

    @property
    def figures(self) -> dict[str, np.ndarray[Any, Any]]:
        with np.errstate(invalid="ignore", divide="ignore"):
            means = {name: total / self.rows for name, total in self._sums.items()}
        return {**means, **{name: np.where(np.isfinite(most), most, np.nan) for name, most in self._worst.items()}}

    @property
    def marks(self) -> list[str]:
        kinds = [(letter, self._marks[kind]) for kind, (letter, _) in _MARKS.items() if kind in self._marks]
        most = self._sequences / 2
        return ["".join(letter for letter, of in kinds if of[head] >= most) for head in range(len(self.rows))]

    def _add(self, call: Looked) -> None:
        self.calls += 1
        self.shape = (call.b, len(call.rows), call.n_q, call.n_kv)
        self._sequences += call.b
        if len(self.rows) != len(call.rows):  # another number of heads than before: a report of both says nothing
            self.rows, self._sums, self._worst, self._marks = np.zeros(len(call.rows)), {}, {}, {}
        self.rows = self.rows + call.rows
        for into, more, join in (
            (self._sums, call.sums, np.add),
            (self._worst, call.worst, np.maximum),
            (self._marks, call.marks, np.add),
        ):
            for name, values in more.items():
                into[name] = join(into[name], values) if name in into else values


class Watched:
    """What watch saw. str() is the report; layers and faults are data; skipped counts calls not looked at, by cause."""

    def __init__(self) -> None:
        self._layers: dict[str, Layer] = {}
        self._faults: dict[tuple[str, str], Fault] = {}
        self.skipped: dict[str, int] = {}

    @property
    def layers(self) -> list[Layer]:
        """In the order of their first calls."""
        return list(self._layers.values())

    @property
    def faults(self) -> list[Fault]:
        """Of each layer and kind the first, in the order in which they were met."""
        return list(self._faults.values())

    def table(self, figure: str = "effective_keys") -> str:
        """A figure by layer and head, in at most 80 columns. figure: a key of Layer.figures."""
        if figure not in _FIGURES:
            raise ValueError(f"figure: {figure!r}, expected one of {', '.join(_FIGURES)}")
        return "\n".join([f"{_FIGURES[figure]}, by head", *_rows(self.layers, figure)])

    def __str__(self) -> str:
        if not self._layers:
            return "\n".join([_NOTHING, *_skipped(self.skipped)])
        calls = sum(layer.calls for layer in self.layers)
        b, h, n_q, n_kv = self.layers[-1].shape
        parts = [
            f"{_count(calls, 'attention call')} in {_count(len(self.layers), 'module')}; the last:"
            f" b {b}, h {h}, n_q {n_q}, n_kv {n_kv}"
        ]
        parts.append(_wrong(self.faults))
        parts.append(self.table())
        used = [letter for layer in self.layers for mark in layer.marks for letter in mark]
        legend = ["keys: how many take part, mean over rows"]
        legend += [f"{letter}: {text}" for letter, text in _MARKS.values() if letter in used]
        parts[-1] += "\n\n" + _filled("; ".join(legend) + ".", "  ")
        parts += ["\n".join(_skipped(self.skipped))] if self.skipped else []
        return "\n\n".join(parts)

    def __repr__(self) -> str:
        return f"<foveate.torch.Watched: {len(self._layers)} modules, {len(self._faults)} faults>"

    def _add(self, layer: str, call: Looked) -> None:
        self._layers.setdefault(layer, Layer(layer))._add(call)
        for kind, text in call.faults:
            self._faults.setdefault((layer, kind), Fault(layer, kind, text))

    def _skip(self, layer: str, reason: str) -> None:
        self.skipped[reason] = self.skipped.get(reason, 0) + 1


def _filled(text: str, first: str = "", rest: str | None = None) -> str:
    """Lines of at most 80 columns."""
    indent = first if rest is None else rest
    return textwrap.fill(text, _WIDTH, initial_indent=first, subsequent_indent=indent, break_on_hyphens=False)


_NOTHING = _filled(
    "No attention call was seen: the model multiplies by itself, or it did not run. In Transformers, load it with"
    ' attn_implementation="sdpa" or "foveate".'
)

_CONVENTIONS = _filled(
    "True takes part in scaled_dot_product_attention, and is left out in nn.MultiheadAttention and nn.Transformer; in"
    " Transformers' attention_mask 1 takes part.",
    "    ",
)


def _count(number: int, of: str) -> str:
    return f"{number} {of}" + ("" if number == 1 else "s")


def _skipped(skipped: dict[str, int]) -> list[str]:
    return [_filled(f"Not looked at: {_count(calls, 'call')}. {reason}") for reason, calls in skipped.items()]


def _wrong(faults: list[Fault]) -> str:
    """Each kind once, with its first layer; the worst kinds first."""
    if not faults:
        return "Nothing looks wrong."
    lines = ["What looks wrong"]
    for kind in ("inverted", "padding", "not_finite", "no_key"):
        of = [fault for fault in faults if fault.kind == kind]
        if not of:
            continue
        others = of[1].layer if len(of) == 2 else _count(len(of) - 1, "more layer")
        more = f" So it is in {others}." if len(of) > 1 else ""
        lines.append(_filled(f"{of[0].layer}: {of[0].text}.{more}", "  * ", "    "))
        if kind == "inverted":
            lines.append(_CONVENTIONS)
    return "\n".join(lines)


def _rows(layers: list[Layer], figure: str) -> list[str]:
    """Lines of the table; heads that do not fit beside each other come in blocks."""
    title, names = _short_names([layer.name for layer in layers])
    figures = [layer.figures[figure] for layer in layers]
    shares = all(value < 1.005 for of in figures for value in of if np.isfinite(value))
    cells = [
        [_number(value, shares) + mark for value, mark in zip(of, layer.marks, strict=True)]
        for of, layer in zip(figures, layers, strict=True)
    ]
    seen = [_number(_mean(layer.figures["visible_keys"])) for layer in layers]
    wide = max(len(name) for name in names) + 2
    cell = max((len(text) for row in cells for text in row), default=3) + 1
    heads = max(len(row) for row in cells)
    # Blocks of one width, rather than a last one of a single head.
    blocks = max(1, -(-heads * cell // (_WIDTH - wide - 8)))
    fit = -(-heads // blocks)
    lines = [f"  layer: {title}"] if title else []
    for begin in range(0, heads, fit):
        end = min(heads, begin + fit)
        lines.append("".ljust(wide) + "  keys" + "".join(str(head).rjust(cell) for head in range(begin, end)))
        for name, of, row in zip(names, seen, cells, strict=True):
            lines.append(f"  {name}".ljust(wide) + of.rjust(6) + "".join(text.rjust(cell) for text in row[begin:end]))
    return lines


def _mean(values: np.ndarray[Any, Any]) -> float:
    known = values[np.isfinite(values)]
    return float(known.mean()) if known.size else np.nan


def _number(value: float, share: bool = False) -> str:
    """In at most four characters, or five below zero."""
    if not np.isfinite(value):
        return "-"
    if abs(value) >= 9999.5:
        return f"{value / 1000:.0f}k"
    return f"{value:.2f}" if share else f"{value:.1f}" if abs(value) < 9.95 else f"{value:.0f}"


def _short_names(names: list[str]) -> tuple[str, list[str]]:
    """What all names begin and end with, told once, and what is left of each; long ones lose their front."""
    if len(names) == 1:
        return names[0], ["0"]
    parts = [name.split(".") for name in names]
    most = min(len(part) for part in parts) - 1
    front = min(most, _alike(parts))
    back = min(most - front, _alike([part[::-1] for part in parts]))
    short = [".".join(part[front : len(part) - back]) for part in parts]
    title = ".".join([*parts[0][:front], "*", *parts[0][len(parts[0]) - back :]]) if front or back else ""
    return title, [name if len(name) <= 24 else "..." + name[-21:] for name in short]


def _alike(parts: list[list[str]]) -> int:
    """With how many equal ones they all begin."""
    return next((place for place, of in enumerate(zip(*parts, strict=False)) if len(set(of)) > 1), min(map(len, parts)))
