# Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
"""Which pairs of a query and a key take no part."""

from __future__ import annotations

import pathlib

import numpy as np

from peers import arrays
from peers.work import Work


def hidden_pairs(work: Work, folder: pathlib.Path) -> np.ndarray | None:
    """[n_q, n_kv] bool, True where a pair takes no part; None where all do."""
    return _hidden(work, folder, np.arange(work.n_q))


def hidden_of_row(work: Work, folder: pathlib.Path, i: int) -> np.ndarray | None:
    """The same of one query, [n_kv]."""
    hidden = _hidden(work, folder, np.array([i]))
    return None if hidden is None else hidden[0]


def _hidden(work: Work, folder: pathlib.Path, rows: np.ndarray) -> np.ndarray | None:
    if not (work.causal or work.window is not None or work.kept_blocks < 1):
        return None
    position = rows[:, None] + (work.n_kv - work.n_q)
    key = np.arange(work.n_kv)[None, :]
    hidden = np.zeros((len(rows), work.n_kv), bool)
    if work.causal:
        hidden |= key > position
    if work.window is not None:
        hidden |= key < position - work.window
    if work.kept_blocks < 1:
        kept = np.asarray(arrays.read(work, folder, "blocks"))[0, 0]
        hidden |= ~kept[rows // work.BLOCK].repeat(work.BLOCK, 1)[:, : work.n_kv]
    return hidden
