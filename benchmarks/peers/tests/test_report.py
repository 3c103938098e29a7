# Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
"""The table tells losses as plainly as wins; pictures are whole, and nothing in them covers another."""

import json
import re
import xml.etree.ElementTree as ElementTree

import pytest
from peers import bars, roofline, table
from peers.figures import Sides, of_row
from peers.report import Report
from peers.rows import ALL

from conftest import limits, timed

PEAKS = {1: {"f32": 250e9, "bf16": 500e9, "read": 34e9}, 2: {"f32": 500e9, "bf16": 1e12, "read": 34e9}}
SVG = "{http://www.w3.org/2000/svg}"


def cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip("|").split("|")]


def test_the_table_tells_wins_losses_and_what_was_wrong(measured) -> None:
    lines = [cells(line) for row in measured for line in table.lines(row)]
    assert all(len(line) == len(table.HEADINGS) for line in lines)
    win, loss, alone, wrong, tiny = lines[:5]
    assert win[6:9] == ["a & b <c>", "1.25x", "win"]
    assert loss[6:9] == ["NumPy", "0.67x", "**loss**"]
    assert alone[6:9] == ["", "", ""]
    assert wrong[-1] == "NumPy wrong"
    assert tiny[2:4] == ["us", "5.00"]
    assert tiny[-1] == "foveate in C++ 1.00, NumPy 10.0"


def test_the_page_has_every_reason_once(measured) -> None:
    met = {"foveate": {"version": "1", "facts": {"target": "avx2"}}}
    machine = {"processor": "p", "cores": 2, "system": "s", "clock": "wall"}
    page = table.page(measured, met, {"ggml": "it does not build"}, PEAKS, machine)
    assert page.count("| NumPy | decode_32:8_N32768_d128_bf16 | no bfloat16 |") == 1
    assert "| ggml | all | it does not build |" in page
    assert "| foveate | 1 | target: avx2 |" in page


def test_numbers_have_three_digits() -> None:
    assert [table.number(x) for x in (0.456, 4.56, 45.6, 456, 4567)] == ["0.46", "4.56", "45.6", "456", "4567"]
    assert [table.memory(x) for x in (0, 4096, 2_500_000)] == ["0 KB", "4 KB", "2.5 MB"]


def texts(picture: str) -> list[tuple[float, float, float, str]]:
    """x of the left end, y, width by a generous guess, and what it says."""
    found = []
    for text in ElementTree.fromstring(picture).iter(f"{SVG}text"):
        width = 0.62 * float(text.get("font-size")) * len(text.text)
        shift = {"start": 0, "middle": 0.5, "end": 1}[text.get("text-anchor")]
        found.append((float(text.get("x")) - shift * width, float(text.get("y")), width, text.text))
    return found


@pytest.mark.parametrize("draw", [bars.picture, lambda rows: roofline.picture(rows, PEAKS)])
def test_pictures_are_whole_and_their_texts_apart(measured, draw) -> None:
    picture = draw(measured)
    root = ElementTree.fromstring(picture)
    width, height = float(root.get("width")), float(root.get("height"))
    found = texts(picture)
    assert len(found) > 10
    for x, y, wide, text in found:
        assert x >= 0, text
        assert x + wide <= width, text
        assert 0 < y < height, text
    for index, (x, y, wide, text) in enumerate(found):
        for other_x, other_y, other_wide, other in found[:index]:
            apart = abs(y - other_y) >= 9 or x + wide <= other_x or other_x + other_wide <= x
            assert apart, (text, other)


def test_pictures_are_legible_on_light_and_dark_pages(measured) -> None:
    def luminance(colour: str) -> float:
        parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [x / 12.92 if x <= 0.04045 else ((x + 0.055) / 1.055) ** 2.4 for x in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    style = ElementTree.fromstring(bars.picture(measured)).find(f"{SVG}style").text
    for half in (style.split("@media")[0], style.split("@media")[1]):
        colours = dict(re.findall(r"\.(\w+)\{fill:(#\w{6})\}", half))
        paper = luminance(colours["paper"])
        for name, least in (("ink", 7), ("soft", 4.5), ("ours", 3), ("ahead", 3)):
            light, dark = sorted((luminance(colours[name]), paper), reverse=True)
            assert (light + 0.05) / (dark + 0.05) >= least, name


def test_roofs_stay_in_their_panel(measured) -> None:
    lines = list(ElementTree.fromstring(roofline.picture(measured, PEAKS)).iter(f"{SVG}line"))
    grid = [line for line in lines if line.get("class") == "line-stroke"]
    roofs = [line for line in lines if line.get("class") == "ink-stroke"]
    assert roofs
    lowest = max(float(line.get("y2")) for line in grid)
    assert all(float(line.get(end)) <= lowest + 0.1 for line in roofs for end in ("y1", "y2"))


def test_numbers_of_many_points_in_one_place_stand_apart() -> None:
    works = [work for name, work in ALL.items() if name.startswith("f32_N") or name.startswith("f32_causal")]
    rows = [of_row(work, 1, {"foveate": timed(0.04), "x": timed(0.05)}, limits(f32=250e9), Sides()) for work in works]
    numbers = [(x, y) for x, y, _, text in texts(roofline.picture(rows, PEAKS)) if text.isdigit() and x < 690]
    axis = [text for _, _, _, text in texts(roofline.picture(rows, PEAKS)) if text in ("1", "10", "100", "1000")]
    assert len(numbers) >= len(works)
    assert axis


def test_files_are_whole_after_each_row(measured, tmp_path, capsys) -> None:
    report = Report(tmp_path, "wall")
    report.begin({})
    for count, row in enumerate(measured[:2], 1):
        report.add(row, {"foveate": timed(0.04)}, limits(f32=1e9))
        assert len(json.loads((tmp_path / "results.json").read_text())["rows"]) == count
    assert {path.name for path in tmp_path.iterdir()} == {"results.json", "table.md", "bars.svg", "roofline.svg"}
    assert capsys.readouterr().out.count("\n| ") == 2 + 1
