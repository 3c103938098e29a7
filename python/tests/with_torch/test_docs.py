# Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
"""What is shown is what happens: the examples of docstrings, and the page docs/start/torch.md."""

import contextlib
import doctest
import io
import pkgutil
import re
from pathlib import Path

import pytest
import torch

import foveate.torch
import foveate.torch.transformers

PAGE = Path(__file__).parents[3] / "docs/start/torch.md"
MODULES = ["foveate.torch", *(f"foveate.torch.{name}" for _, name, _ in pkgutil.iter_modules(foveate.torch.__path__))]


@pytest.mark.parametrize("name", MODULES)
def test_examples_of_docstrings(name):
    module = __import__(name, fromlist=["_"])
    names = {"torch": torch, "foveate": foveate}
    assert doctest.testmod(module, extraglobs=names).failed == 0


def test_public_functions_have_an_example():
    for name in foveate.torch.__all__:
        thing = getattr(foveate.torch, name)
        assert thing.__doc__, name
        if not isinstance(thing, type):
            assert ">>> " in thing.__doc__, name


def blocks():
    """Python and, where one follows, what it prints."""
    found = re.findall(r"^```(\w*)\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    for place, (language, text) in enumerate(found):
        if language == "python":
            after = found[place + 1] if place + 1 < len(found) else ("python", "")
            yield text, after[1] if after[0] == "" else None


def test_the_page():
    torch.manual_seed(0)
    scope: dict = {}
    shown = 0
    for code, expected in blocks():
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(code, str(PAGE), "exec"), scope)
        if expected is not None:
            shown += 1
            begin = expected.removesuffix("...\n")
            assert printed.getvalue().startswith(begin), printed.getvalue()
            assert expected != begin or printed.getvalue() == expected
    assert shown == 2
    assert scope["tokens"].shape == (1, 20)
