# Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
#
# The native module: arrays are NumPy's, on the engine's axes.
from typing import Any

from foveate._arrays import View

version: str

def attention(
    q: View,
    k: View,
    v: View,
    o: View | None,
    lse: View | None,
    weights: View | None,
    options: dict[str, Any],
    threads: int,
) -> None: ...
def attention_backward(
    q: View,
    k: View,
    v: View,
    o: View,
    lse: View,
    d_o: View,
    dq: View | None,
    dk: View | None,
    dv: View | None,
    dbias: View | None,
    dsinks: View | None,
    options: dict[str, Any],
    threads: int,
) -> None: ...
def additive_attention(
    q: View,
    k: View,
    v: View,
    w_q: View | None,
    w_k: View | None,
    w: View | None,
    b: View | None,
    o: View | None,
    lse: View | None,
    weights: View | None,
    options: dict[str, Any],
    threads: int,
) -> None: ...
def additive_attention_backward(
    q: View,
    k: View,
    v: View,
    w_q: View | None,
    w_k: View | None,
    w: View | None,
    b: View | None,
    o: View,
    lse: View,
    d_o: View,
    dq: View | None,
    dk: View | None,
    dv: View | None,
    dbias: View | None,
    dsinks: View | None,
    dw_q: View | None,
    dw_k: View | None,
    dw: View | None,
    db: View | None,
    options: dict[str, Any],
    threads: int,
) -> None: ...
def linear_attention(q: View, k: View, v: View, o: View, options: dict[str, Any], threads: int) -> None: ...
def linear_attention_backward(
    q: View,
    k: View,
    v: View,
    d_o: View,
    dq: View | None,
    dk: View | None,
    dv: View | None,
    options: dict[str, Any],
    threads: int,
) -> None: ...
def merge(o_a: View, lse_a: View, o_b: View, lse_b: View, o: View | None, lse: View | None, threads: int) -> None: ...
def dropout_mask(keep: View, options: dict[str, Any], threads: int) -> None: ...
def make_blocks(
    blocks: View,
    n_q: int,
    n_kv: int,
    block_size: int,
    window_left: int,
    window_right: int,
    global_tokens: int,
    random_blocks: int,
    seed: int,
    causal: bool,
) -> None: ...
def inspect(
    q: View, k: View, v: View | None, options: dict[str, Any], top_keys: int, map_cells: int, threads: int
) -> Report: ...
def diagnose(
    q: View,
    k: View,
    v: View,
    out: View,
    lse: View | None,
    options: dict[str, Any],
    axes: int,
    bnhd: bool,
    threads: int,
) -> dict[str, Any]: ...
def from_dlpack(array: Any, name: str) -> tuple[View, bool]: ...
def targets() -> list[str]: ...
def active_target() -> str: ...
def pin_target(name: str | None) -> None: ...
def cores() -> int: ...

class Report:
    @property
    def scale(self) -> float: ...
    def batch(self) -> int: ...
    def heads(self) -> dict[str, View]: ...
    def rows(self) -> dict[str, View]: ...
    def received(self) -> View: ...
    def top(self) -> tuple[View, View]: ...
    def maps(self) -> tuple[int, int, View, View]: ...
    def findings(self) -> list[dict[str, Any]]: ...
    def not_finite(self) -> list[dict[str, Any]]: ...
    def similar(self) -> list[tuple[int, int, int, float]]: ...

class KvCache:
    def __init__(
        self,
        h_kv: int,
        d_k: int,
        d_v: int,
        k_dtype: str,
        v_dtype: str,
        page_size: int,
        max_pages: int,
        k_scales: View | None,
    ) -> None: ...
    def add(self) -> int: ...
    def fork(self, sequence: int) -> int: ...
    def append(self, sequence: int, k: View, v: View) -> None: ...
    def truncate(self, sequence: int, length: int) -> None: ...
    def remove(self, sequence: int) -> None: ...
    def length(self, sequence: int) -> int: ...
    def usage(self) -> dict[str, int]: ...
    def attend(
        self,
        q: View,
        sequences: list[int],
        o: View | None,
        lse: View | None,
        weights: View | None,
        options: dict[str, Any],
        threads: int,
    ) -> None: ...
