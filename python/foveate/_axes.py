# Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
"""The axes of callers, [..., h, n, d] or fewer, brought to the engine's [b, h, n, d] without copying, and back.

Leading axes count as one, b; where their strides do not allow that, an input is copied.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from foveate._arrays import View

Layout: TypeAlias = Literal["bhnd", "bnhd"]


@dataclass(frozen=True)
class Axes:
    """How many axes a caller's array has, which lead, and in which order heads and rows follow."""

    ndim: int
    lead: tuple[int, ...]
    bnhd: bool

    @staticmethod
    def of(array: View, name: str, layout: str) -> Axes:
        if not isinstance(layout, str) or layout not in ("bhnd", "bnhd"):
            raise ValueError(f"layout: {layout!r}, expected 'bhnd' or 'bnhd'")
        if array.ndim < 2:
            raise ValueError(f"{name}: {array.ndim} axes, expected [n, d], [h, n, d] or [b, h, n, d]")
        return Axes(array.ndim, array.shape[:-3], layout == "bnhd")

    def engine(self, array: View) -> View:
        """An array of these axes as [b, h, n, d]."""
        if array.ndim == 2:
            return array[None, None]
        folded = array if array.ndim == 4 else array.reshape(math.prod(self.lead), *array.shape[-3:])
        return folded.swapaxes(1, 2) if self.bnhd else folded

    def shape(self, h: int, n: int, d: int) -> tuple[int, ...]:
        """The caller's shape of [b, h, n, d]."""
        if self.ndim == 2:
            return (n, d)
        return (*self.lead, n, h, d) if self.bnhd else (*self.lead, h, n, d)

    def rows(self, h: int, n: int, *d: int) -> tuple[int, ...]:
        """The caller's shape of what has the axes b, h and n in any layout: lse, and with n_kv the weights."""
        return (n, *d) if self.ndim == 2 else (*self.lead, h, n, *d)

    def engine_rows(self, array: View) -> View:
        """lse as [b, h, n, 1]."""
        return self.engine_pairs(array[..., None])

    def engine_pairs(self, array: View) -> View:
        """Weights as [b, h, n_q, n_kv]."""
        return Axes(self.ndim, self.lead, False).engine(array)

    def broadcast(self, array: View, name: str) -> View:
        """A mask or bias, by NumPy's rules: [h, n_q, n_kv] last, others broadcast to the leading axes."""
        if array.ndim < 4:
            return array[(None,) * (4 - array.ndim)]
        lead = array.shape[:-3]
        if any(extent != 1 for extent in lead):
            try:
                array = np.broadcast_to(array, self.lead + array.shape[-3:])
            except ValueError:
                raise ValueError(
                    f"{name}: leading axes {list(lead)} do not broadcast to q's {list(self.lead)}"
                ) from None
        return array.reshape(math.prod(array.shape[:-3]), *array.shape[-3:])


def same_lead(axes: Axes, other: Axes, name: str) -> None:
    """Refuses an array whose leading axes are not q's."""
    if other.ndim != axes.ndim:
        raise ValueError(f"{name}: {other.ndim} axes, q has {axes.ndim}; expected equally many")
    if other.lead != axes.lead:
        raise ValueError(f"{name}: leading axes {list(other.lead)} do not equal q's {list(axes.lead)}")
