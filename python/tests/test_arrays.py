# Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
"""Arrays of every kind: what is taken in place, what is refused and how, what comes back."""

import array
import gc
import itertools

import ml_dtypes
import numpy as np
import pytest

import foveate
from exporters import Exporter, bits_of_bfloat16

BFLOAT16 = ml_dtypes.bfloat16


@pytest.fixture
def qkv(rng):
    return tuple(rng.standard_normal((2, 3, 5, 8), dtype=np.float32) for _ in range(3))


def same_bits(a, b):
    return np.asarray(a).tobytes() == np.asarray(b).tobytes() and a.shape == b.shape


@pytest.mark.parametrize("axes", [2, 3, 4, 5, 6])
def test_leading_axes_are_folded_and_come_back(rng, axes):
    lead = (2, 1, 3)[: max(axes - 3, 0)]
    shape = (*lead, *(4, 5, 8)[-min(axes, 3) :])
    q, k, v = (rng.standard_normal(shape) for _ in range(3))
    mask = rng.random((*shape[:-1], 5)) < 0.7
    o, lse, weights = foveate.attention(q, k, v, mask=mask, return_lse=True, return_weights=True)
    assert (o.shape, lse.shape, weights.shape) == (shape, shape[:-1], (*shape[:-1], 5))
    for at in np.ndindex(*shape[:-2]):
        one = foveate.attention(q[at], k[at], v[at], mask=mask[at], return_lse=True, return_weights=True)
        assert same_bits(one.o, o[at]) and same_bits(one.lse, lse[at]) and same_bits(one.weights, weights[at])
    gradients = foveate.attention_backward(o, q, k, v, o, lse, mask=mask)
    assert [x.shape for x in gradients[:3]] == [shape] * 3


@pytest.mark.parametrize("axes", [2, 3, 4, 5])
def test_the_other_layout_is_the_same_transposed(rng, axes):
    shape = (2, 3, 4, 5, 8)[5 - axes :]
    q, k, v, d_o = (rng.standard_normal(shape) for _ in range(4))

    def turned(x):
        return x.swapaxes(-3, -2) if axes > 2 else x

    o, lse = foveate.attention(q, k, v, return_lse=True)
    gradients = foveate.attention_backward(d_o, q, k, v, o, lse)
    q, k, v, d_o = map(turned, (q, k, v, d_o))
    other, other_lse = foveate.attention(q, k, v, return_lse=True, layout="bnhd")
    assert same_bits(turned(other), o) and same_bits(lse, other_lse)
    others = foveate.attention_backward(d_o, q, k, v, other, lse, layout="bnhd")
    assert all(same_bits(turned(a), b) for a, b in zip(others[:3], gradients[:3], strict=True))


def test_leading_axes_that_no_stride_can_fold_are_copied(rng):
    base = rng.standard_normal((3, 2, 3, 5, 8))
    q = base.transpose(1, 0, 2, 3, 4)
    assert same_bits(foveate.attention(q, q, q), foveate.attention(q.copy(), q.copy(), q.copy()))
    out = np.empty_like(base).transpose(1, 0, 2, 3, 4)
    assert foveate.attention(q, q, q, out=out) is out
    assert same_bits(out, foveate.attention(q, q, q))


def test_masks_and_biases_broadcast_as_numpy_has_it(rng):
    q, k, v = (rng.standard_normal((2, 3, 4, 5, 8)) for _ in range(3))
    for shape in [(5,), (5, 5), (5, 1), (4, 1, 5), (1, 4, 5, 5), (3, 1, 1, 5), (2, 1, 4, 5, 5), (1, 3, 1, 5, 1)]:
        mask, bias = rng.random(shape) < 0.7, rng.standard_normal(shape)
        whole = {"mask": np.broadcast_to(mask, (2, 3, 4, 5, 5)), "bias": np.broadcast_to(bias, (2, 3, 4, 5, 5))}
        o, lse = foveate.attention(q, k, v, mask=mask, bias=bias, return_lse=True)
        assert same_bits(o, foveate.attention(q, k, v, **whole)), shape
        dbias = foveate.attention_backward(o, q, k, v, o, lse, mask=mask, bias=bias, dbias=True).dbias
        full = foveate.attention_backward(o, q, k, v, o, lse, **whole, dbias=True).dbias
        assert dbias.shape == shape
        padded = (1,) * (5 - len(shape)) + shape
        over = tuple(axis for axis in range(5) if padded[axis] == 1)
        np.testing.assert_allclose(dbias, full.sum(axis=over, keepdims=True).reshape(shape), rtol=1e-10, atol=1e-12)


def test_bfloat16_of_ml_dtypes(qkv):
    o = foveate.attention(*(x.astype(BFLOAT16) for x in qkv))
    assert o.dtype == BFLOAT16
    np.testing.assert_allclose(o.astype(float), foveate.attention(*qkv), atol=0.05)


def test_other_floats_keep_their_type(qkv):
    for dtype in (np.float64, np.float32, np.float16):
        assert foveate.attention(*(x.astype(dtype) for x in qkv)).dtype == dtype
    mixed = foveate.attention(qkv[0], qkv[1].astype(np.float16), qkv[2].astype(BFLOAT16))
    assert mixed.dtype == np.float32


def test_int8_with_scales(rng):
    q = rng.standard_normal((2, 4, 5, 8), dtype=np.float32)
    k, v = (rng.integers(-127, 128, (2, 2, 7, 8), dtype=np.int8) for _ in range(2))
    k_scales, v_scales = (rng.uniform(0.001, 0.01, (2, 2, 7, 1)).astype(np.float32) for _ in range(2))
    got = foveate.attention(q, k, v, k_scales=k_scales, v_scales=v_scales, native_products=False)
    np.testing.assert_allclose(got, foveate.attention(q, k * k_scales, v * v_scales), rtol=1e-5, atol=1e-6)
    turned = [x.swapaxes(1, 2) for x in (q, k, v, k_scales, v_scales)]
    other = foveate.attention(*turned[:3], k_scales=turned[3], v_scales=turned[4], layout="bnhd", native_products=False)
    assert same_bits(other.swapaxes(1, 2), got)
    with pytest.raises(ValueError, match="^k_scales: missing"):
        foveate.attention(q, k, v)


def test_packed_and_paged_sequences(rng):
    lengths = [3, 0, 6]
    starts = np.cumsum([0, *lengths])
    q, k, v = (rng.standard_normal((9, 2, 8), dtype=np.float32) for _ in range(3))
    packed = foveate.attention(q, k, v, layout="bnhd", causal=True, q_starts=starts, kv_starts=starts)
    exported = Exporter(starts)
    again = foveate.attention(q, k, v, layout="bnhd", causal=True, q_starts=exported, kv_starts=exported)
    assert same_bits(again, packed)
    for first, last in itertools.pairwise(starts):
        one = foveate.attention(q[first:last], k[first:last], v[first:last], layout="bnhd", causal=True)
        assert same_bits(packed[first:last], one)
    weights = foveate.attention(q, k, v, layout="bnhd", q_starts=starts, kv_starts=starts, return_weights=True).weights
    assert weights.shape == (3, 2, 6, 6)
    # Pages of 4 keys: sequences of 5 and 3 keys in pages 2 and 0, and 1.
    pages_k, pages_v = (rng.standard_normal((3, 4, 2, 8), dtype=np.float32) for _ in range(2))
    table = np.array([[2, 0], [1, 0]], np.int32)
    q = rng.standard_normal((2, 1, 4, 8), dtype=np.float32)
    paged = foveate.attention(q, pages_k, pages_v, layout="bnhd", block_table=table, kv_lengths=[5, 3])
    k0, v0 = (np.concatenate([pages[2], pages[0]])[None, :5] for pages in (pages_k, pages_v))
    assert same_bits(paged[:1], foveate.attention(q[:1], k0, v0, layout="bnhd"))
    plain = foveate.attention(q[1:], pages_k[1:2, :3], pages_v[1:2, :3], layout="bnhd")
    assert same_bits(paged[1:], plain)


def test_strides_of_every_kind(qkv):
    q, k, v = qkv
    right = foveate.attention(q, k, v)
    for turn in (
        lambda x: x[::-1][::-1],
        lambda x: np.asfortranarray(x),
        lambda x: np.repeat(x, 3, axis=-1)[..., ::3],
        lambda x: x[..., ::-1].copy()[..., ::-1],
    ):
        assert same_bits(foveate.attention(turn(q), turn(k), turn(v)), right)
    one = np.broadcast_to(k[:1, :1, :1], k.shape)
    assert same_bits(foveate.attention(q, one, v), foveate.attention(q, one.copy(), v))


def test_read_only_inputs_are_read_and_nothing_is_written_to_them(qkv):
    frozen = [x.copy() for x in qkv]
    for x in frozen:
        x.flags.writeable = False
    assert same_bits(foveate.attention(*frozen), foveate.attention(*qkv))
    assert all(same_bits(a, b) for a, b in zip(frozen, qkv, strict=True))


def test_buffers_and_what_numpy_takes(qkv):
    q = qkv[0][0, 0]
    assert same_bits(foveate.attention(memoryview(q), q, q), foveate.attention(q, q, q))
    assert foveate.attention(q.tolist(), q.astype(float).tolist(), q.astype(float)).dtype == np.float64
    flat = array.array("d", [1.0, 2.0])
    assert foveate.attention(np.eye(2), np.eye(2), np.eye(2), sinks=np.zeros(1), alibi=flat[:1]).shape == (2, 2)


@pytest.mark.parametrize(
    ("spoil", "error", "message"),
    [
        (lambda x: x.astype(">f4"), TypeError, "q: float32 of the other byte order; use q.astype('float32')"),
        (lambda x: x.astype(int), TypeError, "q: dtype int64, expected float64 or float32 or float16 or bfloat16; use"),
        (lambda x: x.astype(complex), TypeError, "q: dtype complex128, expected"),
        (lambda x: x.astype(np.longdouble), TypeError, "q: dtype float128, expected"),
        (lambda x: x > 0, TypeError, "q: dtype bool, expected"),
        (lambda x: None, TypeError, "q: None, expected an array of float64"),
        (lambda x: object(), TypeError, "q: of type object, expected an array of float64"),
        (lambda x: [[1.0, 2.0], [3.0]], ValueError, "q: list of unequal lengths, expected an array"),
        (
            lambda x: [[1, 2]],
            TypeError,
            "q: dtype int64, expected float64 or float32 or float16 or bfloat16; use numpy",
        ),
        (lambda x: x.astype(object), TypeError, "q: dtype object, expected"),
        (lambda x: np.ma.masked_array(x, x > 0), TypeError, "q: a masked array, whose mask would be lost"),
        (lambda x: x[..., 0, 0, 0], ValueError, "q: 1 axes, expected"),
        (lambda x: x[0], ValueError, "k: 4 axes, q has 3; expected equally many"),
        (lambda x: x[:1], ValueError, "k: leading axes [2] do not equal q's [1]"),
        (lambda x: x[..., :4], ValueError, "k: head dim 8 does not equal q's 4"),
    ],
)
def test_refusals_are_one_line_with_a_remedy(qkv, spoil, error, message):
    q, k, v = qkv
    with pytest.raises(error) as refusal:
        foveate.attention(spoil(q), k, v)
    assert str(refusal.value).startswith(message)
    assert "\n" not in str(refusal.value)


def test_unaligned_arrays_are_refused(qkv):
    q, k, v = qkv
    unaligned = np.zeros(q.nbytes + 1, np.uint8)[1:].view(np.float32).reshape(q.shape)
    with pytest.raises(TypeError, match=r"^q: its elements are not aligned in memory; use q\.copy\(\)$"):
        foveate.attention(unaligned, k, v)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"mask": np.ones((5, 5), int)}, TypeError, "mask: dtype int64, expected bool; use mask.astype(bool)"),
        ({"mask": np.ones((4, 4), bool)}, ValueError, "mask: "),
        (
            {"bias": np.ones((5, 5), bool)},
            TypeError,
            "bias: dtype bool, expected float64 or float32 or float16 or bfloat16; pass it as mask (true = takes part)",
        ),
        ({"bias": np.ones((7, 1, 5, 5))}, ValueError, "bias: leading axes [7] do not broadcast to q's [2]"),
        ({"window": 3}, TypeError, "window: 3, expected a pair (left, right)"),
        ({"window": (-2, 0)}, ValueError, "window: left: -2, expected -1"),
        ({"layout": "hbnd"}, ValueError, "layout: 'hbnd', expected"),
        ({"align": "middle"}, ValueError, "align: 'middle', expected"),
        ({"scale": np.nan}, ValueError, "scale: nan"),
        ({"scale": "big"}, TypeError, "scale: 'big', expected a number"),
        ({"alibi": [np.inf, 1, 1]}, ValueError, "alibi: the slope of head 0"),
        ({"sinks": np.zeros((1, 3))}, ValueError, "sinks: 2 axes, expected one"),
        ({"dropout": 1}, ValueError, "dropout: 1"),
        ({"seed": -1}, ValueError, "seed: -1, expected 0 to"),
        ({"q_offset": 2**70}, ValueError, "q_offset: "),
        ({"q_offset": 1.5}, TypeError, "q_offset: 1.5, expected an integer"),
        ({"threads": 0}, ValueError, "threads: 0, expected 1 to"),
        ({"kv_lengths": [1.5, 2.0]}, TypeError, "kv_lengths: dtype float64, expected int64 or int32"),
        ({"kv_lengths": [-1, 2]}, ValueError, "kv_lengths: "),
        ({"out": np.empty((2, 3, 5, 8))}, TypeError, "out: dtype float64, expected float32"),
        ({"out": np.empty((2, 3, 5, 9), np.float32)}, ValueError, "out: shape [2, 3, 5, 9], expected [2, 3, 5, 8]"),
    ],
)
def test_options_that_are_refused(qkv, options, error, message):
    with pytest.raises(error) as refusal:
        foveate.attention(*qkv, **options)
    assert str(refusal.value).startswith(message)
    assert "\n" not in str(refusal.value)


def test_out_is_called_out(qkv):
    q, k, _ = qkv
    w = np.ones((1, 8), np.float32)
    cache = foveate.KvCache(3, 8)
    cache.append(cache.add(), k[0], k[0])
    for call in (
        lambda: foveate.attention(q, k, k, out=q),
        lambda: foveate.linear_attention(q, k, k, out=q),
        lambda: foveate.additive_attention(q, k, k, w, w, w[:, 0], out=q),
        lambda: cache.attend(q[:1], [0], out=q[:1]),
    ):
        with pytest.raises(ValueError, match="^out: overlaps the input q in memory"):
            call()


def test_out_is_written_in_place(qkv):
    q, k, v = qkv
    right = foveate.attention(q, k, v)
    out = np.full((2, 3, 5, 16), np.nan, np.float32)[..., ::2]
    assert foveate.attention(q, k, v, out=out) is out
    assert same_bits(out, right)
    result = foveate.attention(q, k, v, out=out, return_lse=True)
    assert result.o is out
    frozen = np.empty_like(right)
    frozen.flags.writeable = False
    with pytest.raises(ValueError, match="^out: read-only"):
        foveate.attention(q, k, v, out=frozen)
    with pytest.raises(ValueError, match="overlaps"):
        foveate.attention(q, k, v, out=q)
    overlapping = np.lib.stride_tricks.as_strided(np.empty(8, np.float32), q.shape, (0, 0, 0, 4))
    with pytest.raises(ValueError, match="overlap"):
        foveate.attention(q, k, v, out=overlapping)


@pytest.mark.parametrize("shape", [(0, 3, 5, 8), (2, 0, 5, 8), (2, 3, 0, 8)])
def test_nothing_in_nothing_out(shape):
    x = np.zeros(shape, np.float32)
    o, lse, weights = foveate.attention(x, x, x, return_lse=True, return_weights=True)
    assert o.shape == shape and lse.shape == shape[:3] and weights.shape == (*shape[:3], shape[2])
    gradients = foveate.attention_backward(o, x, x, x, o, lse)
    assert all(x.shape == shape for x in gradients[:3])
    assert foveate.attention(np.zeros((0, 0, 0, 2, 8)), np.zeros((0, 0, 0, 2, 8)), np.zeros((0, 0, 0, 2, 3))).shape == (
        0, 0, 0, 2, 3,
    )  # fmt: skip


def test_no_keys_and_no_values():
    q = np.ones((2, 5, 8), np.float32)
    o, lse = foveate.attention(q, q[:, :0], q[:, :0], return_lse=True)
    assert not o.any() and (lse == -np.inf).all()
    o, lse = foveate.attention(q, q, q[..., :0], return_lse=True)
    assert o.shape == (2, 5, 0) and np.isfinite(lse).all()


@pytest.mark.parametrize("version", [None, (1, 0), (1, 7)])
def test_dlpack(qkv, version):
    right = foveate.attention(*qkv)
    exporters = [Exporter(x, version=version) for x in qkv]
    assert same_bits(foveate.attention(*exporters), right)
    turned = [Exporter(x[..., ::-1].copy()[..., ::-1], version=version, offset=4) for x in qkv]
    assert same_bits(foveate.attention(*turned), right)
    packed = [Exporter(x, version=version, packed=True) for x in qkv]
    assert same_bits(foveate.attention(*packed), right)
    gc.collect()
    assert [x.deleted for x in exporters + turned + packed] == [1] * 9


def test_dlpack_of_bfloat16_is_read_in_place(qkv):
    exporters = [Exporter(bits_of_bfloat16(x), bfloat16=True) for x in qkv]
    o = foveate.attention(*exporters)
    assert o.dtype == BFLOAT16
    assert same_bits(o, foveate.attention(*(x.array.view(BFLOAT16) for x in exporters)))
    out = Exporter(np.zeros((2, 3, 5, 8), np.uint16), bfloat16=True)
    assert foveate.attention(*exporters, out=out) is out
    assert same_bits(out.array, o.view(np.uint16))


def test_dlpack_read_only_is_honoured(qkv):
    exporters = [Exporter(x, read_only=True) for x in qkv]
    right = foveate.attention(*qkv)
    assert same_bits(foveate.attention(*exporters), right)
    out = Exporter(np.zeros_like(right), read_only=True)
    with pytest.raises(ValueError, match="^out: read-only"):
        foveate.attention(*qkv, out=out)
    assert not out.array.any()


def test_dlpack_of_another_major_version_or_device_is_refused(qkv):
    q, k, v = qkv
    with pytest.raises(TypeError, match=r"^q: DLPack version 2\.0, expected 1\.x"):
        foveate.attention(Exporter(q, version=(2, 0)), k, v)
    with pytest.raises(TypeError, match=r"^k: on DLPack device \(2, 0\), expected the CPU's memory"):
        foveate.attention(q, Exporter(k, device=2), v)


def test_results_outlive_their_inputs(qkv):
    o, lse = foveate.attention(*(x.copy() for x in qkv), return_lse=True)
    before = o.copy()
    gc.collect()
    junk = [np.full(o.shape, 7, np.float32) for _ in range(20)]
    assert same_bits(o, before) and lse.base is None and len(junk) == 20


def test_jax_arrays(qkv):
    jax = pytest.importorskip("jax")
    q, k, v = (jax.numpy.asarray(x) for x in qkv)
    o, lse = foveate.attention(q, k, v, return_lse=True)
    assert isinstance(o, jax.Array) and isinstance(lse, jax.Array)
    assert same_bits(np.asarray(o), foveate.attention(*qkv))
    short = foveate.attention(*(x.astype(jax.numpy.bfloat16) for x in (q, k, v)))
    assert short.dtype == jax.numpy.bfloat16
    with pytest.raises(ValueError, match="^out: read-only"):
        foveate.attention(q, k, v, out=o)


def test_torch_tensors(qkv):
    torch = pytest.importorskip("torch")
    q, k, v = (torch.from_numpy(x) for x in qkv)
    o, lse = foveate.attention(q, k, v, return_lse=True)
    assert isinstance(o, torch.Tensor) and isinstance(lse, torch.Tensor)
    assert same_bits(o.numpy(), foveate.attention(*qkv))
    short = foveate.attention(*(x.bfloat16() for x in (q, k, v)))
    assert short.dtype == torch.bfloat16
    out = torch.empty(5, 2, 3, 8).permute(1, 2, 0, 3)
    assert foveate.attention(q, k, v, out=out) is out
    assert torch.equal(out, o)
    with pytest.raises(TypeError, match="^q: requires grad"):
        foveate.attention(q.requires_grad_(), k, v)
