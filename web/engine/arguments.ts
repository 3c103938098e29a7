// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// The arguments of a call, and the error that names one.

/** An array that the engine reads as it lies. Uint8Array is a boolean one: 0 is false. */
export type Data = Float32Array | Float64Array | Int32Array | BigInt64Array | Uint8Array;
export type Floats = Float32Array | Float64Array;
/** Whole numbers. */
export type Lengths = Int32Array | BigInt64Array | readonly number[];
export type Axes = readonly [number, number, number, number];

/** A view of an array, [batch, head, sequence, head dim]. Strides count elements; left out, the array is packed. */
export interface Tensor<T extends Data = Data> {
  data: T;
  shape: Axes;
  stride?: Axes;
}

/** foveate::AttentionOptions. p_i is the position of query i among the keys. */
export interface Options {
  /** Multiplies scores; default 1 / sqrt(d_k). */
  scale?: number;
  /** Scores pass through softcap * tanh(score / softcap); default 0: off. */
  softcap?: number;
  /** Keys up to p_i alone take part. */
  causal?: boolean;
  /** p_i = i + n_kv - n_q, the default, or p_i = i. */
  align?: 'bottom-right' | 'top-left';
  /** Keys from p_i - L to p_i + R alone, both inclusive; -1: no bound on that side. */
  window?: readonly [number, number];
  /** 1 where a key takes part; broadcast to [b, h_q, n_q, n_kv] by extents of 1. */
  mask?: Tensor<Uint8Array>;
  /** Added to the scores; broadcast likewise. */
  bias?: Tensor<Floats>;
  /** ALiBi, [h_q]: score - slope * |p_i - j|. */
  alibiSlopes?: Floats | readonly number[];
  /** [h_q]: one more score a head, which takes weight and adds no value. */
  sinks?: Floats | readonly number[];
  /** [b]: how many queries of each sequence are there. */
  qLengths?: Lengths;
  /** [b]: how many keys of each sequence are there. */
  kvLengths?: Lengths;
  /** p_i = qOffset + i, instead of what align says. */
  qOffset?: number;
  /** Keys' positions are kvOffset + j. */
  kvOffset?: number;
  /** Leaves out weights with this probability, and divides the others by 1 - dropout. */
  dropout?: number;
  /** Which weights dropout leaves out: below 2^64, a bigint past 2^53; default 0. */
  seed?: number | bigint;
}

export interface Inputs<T extends Data = Floats> {
  q: Tensor<T>;
  k: Tensor<T>;
  v: Tensor<T>;
}

/** The typed arrays that results have: those of q. */
export type Kind<T extends Data> = T extends Float64Array ? Float64Array : Float32Array;

/** Of all results those asked for; where the types do not tell which these are, each may be missing. */
export type AskedOf<All, Asked extends readonly (keyof All)[]> = number extends Asked['length']
  ? Partial<Pick<All, Asked[number]>>
  : Pick<All, Asked[number]>;

/** A call that is refused; the message is one line that names the argument. */
export class EngineError extends Error {
  override readonly name = 'EngineError';
}

export function packed([, h, n, d]: Axes): Axes {
  return [h * n * d, n * d, d, 1];
}

export function elements(shape: Axes): number {
  return shape[0] * shape[1] * shape[2] * shape[3];
}
