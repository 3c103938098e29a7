# Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
"""What is computed: one attention call as data, and its operations and bytes."""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import json
import math

# Bytes of an element.
SIZES = {"f32": 4, "f16": 2, "bf16": 2, "i8": 1}


@dataclasses.dataclass(frozen=True)
class Work:
    """One call. q is [b, h_q, n_q, d_k], k and v are [b, h_kv, n_kv, d_k and d_v].

    Attributes:
        dtype: of q and o, and of k and v unless stored says otherwise: "f32", "f16" or "bf16".
        stored: of k and v; "i8" has a float32 scale a row, 2^-6 times a small integer.
        window: a query sees itself and so many keys before it; None: no bound.
        kept_blocks: which share of 64 x 64 blocks takes part; 1: all.
        backward: the gradients of q, k and v as well.
        additive: scores are w . tanh(W_q q + W_k k + b), with d_k features.
        bound: its limit: "compute", "memory" (keys and values are read once), or "call" (what a call costs).
    """

    name: str
    b: int = 1
    h_q: int = 8
    h_kv: int = 8
    n_q: int = 1
    n_kv: int = 1
    d_k: int = 64
    d_v: int = 64
    dtype: str = "f32"
    stored: str = ""
    causal: bool = False
    window: int | None = None
    kept_blocks: float = 1.0
    backward: bool = False
    additive: bool = False
    bound: str = "compute"

    BLOCK = 64

    @property
    def kv_dtype(self) -> str:
        return self.stored or self.dtype

    @functools.cached_property
    def pairs(self) -> float:
        """Pairs of a query and a key of one head that are counted: half of all for causal, those in the window."""
        if self.window is not None:
            offset = self.n_kv - self.n_q
            return float(sum(min(i + offset + 1, self.window + 1) for i in range(self.n_q)))
        return self.n_q * self.n_kv * (0.5 if self.causal else 1.0) * self.kept_blocks

    @property
    def flops(self) -> float:
        """2 (d_k + d_v) a pair, 3.5 times as many with the gradients; additive: tanh evaluated, d_k a pair."""
        if self.additive:
            return self.b * self.h_q * self.pairs * self.d_k
        return 2 * (self.d_k + self.d_v) * self.b * self.h_q * self.pairs * (3.5 if self.backward else 1.0)

    @property
    def bytes(self) -> float:
        """Of keys and values, with their scales, once: what decoding has to read."""
        row = (self.d_k + self.d_v) * SIZES[self.kv_dtype] + (8 if self.kv_dtype == "i8" else 0)
        return float(self.b * self.h_kv * self.n_kv * row)

    @property
    def o_bytes(self) -> int:
        return self.b * self.h_q * self.n_q * self.d_v * SIZES[self.dtype]

    @property
    def output_bytes(self) -> int:
        """Of o, and of the gradients where these are asked for."""
        if not self.backward:
            return self.o_bytes
        components = self.h_q * self.n_q * self.d_k + self.h_kv * self.n_kv * (self.d_k + self.d_v)
        return self.o_bytes + self.b * components * SIZES[self.dtype]

    @property
    def unit(self) -> str:
        if self.additive:
            return "Gtanh/s"
        return {"compute": "GFLOP/s", "memory": "GB/s", "call": "us"}[self.bound]

    @property
    def peak(self) -> str:
        """Which of the machine's peaks is its own: f16 is computed in float32."""
        return {"f32": "f32", "f16": "f32", "bf16": "bf16", "i8": "i8"}[self.kv_dtype]

    def limit(self, peaks: dict[str, float]) -> float | None:
        """The least seconds this takes on a machine of these peaks, FLOP/s by type and bytes/s read; None: not known.

        Reading and computing go on at once, at best; 85 % of the peak is what a kernel reaches while it streams.
        """
        peak, read = peaks.get(self.peak), peaks.get("read")
        if self.additive or self.bound == "call" or not peak:
            return None
        if self.bound == "memory":
            return max(self.bytes / read, self.flops / (0.85 * peak)) if read else None
        return self.flops / peak

    def as_rows(self) -> Work | None:
        """The same with the query heads of a group as rows of one head, as q and o lie in memory already; None where
        there are no groups, or rows see different keys."""
        masked = self.causal or self.window is not None or self.kept_blocks < 1
        if self.h_q == self.h_kv or masked or self.backward:
            return None
        return dataclasses.replace(self, h_q=self.h_kv, n_q=self.h_q // self.h_kv * self.n_q)

    def json(self) -> dict[str, object]:
        return dataclasses.asdict(self) | {"kv_dtype": self.kv_dtype}

    def key(self) -> str:
        """Names the arrays of this work, so that a changed work has other ones."""
        return self.name + "-" + hashlib.sha256(json.dumps(self.json(), sort_keys=True).encode()).hexdigest()[:8]

    @property
    def scale(self) -> float:
        return 1.0 if self.additive else 1 / math.sqrt(self.d_k)
