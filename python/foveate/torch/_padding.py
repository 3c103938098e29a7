# Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
"""Which tokens of a running model are padding, as far as that can be known."""

from __future__ import annotations

import inspect
from typing import Any

import torch
from torch import Tensor, nn

_REAL = ("attention_mask",)  #: 1 or True: a token
_PADDED = ("key_padding_mask", "src_key_padding_mask")  #: True, or -inf: padding


class Padding:
    """Knows padding, [b, n] bool, True = padding: as given, by the model's arguments, or by its token ids."""

    def __init__(self, model: nn.Module, given: Tensor | None) -> None:
        if given is not None and (given.ndim != 2 or given.dtype != torch.bool):
            got = f"{given.dtype} of shape {list(given.shape)}"
            raise ValueError(f"padding: {got}, expected bool [b, n], True = padding")
        self._given = given
        self._claimed: dict[torch.Size, Tensor] = {}
        self._by_ids: dict[torch.Size, Tensor] = {}
        self._last: Tensor | None = None
        self._parameters = list(inspect.signature(model.forward).parameters)
        self._handles = [model.register_forward_pre_hook(self._read_arguments, with_kwargs=True)]
        # Ids that end a sequence and ids that fill it cannot be told apart where they are the same.
        config = getattr(model, "config", None)
        pad = getattr(config, "pad_token_id", None)
        eos = getattr(config, "eos_token_id", None)
        if pad is None or pad not in (eos if isinstance(eos, (list, tuple)) else [eos]):
            for module in model.modules():
                if isinstance(module, nn.Embedding) and module.padding_idx is not None:
                    self._handles.append(module.register_forward_pre_hook(self._read_ids, with_kwargs=True))

    def remove(self) -> None:
        for handle in self._handles:
            handle.remove()

    def of(self, b: int, n: int) -> Tensor | None:
        """For sequences of that number and length, which may have grown by tokens generated since."""
        shape = torch.Size((b, n))
        for known in (self._given, self._claimed.get(shape), self._by_ids.get(shape)):
            if known is not None and known.shape == shape:
                return known
        longest = self._given if self._given is not None else self._last
        if longest is None or longest.shape[0] != b or longest.shape[1] >= n:
            return None
        return torch.cat([longest, longest.new_zeros(b, n - longest.shape[1])], 1)

    def only_claimed(self, b: int, n: int) -> bool:
        """Whether it is known by a mask among the model's arguments alone, which may itself be the wrong way round."""
        shape = torch.Size((b, n))
        claimed, by_ids = self._claimed.get(shape), self._by_ids.get(shape)
        return self._given is None and claimed is not None and (by_ids is None or not torch.equal(claimed, by_ids))

    def _read_arguments(self, module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self._claimed.clear()
        arguments = {**dict(zip(self._parameters, args, strict=False)), **kwargs}
        for name in (*_REAL, *_PADDED):
            mask = arguments.get(name)
            if isinstance(mask, Tensor) and mask.ndim == 2:
                mask = mask.detach().cpu()
                self._claim(mask == 0 if name in _REAL else _left_out(mask))

    def _claim(self, padding: Tensor) -> None:
        self._claimed[padding.shape] = self._last = padding

    def _read_ids(self, module: nn.Embedding, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        ids = args[0] if args else kwargs.get("input")
        fill = module.padding_idx
        if fill is None or not isinstance(ids, Tensor) or ids.ndim != 2 or ids.shape[1] < 2:
            return
        pad = torch.eq(ids, fill).detach().cpu().to(torch.uint8)
        ends = (pad.cumprod(1) + pad.flip(1).cumprod(1).flip(1)) > 0
        self._by_ids[ends.shape] = ends
        claimed = self._claimed.get(ends.shape)
        if claimed is not None and ends.any() and torch.equal(claimed, ~ends):
            del self._claimed[ends.shape]  # what was claimed is the opposite of what the ids say
        elif claimed is not None:
            return
        self._last = ends


def _left_out(mask: Tensor) -> Tensor:
    return mask if mask.dtype == torch.bool else mask == -torch.inf
