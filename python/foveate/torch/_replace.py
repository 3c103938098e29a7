# Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
"""PyTorch's attention on CPUs, computed by foveate within a context."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor

from foveate.torch._attention import scaled_dot_product_attention
from foveate.torch._interception import Call, Interception
from foveate.torch._operator import transformed

_FLOATS = (torch.float64, torch.float32, torch.float16, torch.bfloat16)


class Replaced:
    """What became of the attention calls; str() says it in words.

    taken: how many foveate computed. left: how many were left to PyTorch, by reason, with a remedy if there is one.
    """

    def __init__(self) -> None:
        self.taken = 0
        self.left: dict[str, int] = {}

    def __str__(self) -> str:
        total = self.taken + sum(self.left.values())
        if not total:
            return "No attention call was seen: the model multiplies by itself, or in another thread or in TorchScript."
        lines = [f"foveate computed {self.taken} of {total} attention calls."]
        lines += [f"Left to PyTorch, {calls} x: {reason}" for reason, calls in self.left.items()]
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"<foveate.torch.Replaced: {self.taken} taken, {sum(self.left.values())} left>"

    def _leave(self, reason: str) -> None:
        self.left[reason] = self.left.get(reason, 0) + 1


class _Replacement(Interception):
    def __init__(self, report: Replaced, double_backward: bool) -> None:
        super().__init__()
        self.report = report
        self.double_backward = double_backward

    def attention(self, call: Call, original: Callable[[], Tensor]) -> Tensor:
        reason = _why_not(call) or (self.double_backward and _recorded(call))
        if reason:
            self.report._leave(reason)
            return original()
        try:
            # Argument by argument, since torch.compile of older versions cannot take a named tuple apart.
            o = scaled_dot_product_attention(
                call.query,
                call.key,
                call.value,
                call.attn_mask,
                call.dropout_p,
                call.is_causal,
                scale=call.scale,
                enable_gqa=call.enable_gqa,
            )
        except (TypeError, ValueError) as error:
            self.report._leave(str(error))
            return original()
        self.report.taken += 1
        return o

    def weights_wanted(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self.report._leave("nn.MultiheadAttention computes its weights by itself; call it with need_weights=False")


def _why_not(call: Call) -> str | None:
    """What keeps foveate from computing a call; None: nothing."""
    if torch.jit.is_tracing():  # type: ignore[attr-defined,no-untyped-call]
        return "torch.jit.trace records it, and knows operators of PyTorch alone"
    if transformed() or torch.autograd.forward_ad._current_level >= 0:
        return "inside a transform of torch.func; where that is vmap or grad, call foveate.torch.attention"
    for name in ("query", "key", "value", "attn_mask"):
        tensor = getattr(call, name)
        if tensor is not None and (reason := _why_not_tensor(name, tensor)):
            return reason
    if call.query.dtype not in _FLOATS:
        return f"query has dtype {call.query.dtype}; foveate takes float64, float32, float16 and bfloat16"
    return None


def _why_not_tensor(name: str, tensor: Tensor) -> str | None:
    if tensor.is_nested:
        return f"{name} is a nested tensor; pad it (torch.nested.to_padded_tensor) and give a mask"
    if type(tensor) not in (Tensor, torch.nn.Parameter, torch.nn.Buffer):
        return f"{name} is a {type(tensor).__name__}, which has a way of its own"
    if tensor.device.type != "cpu":
        return f"{name} is on device {tensor.device.type}; foveate computes on the CPU"
    if tensor.layout != torch.strided:
        return f"{name} has layout {tensor.layout}; use to_dense()"
    return None


def _recorded(call: Call) -> str | None:
    records = torch.is_grad_enabled() and any(tensor is not None and tensor.requires_grad for tensor in call[:4])
    return "gradients are recorded, and double_backward=True wants to differentiate them again" if records else None


@contextmanager
def replace_sdpa(*, double_backward: bool = False) -> Iterator[Replaced]:
    """Lets foveate compute torch.nn.functional.scaled_dot_product_attention on CPU tensors, within a with-block.

    It reaches calls under any name, those of nn.MultiheadAttention(need_weights=False) and nn.TransformerEncoder among
    them, whose fused fast paths are not taken meanwhile, and those in functions that torch.compile compiles. Gradients
    are foveate's too. What foveate does not compute PyTorch does, as ever: other devices, types and kinds of tensors.

    Args:
        double_backward: leave calls that record gradients to PyTorch, for gradients of gradients.

    Returns:
        In the with statement, a Replaced: what was taken, what was left and why. Also usable as a decorator.

    It counts for the thread that enters it alone, may be nested, and ends with the block, also by an exception. The
    backward pass may come later, but for torch.utils.checkpoint, which computes attention again then: keep it inside.

    >>> x = torch.randn(1, 4, 16, 8)
    >>> with replace_sdpa() as report:
    ...     o = torch.nn.functional.scaled_dot_product_attention(x, x, x)
    >>> print(report)
    foveate computed 1 of 1 attention calls.
    """
    report = Replaced()
    with _Replacement(report, double_backward):
        yield report
