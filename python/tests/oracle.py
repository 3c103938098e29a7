# Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
"""Attention and its gradients in float64 by plain einsum, all options, the n_q x n_kv matrix in full: what the engine
is compared with. Written from the contract alone; shares nothing with the engine. Arrays are [b, h, n, d]."""

from dataclasses import dataclass

import numpy as np


def philox(seed, counter):
    """Philox4x32-10 of counters [..., 4], uint32: Salmon, Moraes, Dror and Shaw, SC 2011."""
    x = counter.astype(np.uint64)
    low = np.uint64(0xFFFFFFFF)
    keys = np.array([seed & 0xFFFFFFFF, seed >> 32], np.uint64)
    for _ in range(10):
        a, b = x[..., 0] * np.uint64(0xD2511F53), x[..., 2] * np.uint64(0xCD9E8D57)
        x = np.stack(
            [(b >> np.uint64(32)) ^ x[..., 1] ^ keys[0], b & low, (a >> np.uint64(32)) ^ x[..., 3] ^ keys[1], a & low],
            axis=-1,
        )
        keys = (keys + np.array([0x9E3779B9, 0xBB67AE85], np.uint64)) & low
    return x


def keeps(shape, p, seed, positions, kv_offset):
    """keep_ij of dropout, [b, h, n_q, n_kv]; positions [b, n_q]."""
    b, h, _, n_kv = shape
    j = kv_offset + np.arange(n_kv)
    counter = np.zeros((*shape, 4), np.int64)
    counter[..., 0] = j // 4
    counter[..., 1] = positions[:, None, :, None]
    counter[..., 2] = np.arange(h)[None, :, None, None]
    counter[..., 3] = np.arange(b)[:, None, None, None]
    words = philox(seed, counter & 0xFFFFFFFF)
    word = np.take_along_axis(words, np.broadcast_to(j % 4, shape)[..., None], axis=-1)[..., 0]
    return word >= p * 2.0**32


@dataclass
class Result:
    o: np.ndarray
    lse: np.ndarray
    weights: np.ndarray
    o_error: np.ndarray  #: bounds of the errors of o and lse in a computing type of half step u
    lse_error: np.ndarray
    grads: dict


def attention(
    q, k, v, *, scale=None, causal=False, align="bottom-right", window=None, softcap=0.0, alibi=None, sinks=None,
    mask=None, bias=None, q_lengths=None, kv_lengths=None, q_offset=None, kv_offset=None, dropout=0.0, seed=0,
    blocks=None, block_size=0, d_o=None, u=2.0**-24,
):  # fmt: skip
    q, k, v = (np.asarray(x).astype(np.float64) for x in (q, k, v))
    b, h, n_q, d_k = q.shape
    n_kv, group = k.shape[2], h // k.shape[1] if k.shape[1] else 1
    k, v = np.repeat(k, group, axis=1), np.repeat(v, group, axis=1)
    scale = d_k**-0.5 if scale is None else scale
    q_len = np.full(b, n_q) if q_lengths is None else np.asarray(q_lengths)
    kv_len = np.full(b, n_kv) if kv_lengths is None else np.asarray(kv_lengths)
    first = np.full(b, q_offset) if q_offset is not None else kv_len - q_len if align == "bottom-right" else 0 * kv_len
    p = first[:, None] + np.arange(n_q)
    j = (kv_offset or 0) + np.arange(n_kv)
    distance = p[:, None, :, None] - j

    with np.errstate(invalid="ignore", over="ignore"):
        products = scale * np.einsum("bhid,bhjd->bhij", q, k)
        size = abs(scale) * np.einsum("bhid,bhjd->bhij", abs(q), abs(k))
        s, error = products, (d_k + 4) * u * size
        slope = np.ones_like(s)
        if softcap:
            tanh = np.tanh(s / softcap)
            s, slope = softcap * tanh, 1 - tanh**2
            error = error + 16 * u * abs(s)
        if bias is not None:
            s = s + np.asarray(bias, np.float64)
            error = error + 2 * u * (abs(s) + abs(np.nan_to_num(np.broadcast_to(bias, s.shape), neginf=0)))
        if alibi is not None:
            step = np.asarray(alibi, np.float64)[:, None, None] * abs(distance)
            s = s - step
            error = error + 4 * u * (abs(s) + abs(step))

        on = np.broadcast_to(np.arange(n_kv) < kv_len[:, None, None, None], s.shape).copy()
        if mask is not None:
            on &= mask
        if causal:
            on &= distance >= 0
        if window is not None:
            on &= (window[0] < 0) | (distance <= window[0])
            on &= (window[1] < 0) | (distance >= -window[1])
        if blocks is not None:
            rows, columns = np.arange(n_q) // block_size, np.arange(n_kv) // block_size
            on &= np.broadcast_to(blocks, (b, h, *blocks.shape[-2:]))[:, :, rows][..., columns]
        on &= s != -np.inf
        on &= (np.arange(n_q) < q_len[:, None])[:, None, :, None]

        s = np.where(on, s, -np.inf)
        top = s.max(axis=-1, keepdims=True, initial=-np.inf)
        sink = None if sinks is None else np.asarray(sinks, np.float64)[None, :, None, None]
        if sink is not None:
            top = np.maximum(top, sink)
        top = np.where(np.isfinite(top), top, 0)
        e = np.exp(s - top)
        z = e.sum(axis=-1, keepdims=True) + (0 if sink is None else np.exp(sink - top))
        past = (np.arange(n_q) >= q_len[:, None])[:, None, :, None]
        z = np.where(past, 0, z)
        a = np.where(on, e / np.where(z > 0, z, 1), 0)
        lse = np.where(z > 0, top + np.log(np.where(z > 0, z, 1)), -np.inf)
        kept = 1.0
        if dropout:
            kept = keeps(s.shape, dropout, seed, p, kv_offset or 0) / (1 - dropout)
        v_seen = np.where(on.any(axis=2)[..., None], v, 0)
        o = np.einsum("bhij,bhjd->bhid", a * kept, v_seen)

        largest = np.where(on, error, 0).max(axis=-1, keepdims=True, initial=0)
        magnitude = np.einsum("bhij,bhjd->bhid", a * kept, abs(v_seen))
        finite = np.where(np.isfinite(lse), abs(lse), 0)
        o_error = magnitude * (2 * largest + (n_kv + 40) * u)
        lse_error = largest + (n_kv + 40) * u * (1 + finite) + 2 * u * finite

    grads = {}
    if d_o is not None:
        g = np.where(past, 0, np.asarray(d_o).astype(np.float64))
        da = kept * np.einsum("bhid,bhjd->bhij", g, v_seen)
        delta = (g * o).sum(-1, keepdims=True)
        ds = np.where(on, a * (da - delta), 0)
        q_seen, k_seen = np.where(on.any(axis=3)[..., None], q, 0), np.where(on.any(axis=2)[..., None], k, 0)

        def by_key_head(x):
            return x.reshape(b, h // group, group, *x.shape[2:]).sum(axis=2)

        grads["dq"] = scale * np.einsum("bhij,bhjd->bhid", ds * slope, k_seen)
        grads["dk"] = by_key_head(scale * np.einsum("bhij,bhid->bhjd", ds * slope, q_seen))
        grads["dv"] = by_key_head(np.einsum("bhij,bhid->bhjd", a * kept, g))
        if bias is not None:
            over = tuple(axis for axis in range(4) if np.shape(bias)[axis] != ds.shape[axis])
            grads["dbias"] = ds.sum(axis=over, keepdims=True)
        if sink is not None:
            share = np.where(np.isfinite(lse), np.exp(sink - np.where(np.isfinite(lse), lse, 0)), 0)
            grads["dsinks"] = -(share * delta).sum(axis=(0, 2, 3))
    return Result(o, lse[..., 0], a, o_error, lse_error[..., 0], grads)
