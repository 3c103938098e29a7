# Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
"""ONNX Runtime's GroupQueryAttention: always causal, with a cache that past and present share."""

from __future__ import annotations

import pathlib

import numpy as np
from onnx import helper

from peers.aligned import aligned
from peers.with_onnxruntime import Model, OnnxRuntime, heads_last
from peers.work import Work
from peers.worker import Call, CannotDo, Peer


class GroupQuery(OnnxRuntime):
    def ways(self, work: Work, folder: pathlib.Path) -> dict[str, Call]:
        if work.additive or work.backward or work.kept_blocks < 1:
            raise CannotDo("no operator for it")
        if work.kv_dtype == "i8":
            raise CannotDo("no int8 cache with a scale a row")
        if not work.causal and work.n_q > 1:
            raise CannotDo("always causal")
        if work.dtype == "bf16":
            raise CannotDo("float32 and float16 alone on CPUs")
        if work.d_k != work.d_v:
            raise CannotDo("keys and values of one head dim alone")
        q, k, v = (self.input(work, folder, name) for name in "qkv")
        # The last n_q keys are new; those before them stand in the cache already, which has room for all.
        new = slice(work.n_kv - work.n_q, None)
        inputs = {
            "q": heads_last(q),
            "k": heads_last(k[:, :, new]),
            "v": heads_last(v[:, :, new]),
            "past_k": aligned(k),
            "past_v": aligned(v),
            "seqlens_k": np.full(work.b, work.n_kv - 1, np.int32),
            "total": np.array(work.n_kv, np.int32),
        }
        window = {} if work.window is None else {"local_window_size": work.window + 1}
        node = helper.make_node(
            "GroupQueryAttention",
            list(inputs),
            ["o", "present_k", "present_v"],
            domain="com.microsoft",
            num_heads=work.h_q,
            kv_num_heads=work.h_kv,
            **window,
        )
        o = np.zeros((work.b, work.n_q, work.h_q * work.d_v), q.dtype)
        outputs = {"o": o, "present_k": inputs["past_k"], "present_v": inputs["past_v"]}
        shared = {"present_k": "past_k", "present_v": "past_v"}
        return {"GroupQueryAttention": Model(node, inputs, outputs, self.threads, shared)}


def make() -> Peer:
    return GroupQuery()
