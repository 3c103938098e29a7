# Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
"""What this build is, and which instruction set it uses."""

from __future__ import annotations

from typing import TypedDict

from foveate import _engine
from foveate._cores import usable_cores


class Info(TypedDict):
    """What info tells.

    Attributes:
        version: of foveate.
        target: the instruction set in use.
        targets: those that this processor could use, best first.
        cores: how many threads a call has unless it is told.
    """

    version: str
    target: str
    targets: list[str]
    cores: int


def info() -> Info:
    """What this build is: version; target, the instruction set in use; targets, those that this processor could use,
    best first; cores, how many threads a call has unless it is told.

    The environment variable FOVEATE_TARGET, or pin_target, fixes another instruction set.

    >>> sorted(info())
    ['cores', 'target', 'targets', 'version']
    """
    return Info(
        version=_engine.version, target=_engine.active_target(), targets=_engine.targets(), cores=usable_cores()
    )


def pin_target(name: str | None) -> None:
    """Makes later calls use the instruction set of that name, one of info()["targets"]; None goes back to the best one.

    Raises:
        ValueError: there is none of that name here.

    >>> pin_target(None)
    """
    if name is not None and (not isinstance(name, str) or not name or "\0" in name):
        raise ValueError(f"name: {name!r}, expected one of {', '.join(_engine.targets())}, or None")
    _engine.pin_target(name)
