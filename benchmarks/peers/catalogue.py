# Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
"""Who is measured: each peer's environment, and how its process is started.

A peer that is not to be had is kept with the reason, for the table to tell.
"""

from __future__ import annotations

import dataclasses
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = ROOT / "build"
BENCH = BUILD / "bench"
REQUIREMENTS = pathlib.Path(__file__).parent / "requirements"
# Some machines set these for libraries that are older; they slow newer ones.
SLOWING = ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE")
THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMEXPR_NUM_THREADS")


@dataclasses.dataclass(frozen=True)
class Candidate:
    """A peer as the table names it.

    Attributes:
        venv: of its Python, in build/bench-venv, or one that the project has anyhow; "": it is a program in C++.
        requirements: what that environment is made of; None: it is there.
        module: with_MODULE.py, or the program peer_MODULE.
        beside: another environment, whose packages it has too.
        preload: a library of build/bench that is loaded before all others.
        ours: it is foveate, and no peer.
    """

    name: str
    module: str
    venv: str = ""
    requirements: pathlib.Path | None = None
    beside: str = ""
    preload: str = ""
    ours: bool = False


def _own(name: str, module: str) -> Candidate:
    return Candidate(name, module, f"bench-venv/{module}", REQUIREMENTS / f"{module}.txt")


TORCH = ROOT / "python/tests/with_torch/requirements.txt"
CANDIDATES = (
    Candidate("foveate", "foveate", "python-venv", ours=True),
    Candidate("foveate in C++", "foveate", ours=True),
    Candidate("unfused", "unfused"),
    _own("NumPy", "numpy"),
    Candidate("PyTorch", "torch", "torch-venv", TORCH),
    Candidate("PyTorch (MKL as on Intel)", "torch", "torch-venv", TORCH, preload="libmkl_as_on_intel.so"),
    Candidate("ONNX Runtime MHA", "onnxruntime", "bench-venv/onnxruntime", REQUIREMENTS / "onnxruntime.txt"),
    Candidate("ONNX Runtime GQA", "onnxruntime_gqa", "bench-venv/onnxruntime", REQUIREMENTS / "onnxruntime.txt"),
    _own("OpenVINO", "openvino"),
    _own("JAX", "jax"),
    Candidate("zentorch", "zentorch", "bench-venv/zentorch", REQUIREMENTS / "zentorch.txt", beside="torch-venv"),
    _own("NumKong", "numkong"),
    Candidate("ggml", "ggml"),
)


def identifier(name: str) -> str:
    """A name as one writes it on the command line."""
    return name.lower().replace("c++", "cpp").translate(str.maketrans(" ", "-", "()"))


def chosen(names: str) -> tuple[Candidate, ...]:
    """Of "all", or of a list of names; foveate always takes part."""
    if names == "all":
        return CANDIDATES
    wanted = names.split(",")
    known = {identifier(candidate.name): candidate for candidate in CANDIDATES}
    named = {identifier(candidate.name) for candidate in CANDIDATES if candidate.ours}
    for name in wanted:
        found = {name} & known.keys() or {key for key in known if name and name in key}
        if not found:
            raise ValueError(f"--peers: no peer is named {name!r}; expected some of {', '.join(known)}")
        named |= found
    return tuple(candidate for key, candidate in known.items() if key in named)


def install(candidate: Candidate) -> str:
    """Makes its environment where that is not done; returns why it is not to be had, or ""."""
    if not candidate.venv:
        why = BUILD / "bench-venv" / f"{candidate.module}.missing"
        return why.read_text().strip() if why.exists() else ""
    if candidate.requirements is None:
        return ""
    if candidate.beside:
        other = next(c for c in CANDIDATES if c.venv == candidate.beside)
        if why := install(other):
            return f"{other.name}, which it needs: {why}"
    venv = BUILD / candidate.venv
    venv.parent.mkdir(parents=True, exist_ok=True)
    command = ["scripts/venv", str(venv), str(candidate.requirements), "--no-deps"]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=sys.stderr, text=True)
    if done.returncode:
        return done.stdout.strip() or "it does not install"
    if candidate.beside:
        packages = f"lib/python{sys.version_info.major}.{sys.version_info.minor}/site-packages"
        # Read behind the environment's own packages, which so come first.
        (venv / packages / "beside.pth").write_text(f"{(BUILD / candidate.beside).resolve() / packages}\n")
    return ""


def environment(candidate: Candidate, threads: int) -> dict[str, str]:
    """Of its process."""
    kept = {name: value for name, value in os.environ.items() if name not in SLOWING}
    kept |= dict.fromkeys(THREADS, str(threads))
    paths = [str(ROOT / "benchmarks"), str(BUILD / "release/python")]
    if candidate.preload:
        kept["LD_PRELOAD"] = str(BENCH / candidate.preload)
    return kept | {
        "PYTHONPATH": os.pathsep.join(paths),
        "PYTHONDONTWRITEBYTECODE": "1",
        "TORCHINDUCTOR_CACHE_DIR": str(BUILD / "bench-venv/inductor"),
        "JAX_PLATFORMS": "cpu",
    }


def command(candidate: Candidate) -> list[str]:
    if not candidate.venv:
        return [str(BENCH / f"peer_{candidate.module}")]
    return [str(BUILD / candidate.venv / "bin/python"), "-m", "peers.worker", candidate.module]
