# Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
"""A watched model: quiet where nothing is wrong, and each planted fault is found in the layer it was planted in."""

import threading

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import nn

import foveate
import foveate.torch
from foveate.torch import replace_sdpa, watch

LENGTHS = torch.tensor([9, 5, 7, 3])


class Attention(nn.Module):
    def __init__(self, causal):
        super().__init__()
        self.causal = causal
        self.project = nn.Linear(32, 96)
        self.wrong = None

    def forward(self, x, padding):
        q, k, v = self.project(x).reshape(*x.shape[:2], 3, 4, 8).permute(2, 0, 3, 1, 4)
        mask = ~padding[:, None, None, :]
        if self.causal:
            mask = mask & torch.ones(x.shape[1], x.shape[1], dtype=torch.bool).tril()
        if self.wrong == "inverted":
            mask = ~mask
        if self.wrong == "future":
            mask = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool).triu(1)
        if self.wrong == "padding":
            mask = torch.ones_like(mask) if not self.causal else torch.ones(x.shape[1], x.shape[1]).tril().bool()
        if self.wrong == "nan":
            k = k.clone()
            k[1, 2, 3, 4] = torch.nan
        if self.wrong == "empty":
            mask = mask.expand(-1, -1, x.shape[1], -1).clone()
            mask[0, :, 2] = False
        if self.wrong == "large negative bias":
            mask = torch.zeros(mask.shape).masked_fill(mask, torch.finfo(torch.float32).min)
        return F.scaled_dot_product_attention(q, k, v, mask).transpose(1, 2).reshape(x.shape)


class Block(nn.Module):
    def __init__(self, causal):
        super().__init__()
        self.norm = nn.LayerNorm(32)
        self.attention = Attention(causal)

    def forward(self, x, padding):
        return x + self.attention(self.norm(x), padding)


class Model(nn.Module):
    """Token ids, 0 is padding; blocks are handed the padding as it is."""

    def __init__(self, causal=False):
        super().__init__()
        torch.manual_seed(7)
        self.embedding = nn.Embedding(50, 32, padding_idx=0)
        self.blocks = nn.ModuleList(Block(causal) for _ in range(4))

    def forward(self, ids):
        x = self.embedding(ids) + torch.arange(ids.shape[1])[:, None].sin()
        for block in self.blocks:
            x = block(x, ids == 0)
        return x


@pytest.fixture
def ids():
    ids = torch.randint(1, 50, (4, 9), generator=torch.Generator().manual_seed(1))
    ids[torch.arange(9) >= LENGTHS[:, None]] = 0
    return ids


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("left", [False, True])
def test_quiet_on_a_healthy_model(ids, causal, left):
    model = Model(causal)
    ids = ids.flip(1) if left else ids
    before = model(ids)
    with watch(model) as seen:
        during = model(ids)
    assert torch.equal(before, during)
    assert seen.faults == [] and seen.skipped == {} and "\nNothing looks wrong.\n" in str(seen)
    assert [layer.name for layer in seen.layers] == [f"blocks.{i}.attention" for i in range(4)]
    assert not torch._C._len_torch_function_stack()
    assert not any(module._forward_hooks or module._forward_pre_hooks for module in model.modules())


@pytest.mark.parametrize(
    ("wrong", "causal", "left", "kind", "says"),
    [
        ("inverted", False, False, "inverted", "it hides all keys from sequence 0"),
        ("inverted", True, False, "inverted", "neither themselves nor those before"),
        ("inverted", True, True, "inverted", "neither themselves nor those before"),
        ("future", False, False, "inverted", "later tokens and padding alone"),
        ("padding", False, False, "padding", "of their weight to it, most in head"),
        ("padding", True, True, "padding", "of their weight to it, most in head"),
        ("nan", False, False, "not_finite", "component 4 of key 3 is NaN"),
        ("empty", False, False, "no_key", "1 row sees no key, so that the output there is 0; the first is row 2 of"),
        ("large negative bias", False, False, "inverted", "it hides all keys from sequence 0"),
    ],
)  # fmt: skip
def test_planted_faults_are_named_with_their_layer(ids, wrong, causal, left, kind, says):
    model = Model(causal)
    model.blocks[2].attention.wrong = wrong
    with watch(model) as seen:
        model(ids.flip(1) if left else ids)
    first = seen.faults[0]
    assert (first.layer, first.kind) == ("blocks.2.attention", kind) and says in first.text, seen.faults
    # NaN goes on to the next layer; all else is in this one alone.
    assert {fault.layer for fault in seen.faults} - {"blocks.2.attention"} == (
        {"blocks.3.attention"} if wrong == "nan" else set()
    )
    assert f"  * blocks.2.attention: {first.text[:20]}" in str(seen)


def test_padding_that_is_right_and_causal_is_no_fault(ids):
    """Tokens before it never see it, whatever the mask says of it."""
    model = Model(causal=True)
    for block in model.blocks:
        block.attention.wrong = "padding"
    with watch(model) as seen:
        model(ids)
    assert seen.faults == []


def test_figures_are_those_of_inspect_over_real_tokens(ids):
    model = Model()
    calls = []

    class Record(torch.overrides.TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            if func is F.scaled_dot_product_attention:
                calls.append(args)
            return func(*args, **(kwargs or {}))

    with Record():
        model(ids)
    with watch(model) as seen:
        model(ids)
        model(ids)
    real = ids != 0
    for layer, (q, k, v, mask) in zip(seen.layers, calls, strict=True):
        weights = foveate.attention(q.detach(), k.detach(), v.detach(), mask=mask, return_weights=True).weights.double()
        entropy = -(weights * weights.clamp_min(1e-300).log()).sum(-1).transpose(1, 2)[real]
        assert layer.calls == 2 and layer.shape == (4, 4, 9, 9) and list(layer.rows) == [2 * int(LENGTHS.sum())] * 4
        np.testing.assert_allclose(layer.figures["entropy"], entropy.mean(0), rtol=1e-5)
        np.testing.assert_allclose(layer.figures["effective_keys"], entropy.exp().mean(0), rtol=1e-5)
        largest = weights.amax(-1).transpose(1, 2)[real]
        np.testing.assert_allclose(layer.figures["largest_weight"], largest.amax(0), rtol=1e-5)
        np.testing.assert_allclose(layer.figures["visible_keys"], (LENGTHS**2).sum() / LENGTHS.sum())
        np.testing.assert_allclose(layer.figures["saturated"], (largest > 0.99).double().mean(0))
        on_first = weights[..., 0].transpose(1, 2)[real]
        np.testing.assert_allclose(layer.figures["first_key_mass"], on_first.mean(0), rtol=1e-5)


def test_the_report_fits_80_columns_and_marks_heads():
    class Many(nn.Module):
        def __init__(self, heads):
            super().__init__()
            self.a_block_of_quite_a_long_name = nn.ModuleList(Head(heads, place) for place in (0, 50))
            self.another = Head(heads, 7)

        def forward(self):
            for head in self.a_block_of_quite_a_long_name:
                head()
            self.another()

    class Head(nn.Module):
        def __init__(self, heads, place):
            super().__init__()
            self.q = torch.randn(1, heads, 100, 8, generator=torch.Generator().manual_seed(3))
            self.k = self.q.flip(2).clone()
            self.k[:, 0] = 0
            self.k[:, 1] = 0
            self.k[:, 1, place] = 3 * self.q[:, 1].mean(1)

        def forward(self):
            F.scaled_dot_product_attention(self.q, self.k, self.k)

    for heads in (2, 12, 13, 32):
        model = Many(heads)
        with watch(model) as seen:
            model()
        text = str(seen)
        assert max(map(len, text.splitlines())) <= 80
        assert seen.layers[0].marks[0] == "e" and "e: weights nearly even" in text
        assert "\n  another " in text
        for figure in seen.layers[0].figures:
            lines = seen.table(figure).splitlines()[2 if "  layer:" in seen.table(figure) else 1 :]
            assert max(map(len, lines)) <= 80 and len({len(line) for line in lines[: len(seen.layers) + 1]}) == 1
        for head in range(heads):
            assert f" {head}" in text
    with pytest.raises(ValueError, match="figure: 'colour', expected one of effective_keys"):
        seen.table("colour")


@pytest.mark.filterwarnings("ignore:Support for mismatched")
def test_encoders_of_pytorch(draw):
    torch.manual_seed(2)
    encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(32, 4, batch_first=True), 3).eval()
    x, padding = draw(4, 9, 32), torch.arange(9) >= LENGTHS[:, None]
    causal = nn.Transformer.generate_square_subsequent_mask(9)
    for options in (
        {"src_key_padding_mask": padding},
        {"mask": causal},
        {"mask": causal, "src_key_padding_mask": padding},
    ):
        with torch.no_grad(), watch(encoder) as seen:
            encoder(x, **options)
        assert seen.faults == [] and [layer.name for layer in seen.layers] == [
            f"layers.{i}.self_attn" for i in range(3)
        ]
    wrong = {
        "inverted": [{"src_key_padding_mask": ~padding}, {"mask": torch.ones(9, 9, dtype=torch.bool).tril()}],
        "padding": [{}],
    }
    for kind, forms in wrong.items():
        for options in forms:
            given = padding if kind == "padding" else None
            with watch(encoder, padding=given) as seen:
                encoder(x, **options)
            assert [(fault.layer, fault.kind) for fault in seen.faults] == [
                (f"layers.{i}.self_attn", kind) for i in range(3)
            ]
    assert "So it is in 2 more layers." in " ".join(str(seen).split())


def test_attention_that_returns_its_weights_is_seen(draw):
    attention = nn.MultiheadAttention(32, 4, batch_first=True, dropout=0.5)
    x = draw(2, 9, 32)
    torch.manual_seed(1)
    expected = attention(x, x, x)
    torch.manual_seed(1)
    with watch(attention) as seen:
        got = attention(x, x, x)
    assert torch.equal(got[0], expected[0]) and torch.equal(got[1], expected[1])
    (layer,) = seen.layers
    assert (layer.name, layer.calls, layer.shape) == ("MultiheadAttention", 1, (2, 4, 9, 9))


def test_foveates_own_calls_are_seen(draw):
    class Own(nn.Module):
        def forward(self, q):
            return foveate.torch.attention(q, q, q, layout="bnhd", causal=True, window=(3, 0), softcap=5.0)

    q = draw(2, 9, 4, 8)
    model = Own()
    with watch(model) as seen:
        o = model(q)
    assert torch.equal(o, model(q))
    expected = foveate.inspect(q, q, layout="bnhd", causal=True, window=(3, 0), softcap=5.0)
    np.testing.assert_allclose(seen.layers[0].figures["entropy"], expected.rows.entropy.mean((0, 2)))
    with watch(model) as seen, replace_sdpa() as report:
        F.scaled_dot_product_attention(q, q, q)
    assert report.taken == 1 and seen.layers[0].calls == 1


def test_what_cannot_be_looked_at_is_told(draw):
    starts = torch.tensor([0, 4, 9])
    q = draw(4, 9, 8)

    class Packed(nn.Module):
        def forward(self):
            return foveate.torch.attention(q, q, q, q_starts=starts, kv_starts=starts)

    model = Packed()
    with watch(model) as seen:
        model()
    assert list(seen.skipped.values()) == [1] and "Not looked at: 1 call. q_starts" in str(seen)
    assert str(seen).startswith("No attention call was seen")


def test_compiled_models_are_seen(ids):
    model = Model()
    compiled = torch.compile(model, backend="aot_eager")
    compiled(ids)
    with watch(model) as seen:
        compiled(ids)
    assert [layer.calls for layer in seen.layers] == [1] * 4


def test_exceptions_and_other_threads(ids):
    model = Model()
    with pytest.raises(IndexError), watch(model) as seen:
        model(ids)
        model(ids + 50)
    assert [layer.calls for layer in seen.layers] == [1] * 4 and not model._forward_hooks
    with watch(model) as seen:
        thread = threading.Thread(target=model, args=(ids,))
        thread.start()
        thread.join()
        with pytest.raises(IndexError):
            model(ids + 50)
        model(ids)
    assert [(layer.name, layer.calls) for layer in seen.layers] == [(f"blocks.{i}.attention", 1) for i in range(4)]


def test_gradients_go_through(ids):
    model = Model()
    model(ids).square().sum().backward()
    expected = [parameter.grad.clone() for parameter in model.parameters()]
    model.zero_grad()
    with watch(model):
        model(ids).square().sum().backward()
    assert all(torch.equal(p.grad, e) for p, e in zip(model.parameters(), expected, strict=True))


def test_padding_is_checked():
    with pytest.raises(ValueError, match=r"padding: torch.int64 of shape \[2, 3\], expected bool"):
        watch(Model(), padding=torch.zeros(2, 3, dtype=torch.int64)).__enter__()


class Crossing(nn.Module):
    """Queries of one text, keys of another that is padded at its end."""

    def forward(self, q, k, attention_mask):
        return F.scaled_dot_product_attention(q, k, k, attention_mask[:, None, None, :])


@pytest.mark.parametrize("n_q", [2, 9, 14])
def test_attention_to_another_text(draw, n_q):
    model, q, k, padding = Crossing(), draw(4, 2, n_q, 8), draw(4, 2, 11, 8), torch.arange(11) >= LENGTHS[:, None]
    with watch(model) as seen:
        model(q, k, ~padding)
    assert seen.faults == []
    with watch(model, padding=padding) as seen:
        model(q, k, padding)
    (fault,) = seen.faults
    assert (fault.kind, fault.text) == ("inverted", "the mask looks inverted: tokens see padding alone")


def test_ids_that_are_named(ids):
    class Named(Model):
        def forward(self, ids):
            x = self.embedding(input=ids)
            return self.blocks[0](x, torch.zeros_like(ids, dtype=torch.bool))

    model = Named()
    with watch(model) as seen:
        model(ids)
    assert [fault.kind for fault in seen.faults] == ["padding"]


def test_padding_that_nobody_tells_of_but_that_is_zero(draw):
    class Bare(nn.Module):
        def __init__(self):
            super().__init__()
            torch.manual_seed(3)
            self.project = nn.Linear(8, 24, bias=False)

        def forward(self, x):
            return F.scaled_dot_product_attention(*self.project(x)[:, None].chunk(3, -1))

    model, x = Bare(), draw(2, 16, 8)
    with watch(model) as seen:
        model(x)
    assert seen.faults == []
    x[0, 12:] = 0
    with watch(model) as seen:
        model(x)
    assert [fault.kind for fault in seen.faults] == ["padding"]


def test_weights_of_attention_with_arguments_by_place(draw):
    x, padding = draw(9, 2, 32), torch.arange(9) >= torch.tensor([[9], [5]])

    class ByPlace(nn.Module):
        def __init__(self):
            super().__init__()
            torch.manual_seed(3)
            self.of = nn.MultiheadAttention(32, 4)

        def forward(self, x):
            of = self.of
            return F.multi_head_attention_forward(
                x, x, x, 32, 4, of.in_proj_weight, of.in_proj_bias, None, None, False, 0.0, of.out_proj.weight,
                of.out_proj.bias, True, padding,
            )  # fmt: skip

    model = ByPlace()
    for right in (True, False):
        with watch(model, padding=padding if right else ~padding) as seen:
            model(x)
        assert [fault.kind for fault in seen.faults] == ([] if right else ["inverted"]), seen.faults
