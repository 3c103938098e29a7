# Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
"""ONNX Runtime's operators for many heads: its own MultiHeadAttention, and ONNX's Attention."""

from __future__ import annotations

import pathlib
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper

from peers import arrays
from peers.aligned import aligned
from peers.hidden import hidden_pairs
from peers.work import Work
from peers.worker import Call, CannotDo, Peer


class Model:
    """One operator on arrays that stay bound, inputs and outputs alike."""

    def __init__(
        self,
        node: onnx.NodeProto,
        inputs: dict[str, np.ndarray],
        outputs: dict[str, np.ndarray],
        threads: int,
        shared: dict[str, str] | None = None,
    ):
        """shared: outputs that lie in the memory of an input."""
        values = {name: _value(x) for name, x in (outputs | inputs).items()}
        values |= {output: values[name] for output, name in (shared or {}).items()}
        self._session = onnxruntime.InferenceSession(
            _model(node, inputs, outputs).SerializeToString(), _options(threads), providers=["CPUExecutionProvider"]
        )
        self._binding = self._session.io_binding()
        for name in inputs:
            self._binding.bind_ortvalue_input(name, values[name])
        for name in outputs:
            self._binding.bind_ortvalue_output(name, values[name])
        self._result = values["o"]

    def __call__(self) -> Any:
        self._session.run_with_iobinding(self._binding)
        return self._result


def _options(threads: int) -> onnxruntime.SessionOptions:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL
    return options


def _model(node: onnx.NodeProto, inputs: dict[str, np.ndarray], outputs: dict[str, np.ndarray]) -> onnx.ModelProto:
    def described(values: dict[str, np.ndarray]) -> list[onnx.ValueInfoProto]:
        return [helper.make_tensor_value_info(name, _kind(x), x.shape) for name, x in values.items()]

    graph = helper.make_graph([node], "attention", described(inputs), described(outputs))
    opsets = [helper.make_opsetid("", 23), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=11)


def _value(x: np.ndarray) -> onnxruntime.OrtValue:
    if x.dtype == ml_dtypes.bfloat16:
        return onnxruntime.OrtValue.ortvalue_from_numpy_with_onnx_type(x.view(np.uint16), TensorProto.BFLOAT16)
    return onnxruntime.OrtValue.ortvalue_from_numpy(x)


def _kind(x: np.ndarray) -> int:
    return helper.np_dtype_to_tensor_dtype(x.dtype)


class OnnxRuntime(Peer):
    def hello(self, threads: int) -> dict[str, Any]:
        self.threads = threads
        return {"version": onnxruntime.__version__, "facts": {"provider": "CPU, MLAS"}}

    def input(self, work: Work, folder: pathlib.Path, name: str) -> np.ndarray:
        values = aligned(arrays.read(work, folder, name))
        return values.view(ml_dtypes.bfloat16) if arrays.shapes(work)[name][1] == "bf16" else values

    def ways(self, work: Work, folder: pathlib.Path) -> dict[str, Call]:
        if work.additive or work.backward:
            raise CannotDo("no operator for it")
        if work.kv_dtype == "i8":
            raise CannotDo("no attention over int8 keys and values with a scale a row")
        made: dict[str, Callable[[], Call]] = {
            "Attention (ONNX)": lambda: self._attention(work, folder),
            "MultiHeadAttention": lambda: self._multi_head(work, folder),
        }
        found, reasons = {}, []
        for name, make in made.items():
            try:
                found[name] = make()
            except Exception as error:  # the operator has no kernel for this type, or no such option
                reasons.append(f"{name}: {str(error).strip().splitlines()[0][:160]}")
        if not found:
            raise CannotDo("; ".join(reasons))
        return found

    def _attention(self, work: Work, folder: pathlib.Path) -> Call:
        inputs = {name: self.input(work, folder, name) for name in "qkv"}
        hidden = hidden_pairs(work, folder) if work.window is not None or work.kept_blocks < 1 else None
        if hidden is not None:
            inputs["mask"] = ~hidden
        node = helper.make_node("Attention", list(inputs), ["o"], is_causal=int(work.causal and hidden is None))
        o = np.zeros((work.b, work.h_q, work.n_q, work.d_v), inputs["q"].dtype)
        return Model(node, inputs, {"o": o}, self.threads)

    def _multi_head(self, work: Work, folder: pathlib.Path) -> Call:
        if work.h_q != work.h_kv or work.window is not None or work.kept_blocks < 1:
            raise CannotDo("key heads for each query head alone, without window or blocks")
        inputs = {name: heads_last(self.input(work, folder, name)) for name in "qkv"}
        node = helper.make_node(
            "MultiHeadAttention",
            list(inputs),
            ["o"],
            domain="com.microsoft",
            num_heads=work.h_q,
            unidirectional=int(work.causal),
        )
        o = np.zeros((work.b, work.n_q, work.h_q * work.d_v), inputs["q"].dtype)
        return Model(node, inputs, {"o": o}, self.threads)

    def made_bytes(self, work: Work) -> int:
        return 0

    def outputs(self, work: Work, result: Any) -> dict[str, np.ndarray]:
        o = result.numpy()
        if o.ndim == 3:
            o = o.reshape(work.b, work.n_q, work.h_q, work.d_v).swapaxes(1, 2)
        return {"o": o.astype(np.float32)}


def heads_last(x: np.ndarray) -> np.ndarray:
    """[b, h, n, d] as [b, n, h d]."""
    b, h, n, d = x.shape
    return aligned(x.swapaxes(1, 2).reshape(b, n, h * d))


def make() -> Peer:
    return OnnxRuntime()
