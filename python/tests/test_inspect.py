# Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
"""What inspect and diagnose tell, against the weights themselves."""

import gc
import os
import subprocess

import numpy as np
import pytest

import foveate
import oracle


@pytest.fixture
def qkv(rng):
    return tuple(rng.standard_normal((3, 2, 4, 48, 16)))


def test_figures_are_those_of_the_weights(qkv):
    q, k, v = qkv
    seen = foveate.inspect(q, k, v, causal=True, top_keys=3, map_cells=48)
    right = oracle.attention(q, k, v, causal=True)
    weights = right.weights
    with np.errstate(divide="ignore", invalid="ignore"):
        entropy = -np.where(weights > 0, weights * np.log(weights), 0).sum(-1)
    np.testing.assert_allclose(seen.rows.entropy, entropy, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(seen.rows.lse, right.lse, rtol=1e-12)
    assert (seen.rows.largest_key == weights.argmax(-1)).all()
    assert (seen.rows.keys == np.arange(1, 49)).all()
    np.testing.assert_allclose(seen.received, weights.sum(2), rtol=1e-10)
    np.testing.assert_allclose(seen.heads.entropy_mean, entropy.mean(-1), rtol=1e-10)
    assert (seen.heads.rows == 48).all() and seen.heads.rows.shape == (2, 4)
    np.testing.assert_allclose(seen.maps.mean, weights, rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(seen.top.weights, -np.sort(-weights, axis=-1)[..., :3], rtol=1e-10, atol=1e-13)
    assert seen.scale == 0.25 and seen.shape == (2, 4, 48, 48)


@pytest.mark.parametrize("axes", [2, 3, 4, 5])
def test_arrays_have_the_callers_leading_axes(rng, axes):
    shape = (2, 3, 4, 20, 8)[5 - axes :]
    q, k = rng.standard_normal((2, *shape))
    seen = foveate.inspect(q, k, top_keys=2, map_cells=5)
    assert seen.heads.entropy_mean.shape == shape[:-2]
    assert seen.rows.lse.shape == shape[:-1]
    assert seen.received.shape == (*shape[:-2], 20)
    assert seen.top.keys.shape == (*shape[:-1], 2)
    assert seen.maps.largest.shape == (*shape[:-2], 5, 5)
    turned = foveate.inspect(*(x.swapaxes(-3, -2) if axes > 2 else x for x in (q, k)), layout="bnhd")
    assert (turned.rows.lse == seen.rows.lse).all()


def test_findings_name_the_head_in_both_languages(qkv):
    q, k, v = (x[0].copy() for x in qkv)
    k[2] *= 30
    v[3, 5, 7] = np.nan
    seen = foveate.inspect(q, k, v)
    kinds = {finding["kind"]: finding for finding in seen.findings}
    assert kinds["saturated"]["heads"] == [2] and kinds["not_finite"]["heads"] == [3]
    assert "head 2" in seen.text() and "头 2" in seen.text("zh")
    assert seen.not_finite[0] | {"text": None} == {
        "batch": 0, "head": 3, "rows": 48, "row": 0, "origin": "v", "overflow": False, "key": 5, "component": 7,
        "value": pytest.approx(np.nan, nan_ok=True), "outcome": "nan", "text": None,
    }  # fmt: skip
    q[1], k[1] = q[0], k[0]
    alike = foveate.inspect(q, k).similar[0]
    assert (alike.first, alike.second) == (0, 1) and alike.distance < 1e-9
    assert foveate.inspect(q[:1], k[:1]).findings == []


def command_line_says(name, arrays, folder, *options):
    command = [os.environ.get("FOVEATE_COMMAND") or pytest.skip("FOVEATE_COMMAND is not set"), name]
    for option, array in arrays.items():
        np.save(folder / option, array)
        command += [f"--{option}", str(folder / f"{option}.npy")]
    run = subprocess.run([*command, *options], capture_output=True, text=True, env=os.environ | {"LC_ALL": "C.UTF-8"})
    assert run.returncode in (0, 1) and not run.stderr, run.stderr  # 1: diagnose says that it is not right
    return run.stdout


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_print_is_what_the_command_line_prints(qkv, tmp_path, lang):
    q, k, v = (x.copy() for x in qkv)
    k[0, 2] *= 30
    v[1, 3, 5, 7] = np.nan
    sinks = np.linspace(-1, 4, 4)
    said = command_line_says("inspect", {"q": q, "k": k, "v": v, "sinks": sinks}, tmp_path, "--causal", "--lang", lang)
    seen = foveate.inspect(q, k, v, causal=True, sinks=sinks)
    assert seen.text(lang) == said.rstrip("\n") and len(said.splitlines()) > 20
    assert lang == "zh" or str(seen) == seen.text("en")


def test_diagnosis_prints_what_the_command_line_prints(qkv, tmp_path):
    wrong = foveate.attention(*qkv, scale=1)
    arrays = dict(zip("qkv", qkv, strict=True)) | {"out": wrong}
    found = foveate.diagnose(*qkv, wrong)
    assert command_line_says("diagnose", arrays, tmp_path, "--lang", "en") == f"{found}\n"


def test_reprs_are_short(qkv):
    q, k, _ = qkv
    assert repr(foveate.inspect(q, k)).endswith("n_kv=48: 0 findings>")
    k[0, 2] *= 30
    assert repr(foveate.inspect(q, k)).endswith("n_kv=48: 1 finding>")
    found = foveate.diagnose(*qkv, foveate.attention(*qkv, scale=1))
    assert repr(found) == f"<foveate.Diagnosis: mistake scale-none, {found.differing_rows} of 384 rows differ>"
    assert "were not scaled" in found._repr_html_() and "<pre" in found._repr_html_()


def test_a_weight_below_one_is_not_told_as_one():
    q, k = np.ones((1, 1, 1)), np.array([[[10.0], [0.0]]])
    seen = foveate.inspect(q, k)
    assert 0.9999 < seen.heads.largest_weight[0] < 1
    assert "0.9999" in seen._repr_html_() and "0.9999" in str(seen)


def test_arrays_are_read_only_and_outlive_the_inspection(qkv):
    seen = foveate.inspect(*qkv)
    entropy, received = seen.rows.entropy, seen.received
    before = entropy.copy(), received.copy()
    del seen
    gc.collect()
    junk = [np.full(entropy.shape, 7.0) for _ in range(50)]
    assert (entropy == before[0]).all() and (received == before[1]).all() and junk
    with pytest.raises(ValueError):
        entropy[...] = 0


def test_nothing_to_inspect():
    x = np.zeros((0, 4, 5, 8))
    seen = foveate.inspect(x, x, top_keys=2)
    assert seen.rows.lse.shape == (0, 4, 5) and seen.findings == [] and seen.maps.mean.size == 0
    seen = foveate.inspect(np.zeros((4, 5, 8)), np.zeros((4, 0, 8)))
    assert seen.maps is None and (seen.rows.lse == -np.inf).all()


def test_plot_and_html(qkv, monkeypatch):
    pytest.importorskip("matplotlib")
    seen = foveate.inspect(*qkv)
    figure = seen.plot()
    panels = [axes for axes in figure.axes if axes.images]
    assert len(panels) == 8 and panels[5].get_title() == "batch 1, head 1"
    drawn = panels[0].images[0]
    assert drawn.get_array().shape == (48, 48)
    assert drawn.cmap.name == "cividis" and drawn.norm.vmax == 1000 * drawn.norm.vmin
    for fonts, title in ((("DejaVu Sans",), "批次 0，头 0"), ((), "batch 0, head 0")):
        monkeypatch.setattr("foveate._inspect_plot._CHINESE_FONTS", fonts)
        assert seen.plot("mean", lang="zh").axes[0].get_title() == title
    with pytest.raises(ValueError, match="^maps: there are none"):
        foveate.inspect(*qkv, map_cells=0).plot()
    html = seen._repr_html_()
    assert html.count("<tr>") == 9 and "<script" not in html and "overflow-x:auto" in html
    with pytest.raises(ValueError, match="^pooling: "):
        seen.plot("least")
    with pytest.raises(ValueError, match="^lang: 'fr'"):
        seen.text("fr")


def colours(panel):
    """A map as it is drawn: RGB of its cells, later images over earlier ones, on the panel's own colour."""
    from matplotlib.colors import to_rgb

    first = panel.images[0].get_array()
    seen = np.full((*first.shape, 3), to_rgb(panel.get_facecolor()))
    for image in panel.images:
        rgba = image.to_rgba(image.get_array())
        seen = np.where(rgba[..., 3:] > 0, rgba[..., :3], seen)
    return seen


def test_plot_tells_zero_and_nan_from_small_weights(qkv):
    pytest.importorskip("matplotlib")
    from matplotlib.colors import to_rgb

    q, k, v = (x[0].copy() for x in qkv)
    k[1, 30] = np.nan
    k[2] *= 30
    figure = foveate.inspect(q, k, v, causal=True, map_cells=48).plot()
    fine, broken, sharp = (colours(axes) for axes in figure.axes[:3])
    grey, red, dark = to_rgb("#e4e2dc"), to_rgb("#d98b82"), np.array([0, 0x22, 0x4E]) / 255
    assert np.allclose(fine[0, 1:], grey) and not np.isclose(fine[47, :], grey).all(-1).any()
    assert np.allclose(broken[30:], red) and np.allclose(broken[0, 1:], grey)
    assert not np.isclose(broken[:30], red).all(-1).any()
    assert np.isclose(sharp[47], dark, atol=0.01).all(-1).any()  # tiny weights are dark, not grey
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["0", "NaN, Inf"]


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"top_keys": 2000}, ValueError, "top_keys: 2000"),
        ({"map_cells": -1}, ValueError, "map_cells: -1"),
        ({"dropout": 0.5}, TypeError, r"inspect\(\) got an unexpected keyword argument 'dropout'"),
        ({"mask": np.ones(3, bool)}, ValueError, "mask: "),
    ],
)
def test_refusals(qkv, options, error, message):
    with pytest.raises(error, match=f"^{message}"):
        foveate.inspect(*qkv, **options)


def test_a_right_result_is_right(qkv):
    o, lse = foveate.attention(*qkv, causal=True, return_lse=True)
    found = foveate.diagnose(*qkv, o, lse=lse, causal=True)
    assert found and found.verdict == "right" and str(found).startswith("The result is right")
    assert foveate.diagnose(*qkv, o, causal=True).largest_lse_difference is None
    assert found.largest_lse_difference == 0 and found.first_difference is None and found.text_zh.startswith("结果正确")


def test_mistakes_are_found_in_either_layout(qkv):
    q, k, v = qkv
    for mistake, result in {
        "scale-none": foveate.attention(q, k, v, causal=True, scale=1),
        "causal-forgotten": foveate.attention(q, k, v),
    }.items():
        for layout in ("bhnd", "bnhd"):
            arrays = (x.swapaxes(1, 2) if layout == "bnhd" else x for x in (q, k, v, result))
            found = foveate.diagnose(*arrays, causal=True, layout=layout)
            ids = [one["id"] for one in found.explanations[0]["mistakes"]]
            assert not found and found.verdict == "mistake" and ids == [mistake], found
            assert "--" not in str(found)
            assert found.explanations[0]["rows_compared"] == found.rows == 2 * 4 * 48


def test_noise_is_unknown_and_shapes_are_checked(qkv, rng):
    q, k, v = (x[0, 0] for x in qkv)
    found = foveate.diagnose(q, k, v, rng.standard_normal(v.shape))
    assert found.verdict == "unknown" and found.explanations == []
    array, index, got, expected = found.first_difference
    assert array == "out" and len(index) == 2 and got != expected
    with pytest.raises(ValueError, match=r"^out: shape \[48, 3\], expected \[48, 16\]"):
        foveate.diagnose(q, k, v, v[:, :3])
