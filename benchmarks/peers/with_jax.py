# Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
"""JAX: jax.nn.dot_product_attention, compiled by XLA."""

from __future__ import annotations

import os
import pathlib
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np

from peers import arrays
from peers.hidden import hidden_pairs
from peers.work import Work
from peers.worker import Call, CannotDo, Peer


class Jax(Peer):
    def hello(self, threads: int) -> dict[str, Any]:
        if threads == 1:
            os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
        import jax  # reads its flags once

        jax.config.update("jax_cpu_enable_async_dispatch", False)  # calls are made by the thread that asks
        self._jax = jax
        return {"version": jax.__version__, "facts": {"devices": str(jax.devices())}}

    def _input(self, work: Work, folder: pathlib.Path, name: str, swapped: bool) -> Any:
        values = np.asarray(arrays.read(work, folder, name))
        if arrays.shapes(work)[name][1] == "bf16":
            values = values.view(ml_dtypes.bfloat16)
        return self._jax.device_put(np.ascontiguousarray(values.swapaxes(1, 2)) if swapped else np.array(values))

    def ways(self, work: Work, folder: pathlib.Path) -> dict[str, Call]:
        if work.kv_dtype == "i8":
            raise CannotDo("no attention over int8 keys and values")
        if work.additive:
            names = ("q", "k", "v", "w_q", "w_k", "w", "bias")
            return {"jit": self._called(self._additive(), [self._input(work, folder, name, False) for name in names])}
        inputs = [self._input(work, folder, name, True) for name in "qkv"]
        attend = self._attention(work, folder)
        if not work.backward:
            return {"dot_product_attention, jit": self._called(attend, inputs)}

        def both(q: Any, k: Any, v: Any, d_o: Any) -> tuple[Any, ...]:
            o, gradients = self._jax.vjp(attend, q, k, v)
            return (o, *gradients(d_o))

        return {
            "dot_product_attention and vjp, jit": self._called(both, [*inputs, self._input(work, folder, "d_o", True)])
        }

    def _called(self, function: Callable[..., Any], inputs: list[Any]) -> Call:
        compiled = self._jax.jit(function).lower(*inputs).compile()
        return lambda: self._jax.block_until_ready(compiled(*inputs))

    def _attention(self, work: Work, folder: pathlib.Path) -> Callable[..., Any]:
        options: dict[str, Any] = {"is_causal": work.causal}
        if work.window is not None:
            options["local_window_size"] = (work.window, 0)
        if work.kept_blocks < 1:
            options["mask"] = self._jax.device_put(~hidden_pairs(work, folder))[None, None]
        return lambda q, k, v: self._jax.nn.dot_product_attention(q, k, v, **options)

    def _additive(self) -> Callable[..., Any]:
        jnp, softmax = self._jax.numpy, self._jax.nn.softmax

        def attend(q: Any, k: Any, v: Any, w_q: Any, w_k: Any, w: Any, bias: Any) -> Any:
            features = jnp.tanh((q @ w_q.T + bias)[..., :, None, :] + (k @ w_k.T)[..., None, :, :])
            return softmax((features * w).sum(-1)) @ v

        return attend

    def outputs(self, work: Work, result: Any) -> dict[str, np.ndarray]:
        results = result if isinstance(result, tuple) else (result,)
        wide = [np.asarray(x).astype(np.float32) for x in results]
        swapped = wide if work.additive else [x.swapaxes(1, 2) for x in wide]
        return dict(zip(arrays.outputs(work), swapped, strict=True))


def make() -> Peer:
    return Jax()
