# Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
"""The same arrays through C, C++, the command line and Python give the same bytes."""

import os
import subprocess
from pathlib import Path

import numpy as np
import pytest

import foveate

SHAPES = [(1, 1, 1), (3, 17, 5), (4, 130, 64), (2, 1100, 40)]


def built(name):
    """A program of the build tree that FOVEATE_COMMAND is of."""
    command = os.environ.get("FOVEATE_COMMAND")
    if command is None:
        pytest.skip("FOVEATE_COMMAND names no build")
    return Path(command).parent / name


@pytest.mark.parametrize("shape", SHAPES)
def test_all_faces_give_the_same_bytes(shape, tmp_path):
    q, k, v = np.random.default_rng(shape[1]).standard_normal((3, *shape), np.float32)
    o, lse = foveate.attention(q, k, v, causal=True, return_lse=True)
    expected = o.tobytes() + lse.tobytes()

    for face in ("face_c", "face_cpp"):
        call = [built(face), *map(str, shape)]
        done = subprocess.run(call, input=q.tobytes() + k.tobytes() + v.tobytes(), capture_output=True, check=True)
        assert done.stdout == expected, face

    for name, array in {"q": q, "k": k, "v": v}.items():
        np.save(tmp_path / f"{name}.npy", array)
    files = "--q q.npy --k k.npy --v v.npy --causal --out o.npy --lse lse.npy"
    subprocess.run([built("foveate"), "attend", *files.split()], cwd=tmp_path, check=True)
    assert np.load(tmp_path / "o.npy").tobytes() + np.load(tmp_path / "lse.npy").tobytes() == expected
