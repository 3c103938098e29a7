# Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
"""zentorch, AMD's ZenDNN in PyTorch: its attention operator."""

from __future__ import annotations

import pathlib
from typing import Any

import torch
import zentorch

from peers.with_torch import Torch
from peers.work import Work
from peers.worker import Call, CannotDo, Peer


class Zentorch(Torch):
    def hello(self, threads: int) -> dict[str, Any]:
        facts = super().hello(threads)["facts"]
        return {"version": zentorch.__version__, "facts": facts | {"torch": torch.__version__}}

    def ways(self, work: Work, folder: pathlib.Path) -> dict[str, Call]:
        if work.additive or work.backward or work.window is not None or work.kept_blocks < 1:
            raise CannotDo("its operator is forward, dense or causal; the rest is PyTorch's own")
        if work.kv_dtype == "i8":
            raise CannotDo("no attention over int8 keys and values")
        if work.h_q != work.h_kv:
            raise CannotDo("one key head for each query head only")
        q, k, v = (self.tensor(work, folder, name) for name in "qkv")
        sdpa = torch.ops.zentorch.zentorch_sdpa
        return {"zentorch_sdpa": torch.inference_mode()(lambda: sdpa(q, k, v, 0.0, work.causal)[0])}


def make() -> Peer:
    return Zentorch()
