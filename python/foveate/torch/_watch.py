# Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
"""A model's attention calls, looked at while it runs."""

from __future__ import annotations

import inspect
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from foveate._options import ScoreOptions
from foveate.torch._attention import as_attention
from foveate.torch._interception import Call, Interception
from foveate.torch._look import Looked, look
from foveate.torch._operator import Options, attention_operator, transformed
from foveate.torch._padding import Padding
from foveate.torch._watched import Watched


class _Place:
    """The name of the module whose forward runs, in the thread that made this."""

    def __init__(self, model: nn.Module) -> None:
        self._model, self._root = model, type(model).__name__
        self._thread = threading.get_ident()
        self._stack: list[str] = []
        self._handles: list[Any] = []
        for name, module in model.named_modules():
            self._handles.append(module.register_forward_pre_hook(self._entering(name)))
            self._handles.append(module.register_forward_hook(self._leaving, always_call=True))

    def name(self) -> str:
        return next((name for name in reversed(self._stack) if name), self._root)

    def module(self) -> nn.Module:
        return self._model.get_submodule(self._stack[-1] if self._stack else "")

    def remove(self) -> None:
        for handle in self._handles:
            handle.remove()

    def _entering(self, name: str) -> Callable[..., None]:
        def push(*_: Any) -> None:
            if threading.get_ident() == self._thread:
                self._stack.append(name)

        return push

    def _leaving(self, *_: Any) -> None:
        if threading.get_ident() == self._thread and self._stack:
            self._stack.pop()


class _Watching(Interception):
    def __init__(self, place: _Place, padding: Padding, report: Watched) -> None:
        super().__init__()
        self.place, self.padding, self.report = place, padding, report

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func is attention_operator._opoverload:
            self._look(lambda: _operands_of_operator(args))
        return super().__torch_function__(func, types, args, kwargs)

    def attention(self, call: Call, original: Callable[[], Tensor]) -> Tensor:
        self._look(lambda: _operands_of_sdpa(_unpacked(call, self.place.module())))
        return original()

    def weights_wanted(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Such a call has no attention call within; the same one without weights has."""
        given = inspect.signature(F.multi_head_attention_forward).bind(*args, **kwargs).arguments
        with torch.no_grad():
            self.inside_multi_head(**{**given, "need_weights": False, "training": False})

    def _look(self, operands: Callable[[], tuple[Tensor, Tensor, Tensor, dict[str, Any]]]) -> None:
        place = self.place.name()
        try:
            if transformed():
                raise TypeError("inside a transform of torch.func there are no plain tensors to look at")
            with torch.no_grad():
                looked: Looked = look(*operands(), self.padding)
        except (TypeError, ValueError) as error:
            self.report._skip(place, str(error))
        else:
            self.report._add(place, looked)


def _unpacked(call: Call, module: nn.Module) -> Call:
    """Transformers' "sdpa" gives one token's heads of a group as if they were tokens; here they are heads again."""
    groups = getattr(module, "num_key_value_groups", 1)
    heads = getattr(getattr(module, "config", None), "num_attention_heads", 0)
    query, key, mask = call.query, call.key, call.attn_mask
    if groups < 2 or query.ndim != 4 or query.shape[2] != groups or query.shape[1] * groups != heads:
        return call
    if mask is not None and mask.ndim == 4 and mask.shape[1] > 1:
        mask = mask.reshape(mask.shape[0], heads, 1, mask.shape[3])
    query = query.reshape(query.shape[0], heads, 1, query.shape[3])
    return call._replace(query=query, attn_mask=mask, enable_gqa=key.shape[1] != heads)


def _operands_of_sdpa(call: Call) -> tuple[Tensor, Tensor, Tensor, dict[str, Any]]:
    query, key, value = (tensor.detach().cpu() for tensor in call[:3])
    mask = None if call.attn_mask is None else call.attn_mask.detach().cpu()
    return as_attention(query, key, value, mask, call.is_causal, call.scale, call.enable_gqa)


def _operands_of_operator(args: Any) -> tuple[Tensor, Tensor, Tensor, dict[str, Any]]:
    q, k, v, *options, _ = args
    given = {name: value for name, value in Options(*options)._asdict().items() if value is not None}
    for name in ("q_starts", "kv_starts", "block_table", "tree_mask", "k_scales", "v_scales"):
        if name in given:
            raise ValueError(f"{name}: calls that are given it are not looked at")
    if given.pop("layout", "bhnd") == "bnhd" and q.ndim > 2:
        q, k, v = (tensor.transpose(-2, -3) for tensor in (q, k, v))
    return q, k, v, {name: value for name, value in given.items() if name in ScoreOptions.__annotations__}


@contextmanager
def watch(model: nn.Module, *, padding: Tensor | None = None) -> Iterator[Watched]:
    """Looks at each attention call that the model makes within a with-block, and reports layer by layer, head by head.

    Seen are torch.nn.functional.scaled_dot_product_attention, nn.MultiheadAttention and nn.TransformerEncoder,
    foveate.torch.attention, and models of Transformers whose attn_implementation is "sdpa" or "foveate" (not "eager").
    What the model computes stays as it is; it takes two to three times as long.

    Args:
        model: any module; layers are called by the names of its modules.
        padding: which tokens are padding, bool [b, n], True = padding. Left out, it is taken from the model's own
            arguments (attention_mask, key_padding_mask, src_key_padding_mask) and from ids that are an embedding's
            padding_idx, at either end of a sequence.

    Returns:
        In the with statement, a Watched, which grows while the model runs; print it. Its faults name the layers where

        * a mask looks inverted: no token sees itself or one before it, or a whole sequence is hidden;
        * tokens attend to padding;
        * rows see no key though they are not padding;
        * NaN or Inf appears, and from where.

    It counts for the thread that enters it alone. Functions that torch.compile made run uncompiled meanwhile.

    >>> encoder = torch.nn.TransformerEncoder(torch.nn.TransformerEncoderLayer(32, 4, batch_first=True), 2).eval()
    >>> with watch(encoder) as seen:
    ...     _ = encoder(torch.randn(2, 10, 32))
    >>> seen.layers[0].name, seen.layers[0].figures["effective_keys"].shape, seen.faults
    ('layers.0.self_attn', (4,), [])
    """
    report = Watched()
    known = Padding(model, padding)
    place = _Place(model)
    try:
        with torch.compiler.set_stance("force_eager"), _Watching(place, known, report):
            yield report
    finally:
        place.remove()
        known.remove()
