# Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
"""Who takes part, and what the command refuses."""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys

import pytest
from peers import catalogue
from peers.__main__ import numbers


def names(text: str) -> list[str]:
    return [catalogue.identifier(candidate.name) for candidate in catalogue.chosen(text)]


def test_foveate_always_takes_part_and_a_whole_name_goes_before_a_part() -> None:
    assert names("all")[0] == "foveate"
    assert names("pytorch") == ["foveate", "foveate-in-cpp", "pytorch"]
    assert names("onnx") == ["foveate", "foveate-in-cpp", "onnx-runtime-mha", "onnx-runtime-gqa"]
    with pytest.raises(ValueError, match="--peers: no peer is named 'nobody'; expected some of foveate, "):
        names("numpy,nobody")


def test_every_environment_is_pinned() -> None:
    for candidate in catalogue.CANDIDATES:
        if candidate.requirements:
            lines = candidate.requirements.read_text().splitlines()
            assert all("==" in line for line in lines if line and not line.startswith("#")), candidate.name


def test_settings_that_slow_peers_are_left_out(monkeypatch) -> None:
    monkeypatch.setenv("OPENBLAS_CORETYPE", "Haswell")
    environment = catalogue.environment(catalogue.CANDIDATES[0], 3)
    assert "OPENBLAS_CORETYPE" not in environment
    assert environment["OMP_NUM_THREADS"] == "3"


def test_what_goes_before_all_libraries_goes_there() -> None:
    preloaded = [c for c in catalogue.CANDIDATES if "LD_PRELOAD" in catalogue.environment(c, 1)]
    assert [c.name for c in preloaded] == ["PyTorch (MKL as on Intel)"]


def test_a_peer_that_cannot_be_built_tells_why(monkeypatch, tmp_path) -> None:
    monkeypatch.setattr(catalogue, "BUILD", tmp_path)
    ggml = next(candidate for candidate in catalogue.CANDIDATES if candidate.name == "ggml")
    assert catalogue.install(ggml) == ""
    (tmp_path / "bench-venv").mkdir()
    (tmp_path / "bench-venv/ggml.missing").write_text("it does not build\n")
    assert catalogue.install(ggml) == "it does not build"


def test_numbers_of_threads() -> None:
    assert numbers("1,all", 4) == (1, 4)
    assert numbers("all,1", 1) == (1,)
    for text in ("0", "x", "-1", ""):
        with pytest.raises(ValueError, match="--threads: expected numbers or 'all'"):
            numbers(text, 4)
    with pytest.raises(ValueError, match="--threads: 5 asked for, and this process may use 4 cores"):
        numbers("5", 4)


def test_a_wrong_call_is_one_line_and_status_2() -> None:
    environment = os.environ | {"PYTHONPATH": str(pathlib.Path(__file__).resolve().parents[2])}
    command = [sys.executable, "-m", "peers", "--only", "nonsense"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert done.stderr.startswith("scripts/bench: --only: no row is named 'nonsense'")
