# Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
"""Arguments that mean nothing: one line that names the argument, whatever it is."""

import copy
import ctypes
import pickle

import numpy as np
import pytest

import foveate

X = np.ones((2, 3, 4, 5, 8))
F32 = X.astype(np.float32)


class Copying:
    """An array that is another one each time it is looked at."""

    def __array__(self, dtype=None, copy=None):
        return X.copy()


class Lying:
    """An exporter that exports nothing."""

    def __init__(self, device):
        self.device = device

    def __dlpack_device__(self):
        return self.device

    def __dlpack__(self, **_):
        return 5


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"causal": "no"}, TypeError, "causal: 'no', expected True or False"),
        ({"causal": np.array([1, 0])}, TypeError, "causal: array"),
        ({"native_products": "no"}, TypeError, "native_products: 'no', expected True or False"),
        ({"return_lse": np.array([1, 0])}, TypeError, "return_lse: array"),
        ({"return_weights": "no"}, TypeError, "return_weights: 'no'"),
        ({"scale": "2"}, TypeError, "scale: '2', expected a number"),
        ({"scale": 10**400}, ValueError, "scale: an integer beyond the range of floats"),
        ({"softcap": b"1"}, TypeError, "softcap: b'1', expected a number"),
        ({"align": np.array("x")}, ValueError, "align: array"),
        ({"layout": np.array(["a", "b"])}, ValueError, "layout: array"),
        ({"block_table": np.int64(3)}, ValueError, "block_table: 0 axes, expected"),
        ({"window": (2**63, 0)}, ValueError, "window: left: 9223372036854775808, expected -1 to"),
        ({"mask": np.ones((5, 5))}, TypeError, "mask: dtype float64, expected bool; pass it as bias if it is added"),
        ({"blocks": np.ones((5, 5), int)}, TypeError, "blocks: dtype int64, expected bool; use blocks.astype(bool) (t"),
        ({"out": X.tolist()}, TypeError, "out: of type list, which gives copies"),
        ({"out": Copying()}, TypeError, "out: of type Copying, which gives copies"),
        ({"out": F32}, TypeError, "out: dtype float32, expected float64"),
    ],
)
def test_options_of_attention(options, error, message):
    with pytest.raises(error) as refusal:
        foveate.attention(X, X, X, **options)
    assert str(refusal.value).startswith(message) and "\n" not in str(refusal.value)
    assert not message.startswith("blocks") or "bias" not in str(refusal.value)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: foveate.inspect(None, X), TypeError, "q: None, expected an array"),
        (lambda: foveate.inspect(X, None), TypeError, "k: None, expected an array"),
        (lambda: foveate.attention(Lying((1, 0)), X, X), TypeError, "q: its DLPack export cannot be read: "),
        (lambda: foveate.attention(Lying(5), X, X), TypeError, "q: its DLPack export cannot be read: "),
        (lambda: foveate.make_blocks(5, 5, window=None), TypeError, "window: None, expected a pair"),
        (lambda: foveate.make_blocks(5, 5, window=(1,)), TypeError, r"window: \(1,\), expected a pair"),
        (lambda: foveate.make_blocks(5, 5, causal="no"), TypeError, "causal: 'no'"),
        (lambda: foveate.make_blocks(2**40, 2**40, block_size=1), MemoryError, "an array of shape .* is too large"),
        (lambda: foveate.dropout_mask(5, 0.5), TypeError, "shape: 5, expected"),
        (lambda: foveate.dropout_mask(None, 0.5), TypeError, "shape: None, expected"),
        (lambda: foveate.pin_target(3), ValueError, "name: 3, expected one of .*scalar"),
        (lambda: foveate.pin_target("scalar\0x"), ValueError, "name: 'scalar"),
        (lambda: foveate.pin_target(""), ValueError, "name: '', expected one of"),
        (lambda: foveate.merge(X, F32[..., 0], X, X[..., 0]), TypeError, "lse_a: dtype float32, expected float64"),
        (lambda: foveate.merge(X, X[..., 0], F32, X[..., 0]), TypeError, "o_b: dtype float32, expected float64"),
        (lambda: foveate.KvCache(1, 8).attend(X[0, 0, :1], 3), TypeError, "sequences: 3, expected the numbers"),
        (lambda: copy.copy(foveate.KvCache(1, 8)), TypeError, "KvCache: not to be copied"),
        (lambda: copy.deepcopy(foveate.KvCache(1, 8)), TypeError, "KvCache: not to be copied"),
        (lambda: pickle.dumps(foveate.KvCache(1, 8)), TypeError, "KvCache: not to be copied"),
        (
            lambda: foveate.scaled_dot_product_attention(X, X, X, is_causal="no"),
            TypeError,
            "is_causal: 'no', expected True or False",
        ),
        (
            lambda: foveate.scaled_dot_product_attention(F32, F32, F32, np.zeros((5, 5))),
            TypeError,
            r"attn_mask: dtype float64, expected bool or float32; use attn_mask.astype\('float32'\)$",
        ),
    ],
)
def test_calls(call, error, message):
    with pytest.raises(error, match=f"^{message}"):
        call()


def test_out_of_several_leading_axes_overlaps_too():
    """Where these cannot be taken as one, the engine works on a copy and does not see it."""
    base = np.ones((2, 4, 4, 5, 8))
    q = base[:, :3]
    for out, other in ((q, X), (base[:, 1:], X), (q, q)):
        with pytest.raises(ValueError, match="^out: overlaps the input q in memory"):
            foveate.attention(q, other, other, out=out)
    flat = np.ones((2 * 3 * 4 * 5 * 8 + 640,))
    hidden = np.lib.stride_tricks.as_strided(flat, X.shape, (flat.strides[0] * 640, *X.strides[1:]))
    with pytest.raises(ValueError, match="^out: overlaps the input q in memory"):
        foveate.attention(hidden, X, X, out=flat[: X.size].reshape(X.shape))


def test_types_that_say_little_endian_are_native():
    c = (ctypes.c_float * 8 * 5)()
    assert np.asarray(c).dtype.byteorder == "<"
    assert foveate.attention(c, c, c).shape == (5, 8)


def test_records_of_bfloat16_off_their_alignment_are_refused():
    of_two = np.dtype([("bfloat16", np.uint16)])
    q = np.zeros(2 * 40 + 1, np.uint8)[1:].view(of_two).reshape(5, 8)
    with pytest.raises(TypeError, match="^q: its elements are not aligned"):
        foveate.attention(q, q, q)


@pytest.mark.parametrize("dtype", ["float16", "float32", "bfloat16"])
def test_gradients_of_narrow_biases_and_parameters(rng, dtype):
    """What float64 queries are computed with is float64; gradients are rounded to the type of what they are of."""
    ml_dtypes = pytest.importorskip("ml_dtypes")
    narrow = np.dtype(ml_dtypes.bfloat16 if dtype == "bfloat16" else dtype)
    q, k, v = rng.standard_normal((3, 2, 3, 4, 5, 8))
    for shape in ((5, 5), (2, 1, 1, 5, 5)):
        bias = rng.standard_normal(shape).astype(narrow)
        wide = bias.astype(np.float64)
        o, lse = foveate.attention(q, k, v, bias=bias, return_lse=True)
        got = foveate.attention_backward(q, q, k, v, o, lse, bias=bias, dbias=True).dbias
        right = foveate.attention_backward(q, q, k, v, o, lse, bias=wide, dbias=True).dbias
        assert got.dtype == narrow and (got == right.astype(narrow)).all()
    w = rng.standard_normal((2, 8)).astype(narrow)
    parameters = w, w, w[:, 0], w[:, 1]
    o, lse = foveate.additive_attention(q, k, v, *parameters, return_lse=True)
    got = foveate.additive_attention_backward(q, q, k, v, *parameters, o, lse)
    right = foveate.additive_attention_backward(q, q, k, v, *(p.astype(np.float64) for p in parameters), o, lse)
    for name in ("dw_q", "dw_k", "dw", "db"):
        assert getattr(got, name).dtype == narrow
        assert (getattr(got, name) == getattr(right, name).astype(narrow)).all()


def test_a_diagnosis_may_be_in_a_set():
    x = X[0, 0]
    found = foveate.diagnose(x, x, x, foveate.attention(x, x, x))
    assert found in {found}
