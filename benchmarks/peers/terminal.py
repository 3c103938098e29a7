# Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
"""One line that says what goes on, on a terminal alone."""

from __future__ import annotations

import shutil
from types import TracebackType
from typing import TextIO


class Progress:
    def __init__(self, stream: TextIO):
        self._stream, self._shown = stream, stream.isatty()

    def __enter__(self) -> Progress:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.clear()

    def __call__(self, text: str) -> None:
        if self._shown:
            width = shutil.get_terminal_size().columns - 1
            self._stream.write(f"\r\x1b[K{text[:width]}")
            self._stream.flush()

    def clear(self) -> None:
        if self._shown:
            self._stream.write("\r\x1b[K")
            self._stream.flush()
