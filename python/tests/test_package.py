# Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
"""The package: its examples run, its types hold, its names are documented."""

import doctest
import importlib.util
import inspect
import os
import pkgutil
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import foveate
from foveate import _engine
from foveate._options import AttentionOptions

MODULES = [name for _, name, _ in pkgutil.iter_modules(foveate.__path__) if name.startswith("_") and name != "_engine"]


@pytest.mark.parametrize("name", MODULES)
def test_examples(name):
    module = importlib.import_module(f"foveate.{name}")
    public = {each: getattr(foveate, each) for each in foveate.__all__}
    assert doctest.testmod(module, extraglobs=public).failed == 0


def test_whatever_is_public_is_documented_with_an_example():
    assert doctest.testmod(foveate).failed == 0
    for name in foveate.__all__:
        item = getattr(foveate, name)
        assert inspect.getdoc(item), name
        if inspect.isfunction(item) or name == "KvCache":
            assert ">>> " in item.__doc__, name


def test_attention_has_all_options_by_name():
    named = set(inspect.signature(foveate.attention).parameters)
    assert named - {"q", "k", "v", "out", "return_lse", "return_weights"} == set(AttentionOptions.__annotations__)
    with pytest.raises(TypeError, match=r"attention_backward\(\) got an unexpected keyword argument 'casual'"):
        foveate.attention_backward(*[None] * 6, casual=True)


@pytest.mark.parametrize("function", ["attention", "additive_attention", "inspect", "diagnose"])
@pytest.mark.parametrize(
    ("name", "remedy"),
    [("is_causal", "use causal=True"), ("attn_mask", "use mask"), ("query", "here it is q"), ("casual", "'causal'")],
)
def test_names_of_others_are_told_what_they_are_here(function, name, remedy):
    with pytest.raises(TypeError, match=rf"^{function}\(\) got an unexpected keyword argument '{name}'; .*{remedy}"):
        getattr(foveate, function)(**{name: 1})


def test_stubs_name_what_the_module_has():
    stub = (Path(foveate.__file__).parent / "_engine.pyi").read_text()
    for name in dir(_engine):
        if not name.startswith("_"):
            assert any(f"{word} {name}" in stub for word in ("def", "class")) or f"{name}: " in stub, name


@pytest.mark.skipif(sys.platform != "linux" or shutil.which("nm") is None, reason="nm of a Linux library")
def test_the_module_exports_nothing_else():
    listed = subprocess.run(
        ["nm", "-D", "--defined-only", _engine.__file__], capture_output=True, text=True, check=True
    )
    assert [line.split()[-1] for line in listed.stdout.splitlines()] == ["PyInit__engine"]


def test_info_and_targets():
    info = foveate.info()
    assert info["version"] == foveate.__version__ and info["target"] in info["targets"] and info["cores"] >= 1
    foveate.pin_target("scalar")
    assert foveate.info()["target"] == "scalar"
    foveate.pin_target(None)
    with pytest.raises(ValueError, match="no-such"):
        foveate.pin_target("no-such")


def test_cores_are_no_more_than_the_affinity():
    one = (
        "import os, foveate; os.sched_setaffinity(0, list(os.sched_getaffinity(0))[:1]); print(foveate.info()['cores'])"
    )
    assert subprocess.run([sys.executable, "-c", one], capture_output=True, text=True).stdout == "1\n"


def test_the_article_has_its_figures():
    article = Path(__file__).parents[2] / "examples" / "article.py"
    printed = subprocess.run([sys.executable, article], capture_output=True, text=True, check=True).stdout
    assert [line.split(":")[1].split()[0] for line in printed.splitlines()] == [
        "15.29",
        "0.96",
        "0.757",
        "0.374",
        "True",
    ]


def test_types(tmp_path):
    pytest.importorskip("mypy")
    package = Path(foveate.__file__).resolve().parent
    user = Path(__file__).parent / "typed_user.py"
    environment = os.environ | {"MYPY_CACHE_DIR": str(tmp_path)}
    if package.parent.name != "site-packages":  # where mypy looks by itself
        environment["MYPYPATH"] = str(package.parent)
    own = [word for name in ("", *MODULES) for word in ("-m", f"foveate.{name}".rstrip("."))]
    if importlib.util.find_spec("torch"):
        own = ["-p", "foveate"]
    for what in ([str(user)], own):
        command = [sys.executable, "-m", "mypy", "--strict", *what]
        run = subprocess.run(command, env=environment, capture_output=True, text=True)
        assert run.returncode == 0, run.stdout
