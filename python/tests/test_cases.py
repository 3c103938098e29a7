# Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
"""The cases of tests/cases, which other tests drive the command line with, through Python."""

import json
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

import foveate

CASES = Path(__file__).parents[2] / "tests" / "cases"
DTYPES = {"f16": np.float16, "bf16": ml_dtypes.bfloat16, "f32": np.float32, "f64": np.float64}


def run(folder, call):
    arrays = {name.replace("-", "_"): np.load(folder / file) for name, file in call["inputs"].items()}
    options = dict(call.get("options", {}))
    dtype = DTYPES[options.pop("dtype")] if "dtype" in options else arrays["q"].dtype
    q, k, v = (arrays.pop(name).astype(dtype, order="K") for name in "qkv")
    grad = arrays.pop("grad", None)
    out, lse = foveate.attention(q, k, v, return_lse=True, **arrays, **options)
    results = {"out": out, "lse": lse}
    if grad is not None:
        wanted = {"dbias": "bias" in arrays, "dsinks": "sinks" in arrays}
        gradients = foveate.attention_backward(grad.astype(dtype), q, k, v, out, lse, **wanted, **arrays, **options)
        results |= gradients._asdict()
    return results


@pytest.mark.parametrize("folder", sorted(p.parent for p in CASES.glob("*/case.json")), ids=lambda path: path.name)
def test_case(folder):
    case = json.loads((folder / "case.json").read_text())
    if "refused" in case:
        with pytest.raises((ValueError, TypeError)) as refusal:
            run(folder, case["calls"][0])
        message = str(refusal.value)
        assert "\n" not in message
        assert all(word in message for word in case["refused"]), message
        return
    results = [run(folder, call) for call in case["calls"]]
    close = case.get("close", {"arrays": {}})
    for name, file in close["arrays"].items():
        got, expected = results[0][name], np.load(folder / file)
        assert got.shape == expected.shape
        np.testing.assert_allclose(got.astype(np.float64), expected, close["rtol"], close["atol"], err_msg=name)
    if "out_dtype" in case:
        in_file = {"bfloat16": "float32"}  # .npy has no bfloat16
        name = results[0]["out"].dtype.name
        assert in_file.get(name, name) == case["out_dtype"]
    for same in case.get("same_bits", []):
        first, second = (results[call][same["array"]] for call in same["calls"])
        if "of_first" in same:
            part = same["of_first"]
            first = first.take(range(part["from"], part["to"]), axis=part["axis"])
        assert first.tobytes() == second.tobytes()
