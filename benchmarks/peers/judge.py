# Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
"""Whether a peer's result is right, by the float64 oracle.

Some rows of o are compared, among them the first and the last; with the gradients dq, dk and dv of the last head,
whole. The largest error may be ALLOWED times that of the plain formula in the work's own type on the same rows, where
scores and weights are stored in that type and sums are float32 (int8: q in 127 steps of a row's largest component,
weights in 255 of theirs), plus one step of that type at the largest value. What is wrong by more is a mistake, or a
way to compute that nobody would compare with.
"""

from __future__ import annotations

import json
import pathlib
import subprocess

import numpy as np

from peers import arrays
from peers.hidden import hidden_of_row, hidden_pairs
from peers.work import Work

# Narrow types: what docs/numerics.md allows foveate's own. float32: sums in any order, and an exp of some 20 ulp, as
# vectorised libraries have it.
ALLOWED = {"f32": 16.0, "f16": 2.0, "bf16": 2.0, "i8": 2.0}
STEPS = {"f32": 2.0**-23, "f16": 2.0**-10, "bf16": 2.0**-7}
MOST_ROWS = 24


def rows_of(work: Work) -> list[tuple[int, int, int]]:
    """(b, h, i) of the rows that are compared."""
    count = work.b * work.h_q * work.n_q
    if count <= MOST_ROWS:
        chosen = np.arange(count)
    else:
        chosen = np.random.default_rng(1).choice(count, MOST_ROWS - 2, replace=False)
        chosen = np.unique(np.concatenate([[0], chosen, [count - 1]]))
    return [(int(x // (work.h_q * work.n_q)), int(x // work.n_q % work.h_q), int(x % work.n_q)) for x in chosen]


class Judge:
    """Asks the oracle once for a work; the answers are kept beside its arrays."""

    def __init__(self, oracle: pathlib.Path):
        self._oracle = oracle

    def prepare(self, work: Work, folder: pathlib.Path) -> dict[str, np.ndarray]:
        """The exact results, float64: o of rows_of(), and the last head's gradients."""
        wanted = {"o": (len(rows_of(work)), work.d_v)}
        if work.backward:
            wanted |= {"dq": (work.n_q, work.d_k), "dk": (work.n_kv, work.d_k), "dv": (work.n_kv, work.d_v)}
        done = folder / "exact"
        if not done.exists():
            request = {"work": work.json(), "folder": str(folder), "rows": rows_of(work)}
            answer = subprocess.run(
                [self._oracle], input=json.dumps(request), capture_output=True, text=True, check=True
            )
            reason = json.loads(answer.stdout).get("cannot")
            if reason:
                raise RuntimeError(f"the oracle: {reason}")
            done.touch()
        return {name: np.fromfile(folder / f"exact_{name}.f64").reshape(shape) for name, shape in wanted.items()}

    def error(self, work: Work, folder: pathlib.Path, results: pathlib.Path) -> tuple[float, float]:
        """The largest error of a peer's results relative to what is allowed: at most 1 is right; and itself."""
        exact, plain = self.prepare(work, folder), self._plain(work, folder)
        worst, largest = 0.0, 0.0
        for name, shape in arrays.outputs(work).items():
            path = results / f"{name}.f32"
            if path.stat().st_size != 4 * int(np.prod(shape)):
                return float("inf"), float("inf")
            found = _compared(work, name, np.memmap(path, np.float32, "r", shape=shape)).astype(np.float64)
            error = float(np.abs(found - exact[name]).max())  # NaN stays NaN, and is wrong
            step = STEPS[work.dtype] * float(np.abs(exact[name]).max())
            allowed = ALLOWED[work.kv_dtype] * float(np.abs(plain[name] - exact[name]).max()) + step
            worst, largest = np.fmax(worst, error / allowed), np.fmax(largest, error)
            if np.isnan(error):
                return float("inf"), error
        return float(worst), float(largest)

    def _plain(self, work: Work, folder: pathlib.Path) -> dict[str, np.ndarray]:
        path = folder / "plain.npz"
        if not path.exists():
            np.savez(path, **(plain_gradients(work, folder) if work.backward else {}), o=plain_rows(work, folder))
        with np.load(path) as kept:
            return dict(kept)


def _compared(work: Work, name: str, result: np.ndarray) -> np.ndarray:
    """The part of an output that is compared."""
    if name == "o":
        return np.stack([result[row] for row in rows_of(work)])
    return result[-1, -1]


def rounded(x: np.ndarray, dtype: str) -> np.ndarray:
    """To the nearest number of a type, as float32."""
    if dtype == "bf16":
        return arrays.from_bf16(arrays.to_bf16(x))
    return x.astype(np.float16).astype(np.float32) if dtype == "f16" else x.astype(np.float32)


def in_steps(x: np.ndarray, count: int) -> np.ndarray:
    """To a row's nearest multiple of its largest component's count-th part."""
    step = np.maximum(np.abs(x).max(-1, keepdims=True), np.float32(1e-30)) / np.float32(count)
    return np.round(x / step) * step


def plain_rows(work: Work, folder: pathlib.Path) -> np.ndarray:
    """Rows of o by the plain formula in the work's own type."""
    wide = {name: arrays.read_f32(work, folder, name) for name in arrays.shapes(work) if name != "blocks"}
    found = []
    for b, h, i in rows_of(work):
        q = wide["q"][b, h, i]
        k, v = (wide[name][b, h // (work.h_q // work.h_kv)] for name in "kv")
        if work.additive:
            features = np.tanh(q @ wide["w_q"].T + wide["bias"] + k @ wide["w_k"].T)
            s = features @ wide["w"]
        else:
            q = in_steps(q, 127) if work.kv_dtype == "i8" else q
            s = rounded((k @ q) * np.float32(work.scale), work.dtype)
        hidden = hidden_of_row(work, folder, i)
        if hidden is not None:
            s = np.where(hidden, np.float32(-np.inf), s)
        p = np.exp(s - s.max())
        p = in_steps(p, 255) if work.kv_dtype == "i8" else rounded(p / p.sum(), work.dtype)
        found.append(rounded(p @ v / (p.sum() if work.kv_dtype == "i8" else 1), work.dtype))
    return np.stack(found)


def plain_gradients(work: Work, folder: pathlib.Path) -> dict[str, np.ndarray]:
    """The last head's gradients by the plain formula in float32."""
    q, k, v, d_o = (arrays.read_f32(work, folder, name)[-1, -1] for name in ("q", "k", "v", "d_o"))
    scale = np.float32(work.scale)
    s = (q @ k.T) * scale
    hidden = hidden_pairs(work, folder)
    if hidden is not None:
        s[hidden] = -np.inf
    p = np.exp(s - s.max(-1, keepdims=True))
    p /= p.sum(-1, keepdims=True)
    ds = p * (d_o @ v.T - (d_o * (p @ v)).sum(-1, keepdims=True)) * scale
    return {"dq": ds @ k, "dk": ds.T @ q, "dv": p.T @ d_o}
