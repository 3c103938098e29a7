# Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
"""The operator: its results are the engine's, and it behaves as PyTorch wants of an operator."""

import subprocess
import sys
import threading

import numpy as np
import pytest
import torch
from torch.autograd import gradcheck

import foveate
import foveate.torch
import oracle
from foveate.torch._operator import Options, attention_operator, backward_operator

F64 = torch.float64
PLACES = [(4, 0), (-1, 2)]


def numpy_of(options):
    return {name: of.detach().numpy() if isinstance(of, torch.Tensor) else of for name, of in options.items()}


@pytest.fixture
def grouped(draw):
    """q, k, v with two query heads a key head, odd sizes."""
    return draw(2, 4, 7, 5, dtype=F64), draw(2, 2, 9, 5, dtype=F64), draw(2, 2, 9, 3, dtype=F64)


def each_option(draw):
    return [
        {},
        {"causal": True},
        {"causal": True, "align": "top-left"},
        {"window": (3, 1)},
        {"softcap": 1.5},
        {"scale": -0.3},
        {"alibi": torch.tensor([0.5, 0.25, 0.125, 0.0625], dtype=F64)},
        {"sinks": draw(4, dtype=F64)},
        {"mask": draw(2, 1, 7, 9) > 0},
        {"mask": draw(9) > -0.5, "bias": draw(4, 7, 1, dtype=F64)},
        {"q_lengths": torch.tensor([7, 4]), "kv_lengths": torch.tensor([5, 9]), "causal": True},
        {"q_offset": 3, "kv_offset": 1, "causal": True},
        {"dropout": 0.3, "seed": 2**64 - 5},
        {"blocks": torch.tensor([[True, False, True], [True, True, False]]), "block_size": 4},
    ]


def test_importing_foveate_does_not_import_torch():
    code = "import sys, foveate; assert not [m for m in sys.modules if m.split('.')[0] in ('torch', 'transformers')]"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_results_are_the_oracles(grouped, draw):
    for options in each_option(draw):
        o, lse = foveate.torch.attention(*grouped, return_lse=True, **options)
        expected = oracle.attention(*(x.numpy() for x in grouped), **numpy_of(options), u=2.0**-53)
        assert np.all(abs(o.numpy() - expected.o) <= expected.o_error), options
        rows = np.isfinite(expected.lse)
        error = abs(lse.numpy()[rows] - expected.lse[rows])
        assert np.all(error <= expected.lse_error.reshape(lse.shape)[rows]), options
        assert np.array_equal(lse.numpy()[~rows], expected.lse[~rows])


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.float16, torch.bfloat16])
def test_results_are_those_of_foveate_to_the_bit(draw, dtype):
    q, k, v = draw(2, 4, 7, 5, dtype=dtype), draw(2, 2, 9, 5, dtype=dtype), draw(2, 2, 9, 3, dtype=dtype)
    sinks = draw(4)
    got = foveate.torch.attention(q, k, v, causal=True, sinks=sinks, return_lse=True, return_weights=True)
    expected = foveate.attention(q, k, v, causal=True, sinks=sinks, return_lse=True, return_weights=True)
    for one, other, name in zip(got, expected, ("o", "lse", "weights"), strict=True):
        assert torch.equal(one, other) and one.dtype == other.dtype, name
    assert got.o.dtype == dtype and got._fields == ("o", "lse", "weights")


def test_gradients_of_every_option_by_finite_differences(grouped, draw):
    q, k, v = (x.requires_grad_() for x in grouped)
    for options in each_option(draw):
        named = [name for name in ("bias", "sinks") if name in options]
        inputs = [options.pop(name).requires_grad_() for name in named]

        def call(q, k, v, *given, named=named, options=options):
            o, lse = foveate.torch.attention(
                q, k, v, return_lse=True, **dict(zip(named, given, strict=True)), **options
            )
            return o, torch.where(lse.isfinite(), lse, 0)  # rows without keys have lse -inf

        assert gradcheck(call, (q, k, v, *inputs)), (named, options)


def test_gradients_of_any_strides(draw):
    q = draw(7, 2, 4, 5, dtype=F64).permute(1, 2, 0, 3).requires_grad_()
    k = draw(2, 1, 9, 5, dtype=F64, grad=True)
    v = draw(2, 4, 3, 9, dtype=F64).mT.requires_grad_()
    bias = draw(1, 1, 9, dtype=F64, grad=True)

    def expanded(q, k, v, bias):
        return foveate.torch.attention(q, k.expand(2, 4, 9, 5), v, bias=bias.expand(4, 7, 9))

    assert gradcheck(expanded, (q, k, v, bias))
    k = k.detach().repeat(1, 4, 1, 1).requires_grad_()
    laid = [x.transpose(1, 2) for x in (q, k, v)]
    assert gradcheck(lambda *x: foveate.torch.attention(*x, layout="bnhd", return_lse=True), laid)
    assert gradcheck(lambda *x: foveate.torch.attention(*x, causal=True, return_lse=True), [x[0, 0] for x in (q, k, v)])


def test_a_bias_of_each_broadcast_has_a_gradient_of_its_own_shape(grouped, draw):
    for shape in ((9,), (7, 1), (4, 1, 1), (2, 1, 1, 9), (1, 4, 7, 9)):
        bias = draw(*shape, dtype=F64, grad=True)
        assert gradcheck(lambda bias: foveate.torch.attention(*grouped, bias=bias), (bias,)), shape


def test_gradients_of_packed_sequences(draw):
    q, k, v = (draw(h, 11, d, dtype=F64, grad=True) for h, d in ((4, 5), (2, 5), (2, 3)))
    starts = torch.tensor([0, 4, 4, 11])
    assert gradcheck(
        lambda q, k, v: foveate.torch.attention(q, k, v, q_starts=starts, kv_starts=starts, causal=True), (q, k, v)
    )


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
def test_gradients_have_the_inputs_types(draw, dtype):
    q, k, v = (draw(2, 4, 9, 8, dtype=dtype, grad=True) for _ in range(3))
    bias, sinks = draw(9, 9, grad=True), draw(4, dtype=F64, grad=True)
    foveate.torch.attention(q, k, v, bias=bias, sinks=sinks).float().sum().backward()
    assert [x.grad.dtype for x in (q, k, v)] == [dtype] * 3
    assert bias.grad.dtype == torch.float32 and sinks.grad.dtype == F64
    assert all(x.grad.isfinite().all() for x in (q, k, v, bias, sinks))


def test_only_what_is_wanted_has_a_gradient(grouped):
    q, k, v = grouped
    o = foveate.torch.attention(q, k.requires_grad_(), v)
    o.sum().backward()
    assert k.grad is not None and q.grad is None and v.grad is None
    o, weights = foveate.torch.attention(q, k, v, return_weights=True)
    assert o.requires_grad and not weights.requires_grad
    with torch.no_grad():
        assert not foveate.torch.attention(q, k, v).requires_grad


def test_what_is_masked_has_no_gradient_even_if_it_is_nan(grouped):
    q, k, v = grouped
    k[:, :, 5:], v[:, :, 5:] = torch.nan, torch.inf
    for x in grouped:
        x.requires_grad_()
    foveate.torch.attention(q, k, v, kv_lengths=torch.tensor([5, 5])).sum().backward()
    assert all(x.grad.isfinite().all() for x in grouped) and not k.grad[:, :, 5:].any()


def test_opcheck(grouped, draw):
    inputs = [x.requires_grad_() for x in grouped]
    for options in each_option(draw):
        if "seed" in options:
            options["seed"] = torch.tensor(5)
        if "window" in options:
            options["window"] = list(options["window"])
        for weights in (False, True):
            torch.library.opcheck(attention_operator, (*inputs, *Options(**options), weights))
    plain = [x.detach() for x in inputs]
    o, lse, _ = attention_operator(*plain, *Options(), False)
    torch.library.opcheck(backward_operator, (o, *plain, o, lse, *Options(), [True, False, True, False, False]))


def test_fake_results_have_the_shapes_and_strides_of_real_ones(draw):
    from torch._subclasses import FakeTensorMode

    for shape, layout in (((2, 4, 7, 5), "bhnd"), ((2, 7, 4, 5), "bnhd"), ((7, 5), "bhnd"), ((3, 2, 4, 7, 5), "bhnd")):
        q = draw(*shape)
        real = foveate.torch.attention(q, q, q, layout=layout, return_lse=True, return_weights=True)
        with FakeTensorMode() as mode:
            like = mode.from_tensor(q)
            fake = foveate.torch.attention(like, like, like, layout=layout, return_lse=True, return_weights=True)
        for one, other in zip(real, fake, strict=True):
            assert (one.shape, one.stride(), one.dtype) == (other.shape, other.stride(), other.dtype)


def test_compiled_whole_with_dynamic_shapes(draw):
    def loss(q, k, v, mask, bias, sinks):
        o, lse = foveate.torch.attention(
            q * 2, k, v, mask=mask, bias=bias, sinks=sinks, window=(5, 0), softcap=3.0, return_lse=True
        )
        return (o.square().sum() + lse.sum()) * 0.5

    graphs = []

    def count(graph, inputs):
        graphs.append(graph)
        return graph

    from torch._dynamo.backends.common import aot_autograd

    compiled = torch.compile(loss, fullgraph=True, dynamic=True, backend=aot_autograd(fw_compiler=count))
    for n in (6, 9, 13):
        inputs = [draw(2, 4, n, 8, grad=True), draw(2, 2, n, 8, grad=True), draw(2, 2, n, 8, grad=True)]
        inputs += [draw(2, 1, 1, n) > -0.5, draw(4, n, n, grad=True), draw(4, grad=True)]
        inputs[3][..., 0] = True
        wanted = [x for x in inputs if x.requires_grad]
        expected = torch.autograd.grad(loss(*inputs), wanted)
        for one, other in zip(torch.autograd.grad(compiled(*inputs), wanted), expected, strict=True):
            torch.testing.assert_close(one, other, rtol=1e-5, atol=1e-5)  # sums are PyTorch's, in other orders
    assert len(graphs) == 2, "one forward and one backward graph for all lengths"


def test_compiled_by_the_default_backend(draw):
    q = draw(1, 2, 8, 16)

    def call(q):
        return foveate.torch.scaled_dot_product_attention(q, q, q, is_causal=True) + 1

    torch.testing.assert_close(torch.compile(call, fullgraph=True)(q), call(q))


def test_a_compiled_graph_draws_anew(draw):
    q = draw(1, 2, 8, 16)
    call = torch.compile(lambda q: foveate.torch.attention(q, q, q, dropout=0.5), fullgraph=True, backend="aot_eager")
    torch.manual_seed(3)
    first, second = call(q), call(q)
    assert not torch.equal(first, second)
    torch.manual_seed(3)
    assert torch.equal(call(q), first)


def test_dropout_is_that_of_its_seed(draw):
    q = draw(2, 4, 9, 8)
    for seed in (0, 7, 2**63, 2**64 - 1):
        expected = foveate.attention(q, q, q, dropout=0.4, seed=seed)
        assert torch.equal(foveate.torch.attention(q, q, q, dropout=0.4, seed=seed), expected)
    assert torch.equal(
        foveate.torch.attention(q, q, q, dropout=0.4, seed=torch.tensor(7)),
        foveate.attention(q, q, q, dropout=0.4, seed=7),
    )
    torch.manual_seed(1)
    first = foveate.torch.attention(q, q, q, dropout=0.4)
    assert not torch.equal(first, foveate.torch.attention(q, q, q, dropout=0.4))
    torch.manual_seed(1)
    assert torch.equal(first, foveate.torch.attention(q, q, q, dropout=0.4))
    with pytest.raises(ValueError, match="seed: -1, expected 0 to"):
        foveate.torch.attention(q, q, q, dropout=0.4, seed=-1)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_autocast(draw, dtype):
    q, k = draw(2, 2, 9, 8, grad=True), draw(2, 2, 9, 8)
    with torch.autocast("cpu", dtype=dtype):
        o = foveate.torch.attention(q, k, k)
        like_pytorch = foveate.torch.scaled_dot_product_attention(q, k, k, draw(9, 9))
        exact = foveate.torch.attention(q.double(), k.double(), k.double())
    assert o.dtype == dtype and like_pytorch.dtype == dtype and exact.dtype == F64
    o.sum().backward()
    assert q.grad.dtype == torch.float32


def test_vmap_is_a_loop(draw):
    q, k, v, mask = draw(3, 2, 4, 7, 5), draw(2, 4, 9, 5), draw(2, 4, 9, 3, 3), draw(3, 9) > 0

    def call(q, k, v, mask):
        return foveate.torch.attention(q, k, v, mask=mask, dropout=0.2, seed=5, return_lse=True)

    o, lse = torch.vmap(call, in_dims=(0, None, -1, 0))(q, k, v, mask)
    for i in range(3):
        one, its_lse = call(q[i], k, v[..., i], mask[i])
        assert torch.equal(o[i], one) and torch.equal(lse[i], its_lse)


def test_gradients_of_single_samples_by_torch_func(draw):
    q = draw(3, 2, 7, 5, dtype=F64)

    def ours(q):
        return foveate.torch.scaled_dot_product_attention(q, q, q).square().sum()

    def theirs(q):
        return torch.nn.functional.scaled_dot_product_attention(q, q, q).square().sum()

    got = torch.vmap(torch.func.grad(ours))(q)
    torch.testing.assert_close(got, torch.stack([torch.func.grad(theirs)(each) for each in q]))
    mapped = q.clone().requires_grad_()
    torch.vmap(lambda q: foveate.torch.attention(q, q, q))(mapped).square().sum().backward()
    torch.testing.assert_close(mapped.grad, got)


def test_second_derivatives_are_refused(draw):
    q = draw(1, 2, 5, 4, grad=True)
    (gradient,) = torch.autograd.grad(foveate.torch.attention(q, q, q).square().sum(), q, create_graph=True)
    with pytest.raises(NotImplementedError, match="second derivatives are asked for, .*SDPBackend.MATH"):
        gradient.sum().backward()
    with pytest.raises(NotImplementedError, match="second derivatives"):
        torch.func.jacrev(torch.func.grad(lambda q: foveate.torch.attention(q, q, q).sum()))(q.detach())
    with pytest.raises(NotImplementedError, match="forward-mode derivatives"):
        torch.func.jvp(lambda q: foveate.torch.attention(q, q, q), (q.detach(),), (q.detach(),))


def test_errors_name_the_argument(draw):
    q, k = draw(2, 4, 7, 8), draw(2, 4, 7, 4)
    cases = [
        (ValueError, "k: head dim 4 does not equal q's 8", (q, k, k), {}),
        (TypeError, "q: ndarray, expected a tensor", (q.numpy(), q, q), {}),
        (TypeError, "mask: .*bool", (q, q, q), {"mask": draw(7, 7)}),
        (ValueError, "dropout", (q, q, q), {"dropout": 1.0}),
        (ValueError, "alibi: requires grad, .*use alibi.detach()", (q, q, q), {"alibi": draw(4, grad=True)}),
        (TypeError, "q: dtype", (q.to(torch.complex64), q, q), {}),
    ]  # fmt: skip
    for error, message, inputs, options in cases:
        with pytest.raises(error, match=message):
            foveate.torch.attention(*inputs, **options)


def test_threads_and_numbers_of_threads_do_not_change_bits(draw):
    q = draw(2, 4, 300, 16)
    expected = foveate.torch.attention(q, q, q, threads=1)
    before = torch.get_num_threads()
    try:
        torch.set_num_threads(2)
        assert torch.equal(foveate.torch.attention(q, q, q), expected)
    finally:
        torch.set_num_threads(before)
    results = [None] * 6

    def work(i):
        results[i] = foveate.torch.attention(q, q, q)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(torch.equal(result, expected) for result in results)


def test_int8_keys_in_pages_without_gradients(draw):
    k = torch.randint(-127, 128, (5, 2, 4, 8), dtype=torch.int8)
    scales, q, table = draw(5, 2, 4, 1).abs(), draw(2, 4, 1, 8), torch.tensor([[3, 1], [0, 4]])
    options = {"k_scales": scales, "v_scales": scales, "block_table": table, "kv_lengths": torch.tensor([7, 5])}
    o = foveate.torch.attention(q, k, k, **options)
    assert torch.equal(o, foveate.attention(q, k, k, **options))


def test_exported_programs_and_inference_mode(draw):
    class Module(torch.nn.Module):
        def forward(self, q, k):
            return foveate.torch.attention(q, k, k, causal=True, window=(4, 0))

    q, k = draw(2, 4, 9, 8), draw(2, 2, 9, 8)
    n = torch.export.Dim("n", min=2)
    program = torch.export.export(Module(), (q, k), dynamic_shapes=({2: n}, {2: n}))
    assert "foveate.attention.default" in program.graph_module.code
    q, k = draw(2, 4, 13, 8), draw(2, 2, 13, 8)
    with torch.inference_mode():
        expected = Module()(q, k)
    assert torch.equal(program.module()(q, k), expected)


def test_sizes_of_zero(draw):
    for b, n_q, n_kv, d_v in ((0, 3, 4, 5), (2, 0, 4, 5), (2, 3, 0, 5), (2, 3, 4, 0)):
        q, k, v = draw(b, 2, n_q, 8, grad=True), draw(b, 2, n_kv, 8, grad=True), draw(b, 2, n_kv, d_v, grad=True)
        o, lse = foveate.torch.attention(q, k, v, return_lse=True)
        assert o.shape == (b, 2, n_q, d_v)
        assert n_kv or not o.any()
        (o.sum() + torch.where(lse.isfinite(), lse, 0).sum()).backward()
        assert all(x.grad.shape == x.shape and x.grad.isfinite().all() for x in (q, k, v))
