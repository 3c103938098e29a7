# Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
"""The same arrays through Python and the command line: the same bits."""

import os
import subprocess

import ml_dtypes
import numpy as np
import pytest

import foveate

COMMAND = os.environ.get("FOVEATE_COMMAND")
pytestmark = pytest.mark.skipif(COMMAND is None, reason="FOVEATE_COMMAND does not name the command line")


@pytest.mark.parametrize("dtype", ["f4", "f8", "f2", "bf16"])
@pytest.mark.parametrize(
    "options", [{}, {"causal": True, "softcap": 5.0}, {"window": (20, 3), "dropout": 0.25, "seed": 9}]
)
def test_the_bits_are_the_same(tmp_path, rng, dtype, options):
    numpy = np.dtype(ml_dtypes.bfloat16 if dtype == "bf16" else dtype)
    q, k, v, d_o = (rng.standard_normal((2, h, 130, 24)).astype("f4").astype(numpy) for h in (4, 2, 2, 4))
    bias = rng.standard_normal((4, 1, 130)).astype("f8" if dtype == "f8" else "f4")
    results = foveate.attention(q, k, v, bias=bias, return_lse=True, return_weights=True, **options)
    gradients = foveate.attention_backward(d_o, q, k, v, results.o, results.lse, bias=bias, dbias=True, **options)
    python = {"out": results.o, "lse": results.lse, "weights": results.weights} | gradients._asdict()

    command = [COMMAND, "attend", *(["--dtype", "bf16"] if dtype == "bf16" else [])]
    for name, array in (("q", q), ("k", k), ("v", v), ("grad", d_o), ("bias", bias)):
        np.save(tmp_path / name, array.astype("f4") if array.dtype == ml_dtypes.bfloat16 else array)
        command += [f"--{name}", f"{name}.npy"]
    names = ("out", "lse", "weights", "dq", "dk", "dv", "dbias")
    for name in names:
        command += [f"--{name}", f"got_{name}.npy"]
    for name, value in options.items():
        text = ",".join(map(str, value)) if isinstance(value, tuple) else str(value)
        command += [f"--{name}"] if value is True else [f"--{name}", text]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    for name in names:
        ours, theirs = python[name], np.load(tmp_path / f"got_{name}.npy")
        assert ours.shape == theirs.shape
        if name == "dbias":  # which the command line gives in q's type
            ours = ours.astype(numpy)
        assert ours.astype(theirs.dtype).tobytes() == theirs.tobytes(), name
