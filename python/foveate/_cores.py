# Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
"""How many cores this process may use."""

from __future__ import annotations

import math
import os
from functools import cache
from pathlib import Path


@cache
def _allowed_by_group() -> float:
    """Cores' worth of time that the control group allows: "quota period" in microseconds, or "max period"."""
    try:
        quota, period = Path("/sys/fs/cgroup/cpu.max").read_text().split()
        return math.inf if quota == "max" else int(quota) / int(period)
    except (OSError, ValueError, ZeroDivisionError):
        return math.inf


def usable_cores() -> int:
    """Those of this process's affinity, and no more than its control group gives time for: more threads would wait."""
    here = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, math.ceil(min(here, _allowed_by_group())))
