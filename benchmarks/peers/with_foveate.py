# Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
"""Foveate, through its Python package."""

from __future__ import annotations

import pathlib
from typing import Any

import numpy as np

import foveate
from peers import arrays
from peers.aligned import aligned
from peers.work import Work
from peers.worker import Call, Peer

# bfloat16 has no type in NumPy; foveate takes records of one field of this name for it.
BFLOAT16 = np.dtype([("bfloat16", "<u2")])


class Foveate(Peer):
    def hello(self, threads: int) -> dict[str, Any]:
        self._threads = threads
        info = foveate.info()
        return {"version": info["version"], "facts": {"target": info["target"]}}

    def _input(self, work: Work, folder: pathlib.Path, name: str) -> np.ndarray:
        values = aligned(arrays.read(work, folder, name))
        return values.view(BFLOAT16) if arrays.shapes(work)[name][1] == "bf16" else values

    def ways(self, work: Work, folder: pathlib.Path) -> dict[str, Call]:
        a = {name: self._input(work, folder, name) for name in arrays.shapes(work)}
        out = aligned(np.zeros((work.b, work.h_q, work.n_q, work.d_v), a["q"].dtype))
        options: dict[str, Any] = {"threads": self._threads}
        if work.additive:
            parameters = {"w_q": a["w_q"], "w_k": a["w_k"], "w": a["w"], "b": a["bias"]}
            q, k, v = a["q"], a["k"], a["v"]
            return {"additive": lambda: foveate.additive_attention(q, k, v, out=out, **parameters, **options)}
        if work.causal:
            options["causal"] = True
        if work.window is not None:
            options["window"] = (work.window, -1)
        if "blocks" in a:
            options |= {"blocks": a["blocks"], "block_size": work.BLOCK}
        if "k_scales" in a:
            options |= {"k_scales": a["k_scales"], "v_scales": a["v_scales"]}
        q, k, v = a["q"], a["k"], a["v"]
        if not work.backward:
            return {"attention": lambda: foveate.attention(q, k, v, out=out, **options)}
        d_o = a["d_o"]

        def both() -> Any:
            o, lse = foveate.attention(q, k, v, out=out, return_lse=True, **options)
            return o, foveate.attention_backward(d_o, q, k, v, o, lse, **options)

        return {"attention and attention_backward": both}

    def made_bytes(self, work: Work) -> int:
        return work.output_bytes - work.o_bytes  # gradients alone; o is written where it always was

    def outputs(self, work: Work, result: Any) -> dict[str, np.ndarray]:
        if work.backward:
            o, gradients = result
            return {"o": o, "dq": gradients.dq, "dk": gradients.dk, "dv": gradients.dv}
        return {"o": arrays.from_bf16(result.view(np.uint16)) if work.dtype == "bf16" else result}


def make() -> Peer:
    return Foveate()
