# Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
"""PyTorch: scaled_dot_product_attention, flex_attention for windows and blocks, torch.compile for additive scores."""

from __future__ import annotations

import pathlib
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.attention.flex_attention import create_block_mask, flex_attention

from peers import arrays
from peers.aligned import aligned
from peers.hidden import hidden_pairs
from peers.work import Work
from peers.worker import Call, CannotDo, Peer


class Torch(Peer):
    def hello(self, threads: int) -> dict[str, Any]:
        torch.set_num_threads(threads)
        capability = torch.backends.cpu.get_cpu_capability()
        facts = {"capability": capability, "mkl": str(torch.backends.mkl.is_available())}
        return {"version": torch.__version__, "facts": facts}

    def tensor(self, work: Work, folder: pathlib.Path, name: str) -> torch.Tensor:
        tensor = torch.from_numpy(aligned(arrays.read(work, folder, name)))
        return tensor.view(torch.bfloat16) if arrays.shapes(work)[name][1] == "bf16" else tensor

    def ways(self, work: Work, folder: pathlib.Path) -> dict[str, Call]:
        if work.kv_dtype == "i8":
            raise CannotDo("no attention over int8 keys and values in PyTorch")
        q, k, v = (self.tensor(work, folder, name) for name in "qkv")
        if work.additive:
            return {"torch.compile": self._additive(work, folder, q, k, v)}
        if work.window is not None or work.kept_blocks < 1:
            return self._masked(work, folder, q, k, v)
        if work.backward:
            return {"SDPA and autograd": self._gradients(work, folder, q, k, v)}
        grouped = work.h_q != work.h_kv

        def sdpa(backend: SDPBackend | None) -> Call:
            def attend() -> torch.Tensor:
                return F.scaled_dot_product_attention(q, k, v, is_causal=work.causal, enable_gqa=grouped)

            def attend_by() -> torch.Tensor:
                with sdpa_kernel(backend):
                    return attend()

            return torch.inference_mode()(attend if backend is None else attend_by)

        ways = {_kernel(q, k, v, work): sdpa(None)}
        if work.n_q == 1 and "flash" in next(iter(ways)):
            ways["SDPA, math kernel"] = sdpa(SDPBackend.MATH)
        return ways

    def _gradients(self, work: Work, folder: pathlib.Path, *inputs: torch.Tensor) -> Call:
        d_o = self.tensor(work, folder, "d_o")
        leaves = [x.requires_grad_() for x in inputs]

        def both() -> tuple[torch.Tensor, ...]:
            o = F.scaled_dot_product_attention(*leaves, is_causal=work.causal)
            return (o.detach(), *torch.autograd.grad(o, leaves, d_o))

        return both

    def _masked(self, work: Work, folder: pathlib.Path, q: Any, k: Any, v: Any) -> dict[str, Call]:
        """flex_attention, which skips blocks, and SDPA under a mask."""
        seen = torch.from_numpy(~hidden_pairs(work, folder))
        kept = self.tensor(work, folder, "blocks")[0, 0] if work.kept_blocks < 1 else None

        def in_window(b: Any, h: Any, i: Any, j: Any) -> Any:
            return (j <= i) & (j >= i - work.window)

        def in_blocks(b: Any, h: Any, i: Any, j: Any) -> Any:
            return kept[i // work.BLOCK, j // work.BLOCK]

        pattern = in_window if kept is None else in_blocks
        size = 128 if kept is None else work.BLOCK
        mask = create_block_mask(pattern, None, None, work.n_q, work.n_kv, device="cpu", BLOCK_SIZE=size)
        flex = torch.compile(flex_attention, dynamic=False)
        return {
            "flex_attention, compiled": compiled_now(lambda: flex(q, k, v, block_mask=mask)),
            "SDPA with a mask": torch.inference_mode()(lambda: F.scaled_dot_product_attention(q, k, v, attn_mask=seen)),
        }

    def _additive(self, work: Work, folder: pathlib.Path, q: Any, k: Any, v: Any) -> Call:
        w_q, w_k, w, bias = (self.tensor(work, folder, name) for name in ("w_q", "w_k", "w", "bias"))

        def attend(q: Any, k: Any, v: Any) -> torch.Tensor:
            features = torch.tanh((q @ w_q.T + bias)[..., :, None, :] + (k @ w_k.T)[..., None, :, :])
            return ((features * w).sum(-1)).softmax(-1) @ v

        compiled = torch.compile(attend, dynamic=False)
        return compiled_now(lambda: compiled(q, k, v))

    def outputs(self, work: Work, result: Any) -> dict[str, np.ndarray]:
        results = result if isinstance(result, tuple) else (result,)
        return {name: x.float().numpy() for name, x in zip(arrays.outputs(work), results, strict=True)}


def compiled_now(call: Call) -> Call:
    """The call without gradients, made once, lest compiling counts as its time or memory."""
    call = torch.inference_mode()(call)
    call()
    return call


def _kernel(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, work: Work) -> str:
    """Which kernel SDPA takes, as it tells itself."""
    chosen = torch._fused_sdp_choice(q, k, v, is_causal=work.causal, enable_gqa=work.h_q != work.h_kv)
    name = "flash" if chosen == int(SDPBackend.FLASH_ATTENTION) else "math"
    return f"SDPA, {name} kernel"


def make() -> Peer:
    return Torch()
