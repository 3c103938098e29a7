# Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
"""What the documentation shows is what happens: every snippet of README.md and docs/ is run, page by page.

console   each "$ " line in a shell, in a folder of the page's own; what it prints is held against what the page shows:
          "..." stands for any lines, and numbers may differ in their last digits, as between instruction sets
sh        in the same folder; has to succeed
python    one after the other, in one process of the page's own, in that folder too
c, cpp    compiled and run; or where there is no main(), a part of a file of examples/ or tests/, which are run too
cmake, js such a part

A block is left out where the line before its fence says why: <!-- not run: it needs ... -->. Called by ctest, which
hands over the programs:

    python3 tests/docs_test.py --binaries build/release --compile 'g++ ...' --compile-c 'gcc ...' --python PYTHON
"""

import argparse
import functools
import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
PROGRAMS = argparse.Namespace()


class Block(NamedTuple):
    language: str
    line: int
    text: str


def blocks_of(page):
    """The fenced blocks of a page that are to be run."""
    found, inside, left_out = [], None, False
    for number, line in enumerate(page.read_text().splitlines(), 1):
        fence = re.match(r"```+\s*(\w*)", line)
        if inside is None and fence:
            inside = Block(fence[1], number, "")
        elif inside is not None and fence:
            if not left_out:
                found.append(inside)
            inside = None
        elif inside is not None:
            inside = inside._replace(text=inside.text + line + "\n")
        else:
            left_out = line.startswith("<!-- not run:") or (left_out and not line)
    return found


def same(shown, printed):
    """Whether two lines are the same up to the last digits of their numbers."""
    number = r"\d[\d.]*(?:e[-+]?\d+)?"
    if re.sub(number, "0", " ".join(shown.split())) != re.sub(number, "0", " ".join(printed.split())):
        return False
    for a, b in zip(re.findall(number, shown), re.findall(number, printed), strict=True):
        try:
            x, y = float(a), float(b)
        except ValueError:
            if a != b:
                return False
            continue
        residuals = abs(x) < 1e-4 and abs(y) < 1e-4  # roundings, which no two instruction sets share
        if not residuals and abs(x - y) > 0.02 * abs(x):
            return False
    return True


def differs(shown, printed):
    """The first line shown that is not printed where it should be; "" where all are."""
    at, anything = 0, False
    for line in shown:
        if line == "...":
            anything = True
            continue
        while anything and at < len(printed) and not same(line, printed[at]):
            at += 1
        if at == len(printed) or not same(line, printed[at]):
            return line
        at, anything = at + 1, False
    return "" if anything or at == len(printed) else "(nothing more) but " + printed[at]


def squeezed(text):
    return " ".join(text.split())


@functools.cache
def examples():
    """The programs that tests compile and run, squeezed."""
    kinds = (".c", ".cc", ".rs", ".txt", ".cmake", ".mjs")
    files = [f for part in ("examples", "tests") for f in (ROOT / part).rglob("*") if f.suffix in kinds]
    # Its own test runs what the package's README shows.
    return [squeezed(f.read_text()) for f in [*files, ROOT / "web/package/README.md"]]


class Snippets(unittest.TestCase):
    """A test a page; made below."""

    def run_page(self, page):
        with tempfile.TemporaryDirectory(prefix="foveate-docs-") as folder:
            release = Path(folder) / "build/release"  # where the pages have what is built
            release.parent.mkdir()
            release.symlink_to(PROGRAMS.binaries)
            blocks = blocks_of(page)
            python = "".join("\n" * 2 + b.text for b in blocks if b.language == "python")
            done_python = False
            for block in blocks:
                with self.subTest(page=page.name, line=block.line, language=block.language):
                    if python and not PROGRAMS.python and block.language in ("console", "sh", "python"):
                        self.skipTest("Python's package is not built, which makes what this page works on")
                    if block.language == "console":
                        self.run_console(block, folder)
                    elif block.language == "sh":
                        self.run_shell(block.text, folder)
                    elif block.language == "python" and not done_python:
                        done_python = True
                        self.run_python(python, folder)
                    elif block.language in ("c", "cpp", "cmake", "js"):
                        self.run_code(block, folder)

    def shell(self, command, folder, allowed=(0,)):
        path = f"{PROGRAMS.binaries}:{os.environ['PATH']}"
        done = subprocess.run(
            ["sh", "-c", command],
            cwd=folder,
            env={**os.environ, "PATH": path, "LC_ALL": "C.UTF-8"},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self.assertIn(done.returncode, allowed, f"$ {command}\n{done.stdout}")
        return done.stdout

    def run_shell(self, text, folder):
        self.shell("set -e\n" + text, folder)

    def run_console(self, block, folder):
        for part in re.split(r"^\$ ", block.text, flags=re.M)[1:]:
            command, *shown = part.rstrip("\n").split("\n")
            while command.endswith("\\"):
                command = command[:-1] + shown.pop(0)
            printed = self.shell(command, folder, allowed=(0, 1))  # 1: diagnose found a mistake
            self.assertEqual(differs(shown, printed.splitlines()), "", f"$ {command}\n{printed}")

    def run_python(self, text, folder):
        script = Path(folder) / "snippet.py"
        script.write_text(text)
        self.shell(f"'{PROGRAMS.python}' snippet.py", folder)

    def run_code(self, block, folder):
        if not re.search(r"\bmain\(", block.text):
            found = any(squeezed(block.text) in example for example in examples())
            self.assertTrue(found, "part of no example:\n" + block.text)
            return
        language = {"c": "c", "cpp": "cc"}[block.language]
        command = PROGRAMS.compile_c if language == "c" else PROGRAMS.compile
        if not command:
            self.skipTest(f"{block.language}: not built")
        source = Path(folder) / f"snippet.{language}"
        source.write_text(block.text)
        self.shell(command.replace("SOURCE", str(source)).replace("PROGRAM", "./snippet"), folder)
        self.shell("./snippet", folder)


class Comparison(unittest.TestCase):
    """It can fail."""

    def test_numbers_may_differ_in_their_last_digits(self):
        self.assertTrue(same("head 3 puts 73 % (0.311),", "head 3 puts 73.2 % (0.312),"))
        self.assertFalse(same("head 3 puts 73 %", "head 3 puts 79 %"))
        self.assertFalse(same("head 3 puts 73 %", "head 4 puts 73 %"))
        self.assertFalse(same("head 3 puts", "head 3 put"))
        self.assertTrue(same("residual 3e-08", "residual 7.2e-09"))

    def test_dots_stand_for_any_lines(self):
        self.assertEqual(differs(["a", "...", "c"], ["a", "b", "b", "c"]), "")
        self.assertEqual(differs(["a", "...", "d"], ["a", "b", "b", "c"]), "d")
        self.assertEqual(differs(["a"], ["a", "b"]), "(nothing more) but b")


def add_pages():
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    pages.remove(ROOT / "docs/start/torch.md")  # python/tests/with_torch runs it, where PyTorch is
    for page in pages:
        name = re.sub(r"\W", "_", str(page.relative_to(ROOT).with_suffix("")))
        setattr(Snippets, f"test_{name}", lambda self, page=page: self.run_page(page))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--binaries", required=True)
    parser.add_argument("--compile", default="")
    parser.add_argument("--compile-c", default="")
    parser.add_argument("--python", default="")
    PROGRAMS, rest = parser.parse_known_args()
    PROGRAMS.binaries = Path(PROGRAMS.binaries).resolve()
    add_pages()
    unittest.main(argv=[sys.argv[0], *rest], verbosity=2)
