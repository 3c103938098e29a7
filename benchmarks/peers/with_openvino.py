# Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
"""OpenVINO's ScaledDotProductAttention, computed in the row's own type."""

from __future__ import annotations

import pathlib
from typing import Any

import numpy as np
import openvino
from openvino import opset13

from peers import arrays
from peers.aligned import aligned
from peers.hidden import hidden_pairs
from peers.work import Work
from peers.worker import Call, CannotDo, Peer

KINDS = {"f32": openvino.Type.f32, "f16": openvino.Type.f16, "bf16": openvino.Type.bf16}


class OpenVino(Peer):
    def hello(self, threads: int) -> dict[str, Any]:
        self._threads, self._core = threads, openvino.Core()
        facts = {"optimal types": " ".join(self._core.get_property("CPU", "OPTIMIZATION_CAPABILITIES"))}
        return {"version": openvino.__version__.partition("-")[0], "facts": facts}

    def ways(self, work: Work, folder: pathlib.Path) -> dict[str, Call]:
        if work.additive or work.backward:
            raise CannotDo("no operator for it")
        if work.kv_dtype == "i8":
            raise CannotDo("int8 in caches of its own alone, inside a model")
        if work.h_q != work.h_kv:
            raise CannotDo("no groups of query heads")
        shapes = {name: arrays.shapes(work)[name][0] for name in "qkv"}
        o_shape = (work.b, work.h_q, work.n_q, work.d_v)
        kind = KINDS[work.dtype]
        parameters = [opset13.parameter(shape, kind, name) for name, shape in shapes.items()]
        # A tensor does not keep the array whose memory it is.
        self._kept = [aligned(arrays.read(work, folder, name)) for name in shapes]
        tensors = [_tensor(x, shape, kind) for x, shape in zip(self._kept, shapes.values(), strict=True)]
        masked = work.window is not None or work.kept_blocks < 1
        if masked:
            seen = ~hidden_pairs(work, folder)
            self._kept.append(seen)
            parameters.append(opset13.parameter(seen.shape, openvino.Type.boolean, "mask"))
            tensors.append(_tensor(seen, seen.shape, openvino.Type.boolean))
        node = opset13.scaled_dot_product_attention(*parameters, causal=work.causal and not masked)
        request, kernel = self._compiled(openvino.Model([node], parameters), work)
        for index, tensor in enumerate(tensors):
            request.set_input_tensor(index, tensor)
        self._kept.append(aligned(np.zeros(o_shape, arrays.NUMPY[work.dtype])))
        o = _tensor(self._kept[-1], o_shape, kind)
        request.set_output_tensor(0, o)

        def attend() -> openvino.Tensor:
            request.start_async()
            request.wait()
            return o

        return {kernel: attend}

    def _compiled(self, model: openvino.Model, work: Work) -> tuple[openvino.InferRequest, str]:
        """And what its kernel is, as the plugin tells."""
        # Where the processor has no arithmetic of a narrow type, the plug-in takes another narrow one unasked.
        native = {"f32": "FP32", "f16": "FP16", "bf16": "BF16"}[work.dtype]
        has = native in self._core.get_property("CPU", "OPTIMIZATION_CAPABILITIES")
        settings = {
            "INFERENCE_PRECISION_HINT": work.dtype if has else "f32",
            "INFERENCE_NUM_THREADS": self._threads,
            "NUM_STREAMS": 1,
            "ENABLE_CPU_PINNING": False,
        }
        compiled = self._core.compile_model(model, "CPU", settings)
        infos = (node.get_rt_info() for node in compiled.get_runtime_model().get_ops())
        layers = [(_text(info, "layerType"), _text(info, "primitiveType")) for info in infos]
        kernels = [f"{layer} {kernel}" for layer, kernel in layers if layer not in ("Input", "Output", "Const")]
        return compiled.create_infer_request(), ", ".join(dict.fromkeys(kernels))

    def release(self) -> None:
        self._kept: list[np.ndarray] = []

    def made_bytes(self, work: Work) -> int:
        return 0

    def outputs(self, work: Work, result: Any) -> dict[str, np.ndarray]:
        shape = arrays.outputs(work)["o"]
        if work.dtype == "bf16":
            return {"o": arrays.from_bf16(result.data.view(np.uint16)).reshape(shape)}
        return {"o": result.data.astype(np.float32).reshape(shape)}


def _text(info: Any, key: str) -> str:
    return str(info[key].astype(str)) if hasattr(info[key], "astype") else str(info[key])


def _tensor(values: np.ndarray, shape: tuple[int, ...], kind: openvino.Type) -> openvino.Tensor:
    return openvino.Tensor(values, openvino.Shape(shape), kind)


def make() -> Peer:
    return OpenVino()
