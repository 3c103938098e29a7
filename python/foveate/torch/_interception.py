# Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
"""PyTorch's attention calls of this thread, seen before PyTorch computes them.

A TorchFunctionMode sees them under whatever name they were imported, belongs to one thread, nests, and leaves nothing
behind. While one is on, nn.MultiheadAttention and nn.TransformerEncoder do not take their fused fast paths, so that
their attention is a call like any other: PyTorch sees to that itself, but for code that torch.compile compiles, so the
process's switch is turned too.
"""

from __future__ import annotations

import threading
import types
from collections.abc import Callable
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.overrides import TorchFunctionMode

_SDPA = (
    F.scaled_dot_product_attention,
    torch.ops.aten.scaled_dot_product_attention,
    torch.ops.aten.scaled_dot_product_attention.default,
)

_BACKWARD = (Tensor.backward, torch.autograd.backward, torch.autograd.grad)

_NEED_WEIGHTS = 15  #: its place among the arguments of F.multi_head_attention_forward


class Call(NamedTuple):
    """The arguments of one scaled_dot_product_attention."""

    query: Tensor
    key: Tensor
    value: Tensor
    attn_mask: Tensor | None = None
    dropout_p: float = 0.0
    is_causal: bool = False
    scale: float | None = None
    enable_gqa: bool = False


class _FastPaths:
    """PyTorch's switch for them: off as long as somebody wants it off, then as it was."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._users = 0
        self._before = True

    def off(self) -> None:
        with self._lock:
            if self._users == 0:
                self._before = torch.backends.mha.get_fastpath_enabled()
                torch.backends.mha.set_fastpath_enabled(False)
            self._users += 1

    def release(self) -> None:
        with self._lock:
            self._users -= 1
            if self._users == 0:
                torch.backends.mha.set_fastpath_enabled(self._before)


_fast_paths = _FastPaths()


class Interception(TorchFunctionMode):
    """Hands each call of PyTorch's attention to `attention`, in the thread that enters it."""

    def __enter__(self) -> Any:
        _fast_paths.off()
        return super().__enter__()  # type: ignore[no-untyped-call]

    def __exit__(self, *error: Any) -> None:
        super().__exit__(*error)  # type: ignore[no-untyped-call]
        _fast_paths.release()

    def attention(self, call: Call, original: Callable[[], Tensor]) -> Tensor:
        """What becomes of a call; original() is PyTorch's own result."""
        raise NotImplementedError

    def weights_wanted(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Told of a call of F.multi_head_attention_forward that computes its weights itself."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if func in _SDPA:
            return self.attention(Call(*args, **kwargs), lambda: func(*args, **kwargs))
        if func is F.multi_head_attention_forward:
            return self._multi_head(args, kwargs)
        if func in _BACKWARD:
            return self._backward(func, args, kwargs)
        return func(*args, **kwargs)

    def _backward(self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """A backward pass, within the mode: checkpoints compute attention again in it."""

        def overridden(*_: Any) -> bool:
            return False

        with self:
            return _with_names(func, has_torch_function=overridden, has_torch_function_unary=overridden)(
                *args, **kwargs
            )

    def _multi_head(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if args[_NEED_WEIGHTS] if len(args) > _NEED_WEIGHTS else kwargs.get("need_weights", True):
            self.weights_wanted(args, kwargs)
            return F.multi_head_attention_forward(*args, **kwargs)
        return self.inside_multi_head(*args, **kwargs)

    def inside_multi_head(self, *args: Any, **kwargs: Any) -> Any:
        """PyTorch's own function, whose attention call is seen though all that a mode calls runs outside the mode."""
        sdpa = F.scaled_dot_product_attention

        def seen(*args: Any, **kwargs: Any) -> Tensor:
            return self.attention(Call(*args, **kwargs), lambda: sdpa(*args, **kwargs))

        return _with_names(F.multi_head_attention_forward, scaled_dot_product_attention=seen)(*args, **kwargs)


def _with_names(function: Any, **names: Any) -> Any:
    """The same function, with other things under some global names."""
    scope = {**function.__globals__, **names}
    copy = types.FunctionType(function.__code__, scope, function.__name__, function.__defaults__, function.__closure__)
    copy.__kwdefaults__ = function.__kwdefaults__
    return copy
