# Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
"""NumKong: bfloat16 and int8 attention, once a release has kernels for it that this machine can call."""

from __future__ import annotations

import pathlib
from typing import Any

import numkong
import numpy as np

from peers.work import Work
from peers.worker import Call, CannotDo, Peer


class NumKong(Peer):
    def hello(self, threads: int) -> dict[str, Any]:
        if not any("attention" in name for name in dir(numkong)):
            version = f"version {numkong.__version__}"
            raise CannotDo(f"{version} has no attention in Python, and in C for AMX and SME alone")
        return {"version": numkong.__version__, "facts": {}}

    def ways(self, work: Work, folder: pathlib.Path) -> dict[str, Call]:
        raise CannotDo(f"the attention of version {numkong.__version__} is not called here yet")

    def outputs(self, work: Work, result: Any) -> dict[str, np.ndarray]:
        return {}


def make() -> Peer:
    return NumKong()
