// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// What the npm package offers: attention, by the engine in WebAssembly. Its gradients stand apart (gradients.ts), so that
// bundlers bring their modules along only where they are used.

import type { AskedOf, Axes, Data, Floats, Inputs, Kind, Lengths, Options, Tensor } from '../engine/arguments.js';
import { EngineError } from '../engine/arguments.js';
import { Engine, type Output, type Outputs, type Result } from '../engine/engine.js';
import { checkAsked, checkCall, checkPacked, refusal } from './check.js';
import { type Info, infoOf } from './info.js';
import { moduleOf, type Source, type Sources } from './source.js';

export type { AskedOf, Axes, Data, Floats, Info, Inputs, Kind, Lengths, Options, Output, Outputs, Result };
export type { Source, Sources, Tensor };
export { EngineError };

/** An instance of the engine. It computes on the thread that made it, one call at a time. */
export interface Foveate {
  readonly info: Info;
  /**
   * softmax(scale q k^T + ...) v, and what else is asked for. Throws EngineError, whose message is one line that names
   * the argument, for any call that is wrong; nothing is computed then. The arrays are copied in and out.
   *
   * @example
   * const { o, lse } = foveate.attention({ q, k, v }, { causal: true }, ['o', 'lse']);
   */
  attention<T extends Floats, const Asked extends readonly Output[] = readonly ['o']>(
    inputs: Inputs<T>,
    options?: Options,
    outputs?: Asked,
  ): Result<Kind<T>, Asked>;
}

/**
 * A view of an array of two axes [n, d], three [h, n, d] or four [b, h, n, d]; with layout "bnhd" [n, d], [n, h, d] or
 * [b, n, h, d]. Nothing is copied.
 */
export function tensor<T extends Data>(
  data: T,
  shape: readonly number[],
  layout: 'bhnd' | 'bnhd' = 'bhnd',
): Tensor<T> & { stride: Axes } {
  checkPacked(data, shape);
  const swapped = layout === 'bnhd';
  if (!swapped && layout !== 'bhnd') throw refusal('layout', layout, "'bhnd', left out, or 'bnhd'");
  const { length } = shape;
  const missing: number[] = Array.from({ length: 4 - length }, () => 1);
  // As they lie: [b, h, n, d], or [b, n, h, d]. Of [n, d] it is h that is missing, which stands third there.
  const lying = swapped && length === 2 ? [1, shape[0], 1, shape[1]] : [...missing, ...shape];
  const [b, x, y, d] = lying as [number, number, number, number];
  const at: Axes = [x * y * d, y * d, d, 1];
  const view = swapped
    ? { shape: [b, y, x, d] as const, stride: [at[0], at[2], at[1], at[3]] as const }
    : { shape: [b, x, y, d] as const, stride: at };
  return { data, ...view };
}

/**
 * Makes an instance. The module is taken from beside this package, in Node as in a browser whose bundler knows
 * `new URL(..., import.meta.url)`; or it is given: where it lies, its bytes, the compiled module to share among workers.
 * Of the two modules the relaxed one is taken where it validates, and the strict one elsewhere.
 */
export async function init(source: Source | Sources = {}): Promise<Foveate> {
  const strict = new URL('../../wasm/foveate-strict.wasm', import.meta.url);
  const relaxed = new URL('../../wasm/foveate-relaxed.wasm', import.meta.url);
  const engine = await Engine.instantiate(await moduleOf(source, { strict, relaxed }));
  return {
    info: infoOf(engine),
    attention(inputs, options = {}, outputs) {
      checkCall(inputs, options);
      if (outputs !== undefined) checkAsked('outputs', outputs, ['o', 'lse', 'weights']);
      return engine.attention(inputs, options, outputs);
    },
  };
}
