# Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
"""NumPy: two products and a softmax, as one writes them."""

from __future__ import annotations

import pathlib
from typing import Any

import numpy as np
import threadpoolctl

from peers import arrays
from peers.aligned import aligned
from peers.hidden import hidden_pairs
from peers.work import Work
from peers.worker import Call, CannotDo, Peer


class NumPy(Peer):
    def hello(self, threads: int) -> dict[str, Any]:
        self._limits = threadpoolctl.threadpool_limits(threads)
        blas = next((x for x in threadpoolctl.threadpool_info() if x["user_api"] == "blas"), {})
        kernels = f"{blas.get('internal_api')} {blas.get('version')} {blas.get('architecture')}"
        return {"version": np.__version__, "facts": {"blas": kernels}}

    def ways(self, work: Work, folder: pathlib.Path) -> dict[str, Call]:
        if work.additive or work.backward:
            raise CannotDo("no call for it in NumPy")
        if work.kv_dtype in ("bf16", "i8"):
            raise CannotDo(f"NumPy has no {'bfloat16' if work.kv_dtype == 'bf16' else 'products of int8 with scales'}")
        if work.h_q != work.h_kv:
            raise CannotDo("one key head for each query head only")
        q, k, v = (aligned(arrays.read(work, folder, name)) for name in "qkv")
        scale, kind = np.float32(work.scale), q.dtype
        hidden = hidden_pairs(work, folder)

        def attend() -> np.ndarray:
            # float16 is computed in float32: NumPy's own products of it are plain loops.
            s = (q.astype(np.float32, copy=False) * scale) @ k.astype(np.float32, copy=False).swapaxes(-1, -2)
            if hidden is not None:
                np.copyto(s, np.float32(-np.inf), where=hidden)
            s -= s.max(-1, keepdims=True)
            np.exp(s, out=s)
            z = s.sum(-1, keepdims=True)
            return ((s @ v.astype(np.float32, copy=False)) / z).astype(kind, copy=False)

        return {"matmul, softmax, matmul": attend}

    def outputs(self, work: Work, result: Any) -> dict[str, np.ndarray]:
        return {"o": result}


def make() -> Peer:
    return NumPy()
