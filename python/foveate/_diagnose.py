# Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
"""Which mistake makes somebody's result."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, Literal, TypedDict, Unpack

from foveate import _engine
from foveate._arrays import FLOATS
from foveate._operands import Operands, shaped
from foveate._options import ScoreOptions, check_names, threads_of


class Mistake(TypedDict):
    """A mistake by a name for programs, in words, and what helps."""

    id: str
    name: str
    name_zh: str
    remedy: str
    remedy_zh: str


class Explanation(TypedDict):
    """One mistake, or two, that reproduce a result but for the residual."""

    mistakes: list[Mistake]
    residual: float
    lse_residual: float
    rows_compared: int


@dataclass(frozen=True)
class Diagnosis:
    """What diagnose found; str() tells it."""

    verdict: Literal["right", "mistake", "two_mistakes", "unknown"]
    explanations: list[Explanation]  #: best first; these arrays cannot tell them apart
    scope: Literal["all_rows", "wrong_rows"]  #: the rows that explanations explain
    rows: int
    elements: int
    differing_rows: int
    largest_difference: float
    rms_difference: float
    largest_lse_difference: float
    first_difference: tuple[str, tuple[int, ...], float, float] | None  #: of which array, where, got, expected
    wrong_heads: list[tuple[int, int]]  #: batch and head
    dropout: float  #: the probability that weights were left out with, where that is the mistake
    tried: int
    text: str = field(repr=False)
    text_zh: str = field(repr=False)

    def __str__(self) -> str:
        return self.text

    def __bool__(self) -> bool:
        """Whether the result is right."""
        return self.verdict == "right"


def _in_words_of_python(found: Any) -> Any:
    """Remedies name options as the command line does."""
    if isinstance(found, str):
        return re.sub(r"--(?=[a-z])", "", found)
    if isinstance(found, list):
        return [_in_words_of_python(one) for one in found]
    if isinstance(found, dict):
        return {name: _in_words_of_python(one) for name, one in found.items()}
    return found


def diagnose(q: Any, k: Any, v: Any, out: Any, *, lse: Any = None, **options: Unpack[ScoreOptions]) -> Diagnosis:
    """Which mistake makes of q, k and v the result out that somebody has.

    Some ninety known mistakes, and all pairs of them of different kinds, are tried where out is not right; one is
    reported only if it reproduces every row compared, to within rounding.

    Args:
        q, k, v: as attention takes them, of float types.
        out: the result to judge, of o's shape, of any float type.
        lse: its lse, [..., h_q, n_q], where there is one.
        options: those that were meant: attention's, but for dropout, which is looked for, packed sequences and pages.

    Returns:
        A Diagnosis; it is true where the result is right.

    Raises:
        As attention.

    >>> import numpy as np
    >>> q, k, v = np.random.default_rng(0).standard_normal((3, 2, 9, 16))
    >>> weights = np.exp(q @ k.swapaxes(1, 2))
    >>> found = diagnose(q, k, v, weights / weights.sum(-1, keepdims=True) @ v)
    >>> found.explanations[0]["mistakes"][0]["id"]
    'scale-none'
    """
    check_names(options, ScoreOptions, "diagnose")
    of = Operands(q, k, v, options)
    axes, h, n = of.q_axes, *of.arrays[0].shape[1:3]
    judged = axes.engine(shaped(out, "out", axes.shape(h, n, of.arrays[2].shape[3])))
    rows = None
    if lse is not None:
        rows = axes.engine_rows(shaped(lse, "lse", axes.rows(h, n), FLOATS[:2]))
    count = min(axes.ndim, 4)
    found = _engine.diagnose(*of.arrays, judged, rows, of.options, count, axes.bnhd, threads_of(options.get("threads")))
    return Diagnosis(**_in_words_of_python(found))
