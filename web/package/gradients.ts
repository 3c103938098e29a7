// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// foveate/gradients: the backward pass of attention.

import { type Given, type Gradient, GradientEngine, type Gradients } from '../engine/gradients.js';
import type { Data, Floats, Inputs, Options } from '../engine/memory.js';
import { type Info, infoOf } from './info.js';
import { moduleOf, type Source, type Sources } from './source.js';

export type { Given, Gradient, Gradients };

/** An instance of the engine with the backward pass. */
export interface FoveateGradients {
  readonly info: Info;
  /**
   * The gradients of a loss by q, k and v, or those asked for, given what attention() gave with the same inputs and
   * options, and the loss's gradient by o. Throws as attention() does.
   *
   * @example
   * const { dq, dk, dv } = gradients.attentionBackward({ q, k, v }, { o, lse, dO }, { causal: true });
   */
  attentionBackward(
    inputs: Inputs<Float32Array>,
    given: Given<Float32Array>,
    options?: Options,
    gradients?: readonly Gradient[],
  ): Gradients<Float32Array>;
  attentionBackward(
    inputs: Inputs<Float64Array>,
    given: Given<Float64Array>,
    options?: Options,
    gradients?: readonly Gradient[],
  ): Gradients<Float64Array>;
}

/** Makes an instance, as init does, of the modules with the backward pass, which are 30 KB larger, compressed. */
export async function initGradients(source: Source | Sources = {}): Promise<FoveateGradients> {
  const strict = new URL('../../wasm/foveate-gradients-strict.wasm', import.meta.url);
  const relaxed = new URL('../../wasm/foveate-gradients-relaxed.wasm', import.meta.url);
  const engine = await GradientEngine.instantiate(await moduleOf(source, { strict, relaxed }));
  const backward = (
    inputs: Inputs<Data>,
    given: Given<Data>,
    options?: Options,
    gradients?: readonly Gradient[],
  ): Gradients<Floats> => engine.attentionBackward(inputs, given, options, gradients);
  return { info: infoOf(engine), attentionBackward: backward as FoveateGradients['attentionBackward'] };
}
