# Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
"""Plain calls, which the engine does at once: they give what the way of all calls gives, to the bit and to the word."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import foveate
from foveate import _engine
from foveate._cores import usable_cores

general = foveate.attention.__wrapped__  # type: ignore[attr-defined]
SHAPES = [(8, 16), (3, 8, 16), (2, 3, 8, 16)]
DTYPES = [np.float64, np.float32, np.float16]


def arrays(shape: tuple[int, ...] = (2, 3, 8, 16), dtype: Any = np.float32, n_kv: int = 11, d_v: int = 5) -> list[Any]:
    rng = np.random.default_rng(7)
    shapes = (shape, (*shape[:-2], n_kv, shape[-1]), (*shape[:-2], n_kv, d_v))
    return [rng.standard_normal(one).astype(dtype) for one in shapes]


def plain(*args: Any, **options: Any) -> Any:
    return _engine.plain_attention(args, options, usable_cores)


def same(a: Any, b: Any) -> bool:
    return type(a) is type(b) and a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dtype", DTYPES)
def test_bits_are_those_of_the_general_way(shape: tuple[int, ...], dtype: Any) -> None:
    q, k, v = arrays(shape, dtype)
    for options in (
        {},
        {"causal": True},
        {"causal": True, "align": "top-left"},
        {"scale": 0.3, "softcap": 2.0},
        {"scale": np.float64(0.3)},
        {"threads": 1, "mask": None, "bias": None, "scale": None, "return_lse": False, "return_weights": False},
    ):
        done = plain(q, k, v, **options)
        assert done is not None
        assert same(done, general(q, k, v, **options))
        assert same(foveate.attention(q, k, v, **options), done)


def test_views_are_read_in_place() -> None:
    q, k, v = arrays()
    wide = np.repeat(q, 2, axis=-1)[..., ::2]
    backwards = k[..., ::-1, :][..., ::-1, :]
    turned = np.ascontiguousarray(v.swapaxes(1, 2)).swapaxes(1, 2)
    shared = np.broadcast_to(q[:1, :1], q.shape)
    for views in ((wide, backwards, turned), (shared, k, v)):
        done = plain(*views)
        assert done is not None
        assert same(done, general(*views))
    frozen = q.copy()
    frozen.flags.writeable = False
    assert same(plain(frozen, k, v), general(q, k, v))


def test_grouped_heads_and_mixed_types() -> None:
    q = arrays((2, 6, 8, 16))[0]
    _, k, v = arrays((2, 3, 8, 16))
    assert same(plain(q, k, v), general(q, k, v))
    assert same(plain(q, k.astype(np.float16), v), general(q, k.astype(np.float16), v))


def test_work_for_many_threads_and_for_one() -> None:
    for n in (40, 400):  # below and above what other threads help with
        q, k, v = arrays((1, 8, n, 64), n_kv=n, d_v=64)
        done = plain(q, k, v)
        assert done is not None
        for threads in (1, 2, 65536):
            assert same(done, plain(q, k, v, threads=threads))
        assert same(done, general(q, k, v))


def test_out_is_written_and_returned() -> None:
    q, k, v = arrays()
    out = np.zeros((2, 3, 8, 5), np.float32)
    assert plain(q, k, v, out=out) is out
    assert foveate.attention(q, k, v, out=out) is out
    assert same(out, general(q, k, v))
    strided = np.zeros((2, 3, 8, 10), np.float32)[..., ::2]
    assert plain(q, k, v, out=strided) is strided
    assert same(strided, out)


class Odd(np.ndarray):
    """A class of its own, whose results are not NumPy's."""


def unaligned(array: Any) -> Any:
    memory = np.zeros(array.nbytes + 1, np.uint8)
    view = memory[1:].view(array.dtype).reshape(array.shape)
    view[...] = array
    return view


def test_what_is_not_plain_is_left_to_others() -> None:
    q, k, v = arrays()
    large = arrays((8, 16, 1024, 64), n_kv=1024, d_v=64)  # long enough to be stopped
    read_only = np.zeros((2, 3, 8, 5), np.float32)
    read_only.flags.writeable = False
    for args, options in (
        ((q, k), {}),
        ((q, k, v, v), {}),
        ((q, k, v.tolist()), {}),
        ((q.view(Odd), k, v), {}),
        ((np.ma.array(q), k, v), {}),
        ((q.astype(">f4"), k, v), {}),
        ((unaligned(q), k, v), {}),
        ((q.astype(np.int32), k, v), {}),
        ((q.astype(np.longdouble), k, v), {}),
        ((q, k.astype(np.int8), v), {}),
        ((q[None], k[None], v[None]), {}),
        ((q[0, 0, 0], k[0, 0, 0], v[0, 0, 0]), {}),
        ((q, k[0], v[0]), {}),
        ((q, k[:1], v[:1]), {}),
        ((q, k[..., :-1], v), {}),
        (large, {}),
        ((q, k, v), {"mask": np.ones((8, 11), bool)}),
        ((q, k, v), {"window": (1, 0)}),
        ((q, k, v), {"layout": "bnhd"}),
        ((q, k, v), {"is_causal": True}),
        ((q, k, v), {"causal": 1}),
        ((q, k, v), {"causal": None}),
        ((q, k, v), {"align": "left"}),
        ((q, k, v), {"align": 3}),
        ((q, k, v), {"align": "\ud800"}),
        ((q, k, v), {"\ud800": 3}),
        ((q, k, v), {"scale": 1}),
        ((q, k, v), {"scale": float("nan")}),
        ((q, k, v), {"softcap": -1.0}),
        ((q, k, v), {"softcap": None}),
        ((q, k, v), {"threads": 0}),
        ((q, k, v), {"threads": 2**80}),
        ((q, k, v), {"threads": True}),
        ((q, k, v), {"return_lse": True}),
        ((q, k, v), {"out": q}),
        ((q, k, v), {"out": read_only}),
        ((q, k, v), {"out": np.zeros((2, 3, 8, 6), np.float32)}),
        ((q, k, v), {"out": np.zeros((2, 3, 8, 5), np.float64)}),
        ((q, k, v), {"out": np.zeros((2, 3, 8, 5), np.float32).tolist()}),
    ):
        assert plain(*args, **options) is None, options


def test_a_name_is_read_to_its_end() -> None:
    for name in ("scale\0", "causal\0x", "\0"):
        with pytest.raises(TypeError):
            foveate.attention(*arrays(), **{name: 1.0})


def test_what_is_wrong_is_said_as_ever() -> None:
    q, k, v = arrays()
    for args, options, words in (
        ((q, k[..., :-1], v), {}, r"k: head dim 15 does not equal q's 16"),
        ((q, k[:1], v[:1]), {}, r"k: leading axes \[1\] do not equal q's \[2\]"),
        ((q, k, v), {"scale": float("nan")}, "scale: "),
        ((q, k, v), {"threads": 0}, "threads: 0, expected 1 to 65536"),
        ((q, k, v), {"out": q}, r"out: shape \[2, 3, 8, 16\], expected \[2, 3, 8, 5\]"),
    ):
        with pytest.raises(ValueError, match=words) as said:
            foveate.attention(*args, **options)
        with pytest.raises(ValueError, match=words) as general_said:
            general(*args, **options)
        assert str(said.value) == str(general_said.value)
    with pytest.raises(TypeError, match="use causal=True"):
        foveate.attention(q, k, v, is_causal=True)


def test_what_asks_for_cores_may_raise() -> None:
    q, k, v = arrays((1, 8, 100, 64), n_kv=100, d_v=64)

    def interrupted() -> int:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        _engine.plain_attention((q, k, v), {}, interrupted)


def test_in_pytorchs_words() -> None:
    q, k, v = arrays()
    for causal in (False, True):
        expected = foveate.attention(q, k, v, causal=causal, align="top-left")
        assert same(foveate.scaled_dot_product_attention(q, k, v, is_causal=causal), expected)
    grouped = np.repeat(q, 2, axis=1)
    with pytest.raises(ValueError, match="set enable_gqa=True"):
        foveate.scaled_dot_product_attention(grouped, k, v)
    with pytest.raises(TypeError, match="key: dtype float64, query has float32"):
        foveate.scaled_dot_product_attention(q, k.astype(np.float64), v)
    with pytest.raises(ValueError, match="key: head dim 15 does not equal query's 16"):
        foveate.scaled_dot_product_attention(q, k[..., :-1], v)
