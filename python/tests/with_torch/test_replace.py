# Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
"""PyTorch's attention, taken over: the same results within rounding, and PyTorch as it was afterwards."""

import threading

import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.functional import scaled_dot_product_attention as imported_before
from torch.overrides import _get_current_function_mode_stack

import foveate.torch
from foveate.torch import replace_sdpa

F64 = torch.float64


def exact(*args, **kwargs):
    """PyTorch's plain formula in float64, where rounding is far below what is compared."""
    args = [x.double() if isinstance(x, torch.Tensor) and x.is_floating_point() else x for x in args]
    with sdpa_kernel(SDPBackend.MATH):
        return F.scaled_dot_product_attention(*args, **kwargs)


def as_it_was():
    return not _get_current_function_mode_stack() and torch.backends.mha.get_fastpath_enabled()


def calls(draw, dtype):
    q, k, v = draw(2, 4, 7, 8, dtype=dtype), draw(2, 4, 9, 8, dtype=dtype), draw(2, 4, 9, 6, dtype=dtype)
    few = draw(2, 2, 9, 8, dtype=dtype)
    mask = draw(2, 1, 7, 9) > -0.5
    hidden = mask.clone()
    hidden[:, :, 3] = False
    return [
        ((q, k, v), {}),
        ((q, k, v), {"is_causal": True}),
        ((q, k, v, mask), {"scale": 0.2}),
        ((q, k, v, hidden), {}),
        ((q, k, v, draw(4, 7, 9, dtype=dtype)), {}),
        ((q, few, few), {"enable_gqa": True}),
        ((q, k[:1], v[0]), {}),
        ((q[0], k[0], v[0]), {}),
        ((q[0, 0], k[0, 0], v[0, 0]), {"is_causal": True}),
        ((q.expand(3, 2, 4, 7, 8), k, v), {}),
        ((q.transpose(1, 2), k.transpose(1, 2)[:, :7], v.transpose(1, 2)[:, :7]), {}),
        ((q[:, :, :0], k, v), {}),
    ]


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.float16, torch.bfloat16])
def test_every_form_of_call(draw, dtype):
    forms = calls(draw, dtype)
    with replace_sdpa() as report:
        got = [F.scaled_dot_product_attention(*args, **kwargs) for args, kwargs in forms]
    assert report.taken == len(forms) and not report.left, report
    for (args, kwargs), o in zip(forms, got, strict=True):
        expected = exact(*args, **kwargs)
        assert (o.shape, o.dtype) == (expected.shape, dtype)
        # Sums of some ten terms of size 1 to 4, then one rounding to the type.
        torch.testing.assert_close(o.double(), expected, rtol=0, atol=64 * torch.finfo(dtype).eps)
    assert as_it_was()


def test_gradients(draw):
    for args, kwargs in calls(draw, F64):
        leaves = [x.detach().clone().requires_grad_(x.is_floating_point()) for x in args]
        expected = torch.autograd.grad(exact(*leaves, **kwargs).sin().sum(), [x for x in leaves if x.requires_grad])
        with replace_sdpa() as report:
            loss = F.scaled_dot_product_attention(*leaves, **kwargs).sin().sum()
        assert report.taken == 1
        got = torch.autograd.grad(loss, [x for x in leaves if x.requires_grad])
        for one, other in zip(got, expected, strict=True):
            torch.testing.assert_close(one, other, rtol=1e-11, atol=1e-11)


def test_calls_under_any_name(draw):
    q = draw(1, 2, 5, 8)
    with replace_sdpa() as report:
        imported_before(q, q, q)
        torch.ops.aten.scaled_dot_product_attention(q, q, q)
        F.scaled_dot_product_attention(query=q, key=q, value=q)
    assert report.taken == 3


@pytest.fixture
def encoder(draw):
    torch.manual_seed(2)
    layer = nn.TransformerEncoderLayer(16, 4, 32, batch_first=True, dtype=F64)
    return nn.TransformerEncoder(layer, 3).eval()


@pytest.mark.filterwarnings("ignore:Support for mismatched")
@pytest.mark.parametrize("grad", [False, True])
def test_encoders_and_their_fast_paths(encoder, draw, grad):
    x = draw(2, 9, 16, dtype=F64)
    padding = torch.zeros(2, 9, dtype=torch.bool)
    padding[0, 6:] = True
    causal = nn.Transformer.generate_square_subsequent_mask(9, dtype=F64)
    with torch.set_grad_enabled(grad):
        for options in (
            {},
            {"src_key_padding_mask": padding},
            {"mask": causal, "is_causal": True},
            {"mask": causal, "src_key_padding_mask": padding},
        ):
            expected = encoder(x, **options)
            with replace_sdpa() as report:
                got = encoder(x, **options)
            assert (report.taken, report.left) == (3, {})
            real = ~padding if "src_key_padding_mask" in options else torch.ones_like(padding)
            torch.testing.assert_close(got[real], expected[real], rtol=0, atol=1e-12)
    assert as_it_was()


def test_decoders_attend_to_the_encoder_too(draw):
    torch.manual_seed(2)
    layer = nn.TransformerDecoderLayer(16, 4, 32, batch_first=True, dtype=F64)
    decoder = nn.TransformerDecoder(layer, 2).eval()
    x, memory = draw(2, 5, 16, dtype=F64), draw(2, 9, 16, dtype=F64)
    expected = decoder(
        x, memory, tgt_is_causal=True, tgt_mask=nn.Transformer.generate_square_subsequent_mask(5, dtype=F64)
    )
    with replace_sdpa() as report:
        got = decoder(
            x, memory, tgt_is_causal=True, tgt_mask=nn.Transformer.generate_square_subsequent_mask(5, dtype=F64)
        )
    assert report.taken == 4
    torch.testing.assert_close(got, expected, rtol=0, atol=1e-12)


def test_a_model_learns_as_it_did(draw):
    def train(context):
        torch.manual_seed(5)
        model = nn.TransformerEncoderLayer(16, 4, 32, dropout=0.0, batch_first=True, dtype=F64)
        optimiser = torch.optim.SGD(model.parameters(), lr=0.1)
        x = torch.randn(4, 9, 16, dtype=F64)
        for _ in range(5):
            optimiser.zero_grad()
            with context():
                loss = (model(x) - x.roll(1, 1)).square().mean()
            loss.backward()
            optimiser.step()
        return loss.item()

    assert train(replace_sdpa) == pytest.approx(train(torch.enable_grad), rel=1e-12)


def test_what_is_left_is_told_with_the_reason(draw):
    q = draw(2, 2, 4, 8)
    nested = torch.nested.as_nested_tensor([q[0].transpose(0, 1), q[1].transpose(0, 1)], layout=torch.jagged)
    nested = nested.transpose(1, 2)
    attention = nn.MultiheadAttention(8, 2, batch_first=True)
    meta = torch.empty(1, 2, 4, 8, device="meta")
    with replace_sdpa() as report:
        F.scaled_dot_product_attention(q, q, q)
        F.scaled_dot_product_attention(nested, nested, nested)
        F.scaled_dot_product_attention(meta, meta, meta)
        _, weights = attention(q[0], q[0], q[0])
        torch.vmap(F.scaled_dot_product_attention)(q, q, q)
        with pytest.raises(RuntimeError):
            F.scaled_dot_product_attention(q, q[..., :3], q)
        with pytest.raises(RuntimeError):
            F.scaled_dot_product_attention(q, q, q, torch.ones(4, 4, dtype=torch.bool), is_causal=True)
    assert report.taken == 1 and weights.shape == (2, 4, 4)
    text = str(report)
    assert text.startswith("foveate computed 1 of 7 attention calls.\nLeft to PyTorch, 1 x: ")
    for reason in (
        "query is a nested tensor",
        "query is on device meta",
        "need_weights=False",
        "torch.func",
        "attn_mask: given beside is_causal",
        "does not equal",
    ):
        assert reason in text, reason
    assert repr(report) == "<foveate.torch.Replaced: 1 taken, 6 left>"


def test_double_backward_can_be_left_to_pytorch(draw):
    q = draw(1, 2, 5, 8, dtype=F64, grad=True)
    with sdpa_kernel(SDPBackend.MATH), replace_sdpa(double_backward=True) as report:
        assert torch.autograd.gradgradcheck(lambda q: F.scaled_dot_product_attention(q, q, q), (q,), fast_mode=True)
        with torch.no_grad():
            F.scaled_dot_product_attention(q, q, q)
    assert report.taken == 1 and "double_backward=True" in str(report)
    with replace_sdpa():
        loss = F.scaled_dot_product_attention(q, q, q).square().sum()
    (gradient,) = torch.autograd.grad(loss, q, create_graph=True)
    with pytest.raises(NotImplementedError, match="second derivatives"):
        gradient.sum().backward()


def test_it_nests_and_ends_with_an_exception(draw):
    q = draw(1, 2, 5, 8)
    with replace_sdpa() as outer:
        with pytest.raises(KeyError), replace_sdpa() as inner:
            F.scaled_dot_product_attention(q, q, q)
            raise KeyError
        assert not torch.backends.mha.get_fastpath_enabled()
        F.scaled_dot_product_attention(q, q, q)
    assert (inner.taken, outer.taken) == (1, 1)
    assert as_it_was()
    F.scaled_dot_product_attention(q, q, q)
    assert outer.taken == 1


def test_the_users_own_choice_of_fast_paths_is_kept():
    torch.backends.mha.set_fastpath_enabled(False)
    try:
        with replace_sdpa():
            pass
        assert not torch.backends.mha.get_fastpath_enabled()
    finally:
        torch.backends.mha.set_fastpath_enabled(True)


def test_it_counts_for_its_own_thread(draw):
    q = draw(1, 2, 5, 8)
    inside, done, reports = threading.Barrier(3), threading.Barrier(3), {}

    def replaced(name):
        with replace_sdpa() as reports[name]:
            inside.wait()
            F.scaled_dot_product_attention(q, q, q)
            done.wait()

    threads = [threading.Thread(target=replaced, args=(name,)) for name in "ab"]
    for thread in threads:
        thread.start()
    inside.wait()
    F.scaled_dot_product_attention(q, q, q)
    done.wait()
    for thread in threads:
        thread.join()
    assert [report.taken for report in reports.values()] == [1, 1]
    assert as_it_was()


def test_as_a_decorator(draw):
    q = draw(1, 2, 5, 8)
    seen = []

    class Watching(torch.overrides.TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            seen.append(str(func))
            return func(*args, **(kwargs or {}))

    @replace_sdpa()
    def call():
        return F.scaled_dot_product_attention(q, q, q)

    with Watching():
        call()
        call()
    assert [name for name in seen if "attention" in name] == ["foveate.attention.default"] * 2


@pytest.mark.parametrize("compiled_before", [False, True])
def test_compiled_functions(draw, compiled_before):
    torch._dynamo.reset()
    q = draw(1, 2, 5, 8, dtype=F64)

    @torch.compile(fullgraph=True, backend="aot_eager")
    def call(q):
        return F.scaled_dot_product_attention(q, q, q) + 1

    if compiled_before:
        call(q)
    with replace_sdpa() as report:
        got = [call(q), call(q)]
    assert report.taken == 2
    for one in got:
        assert torch.equal(one, foveate.torch.scaled_dot_product_attention(q, q, q) + 1)
    with replace_sdpa() as again:
        call(q)
    assert (report.taken, again.taken) == (2, 1)
    call(q)
    assert (report.taken, again.taken) == (2, 1)


@pytest.mark.parametrize("grad", [False, True])
def test_compiled_encoders(encoder, draw, grad):
    torch._dynamo.reset()
    x = draw(2, 9, 16, dtype=F64)
    compiled = torch.compile(encoder, backend="aot_eager")
    with torch.set_grad_enabled(grad):
        expected = compiled(x)
        with replace_sdpa() as report:
            got = compiled(x)
    assert (report.taken, report.left) == (3, {})
    torch.testing.assert_close(got, expected, rtol=0, atol=1e-12)


def test_dropout_is_drawn_from_pytorchs_generator(draw):
    q = draw(1, 2, 64, 8)
    with replace_sdpa() as report:
        torch.manual_seed(4)
        first = F.scaled_dot_product_attention(q, q, q, dropout_p=0.5)
        second = F.scaled_dot_product_attention(q, q, q, dropout_p=0.5)
        torch.manual_seed(4)
        again = F.scaled_dot_product_attention(q, q, q, dropout_p=0.5)
    assert report.taken == 3 and torch.equal(first, again) and not torch.equal(first, second)


def test_autocast(draw):
    q, mask = draw(1, 2, 5, 8), draw(5, 5)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        expected = F.scaled_dot_product_attention(q, q, q, mask)
        with replace_sdpa() as report:
            got = F.scaled_dot_product_attention(q, q, q, mask)
    assert report.taken == 1 and got.dtype == expected.dtype == torch.bfloat16
    torch.testing.assert_close(got, expected, rtol=0, atol=2**-6)


def test_checkpoints_are_computed_again_alike(draw):
    q = draw(1, 2, 5, 8, dtype=F64, grad=True)
    (expected,) = torch.autograd.grad(exact(q, q, q).sin().sum(), q)
    backward = {
        "backward": lambda loss: loss.backward(),
        "autograd.backward": torch.autograd.backward,
        "autograd.grad": lambda loss: setattr(q, "grad", torch.autograd.grad(loss, q)[0]),
    }
    for name, run in backward.items():
        q.grad = None
        with replace_sdpa():
            o = torch.utils.checkpoint.checkpoint(F.scaled_dot_product_attention, q, q, q, use_reentrant=False)
            run(o.sin().sum())
        torch.testing.assert_close(q.grad, expected, rtol=1e-12, atol=1e-12, msg=name)


def test_nothing_seen_is_said():
    with replace_sdpa() as report:
        torch.ones(3).softmax(0)
    assert str(report).startswith("No attention call was seen")
