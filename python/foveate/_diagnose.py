# Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
"""Which mistake makes somebody's result."""

from __future__ import annotations

import re
from dataclasses import dataclass
from html import escape
from typing import Any, Literal, TypedDict, Unpack

from foveate import _engine
from foveate._arrays import FLOATS
from foveate._names import names_checked
from foveate._operands import Operands, shaped
from foveate._options import ScoreOptions, threads_of

_MOST_NAMED = 3  # explanations in a repr


class Mistake(TypedDict):
    """A mistake, a dict.

    Attributes:
        id: its name for programs: "scale-none".
        name: what was done.
        name_zh: in Chinese.
        remedy: what helps.
        remedy_zh: in Chinese.
    """

    id: str
    name: str
    name_zh: str
    remedy: str
    remedy_zh: str


class Explanation(TypedDict):
    """One mistake, or two, that reproduce a result, a dict.

    Attributes:
        mistakes: a list of Mistake.
        residual: the largest difference that they leave in out.
        lse_residual: the same of lse; None where none was given.
        rows_compared: in how many rows.
    """

    mistakes: list[Mistake]
    residual: float
    lse_residual: float | None
    rows_compared: int


@dataclass(frozen=True, repr=False, eq=False)
class Diagnosis:
    """What diagnose found; print() tells it, and it is true where the result is right.

    Attributes:
        verdict: "right", "mistake", "two_mistakes" or "unknown".
        explanations: a list of Explanation, best first; these arrays cannot tell them apart.
        scope: the rows that explanations explain: "all_rows" or "wrong_rows".
        rows: how many were judged.
        elements: likewise.
        differing_rows: how many rows are not right.
        largest_difference: of out from what is right.
        rms_difference: likewise, the root of the mean square.
        largest_lse_difference: of lse; None where none was given.
        first_difference: of which array ("out" or "lse"), its index, what stands there, what is right; or None.
        wrong_heads: (batch, head) of those with rows that are not right.
        dropout: the probability that weights were left out with, where that is the mistake.
        tried: how many mistakes and pairs of them.
        text: what print() shows.
        text_zh: in Chinese.
    """

    verdict: Literal["right", "mistake", "two_mistakes", "unknown"]
    explanations: list[Explanation]
    scope: Literal["all_rows", "wrong_rows"]
    rows: int
    elements: int
    differing_rows: int
    largest_difference: float
    rms_difference: float
    largest_lse_difference: float | None
    first_difference: tuple[str, tuple[int, ...], float, float] | None
    wrong_heads: list[tuple[int, int]]
    dropout: float
    tried: int
    text: str
    text_zh: str

    def __repr__(self) -> str:
        ids = " or ".join("+".join(one["id"] for one in each["mistakes"]) for each in self.explanations[:_MOST_NAMED])
        more = ", ..." if len(self.explanations) > _MOST_NAMED else ""
        wrong = f", {self.differing_rows} of {self.rows} rows differ" if self.differing_rows else ""
        return f"<foveate.Diagnosis: {self.verdict}{f' {ids}{more}' if ids else ''}{wrong}>"

    def _repr_html_(self) -> str:
        return f'<pre style="white-space:pre-wrap;color:inherit;background:transparent">{escape(self.text)}</pre>'

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


@names_checked(ScoreOptions)
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
    of = Operands(q, k, v, options)
    axes, h, n = of.q_axes, *of.arrays[0].shape[1:3]
    judged = axes.engine(shaped(out, "out", axes.shape(h, n, of.arrays[2].shape[3])))
    rows = None
    if lse is not None:
        rows = axes.engine_rows(shaped(lse, "lse", axes.rows(h, n), FLOATS[:2]))
    count = min(axes.ndim, 4)
    found = _engine.diagnose(*of.arrays, judged, rows, of.options, count, axes.bnhd, threads_of(options.get("threads")))
    return Diagnosis(**_in_words_of_python(found))
