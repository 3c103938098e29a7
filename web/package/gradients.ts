// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// foveate/gradients: the backward pass of attention.

import type { AskedOf, Floats, Inputs, Kind, Options } from '../engine/arguments.js';
import { type AllGradients, type Given, type Gradient, GradientEngine, type Gradients } from '../engine/gradients.js';
import { checkAsked, checkCall, checkKind, checkNames, checkTensor } from './check.js';
import { type Info, infoOf } from './info.js';
import { moduleOf, type Source, type Sources } from './source.js';

export type { AllGradients, AskedOf, Given, Gradient, Gradients };

function checkGiven(given: Given, inputs: Inputs): void {
  checkNames('given', given, ['o', 'lse', 'dO'], '{ o, lse, dO }; options come behind it');
  const [rows, columns] = [inputs.q.shape[2], inputs.v.shape[3]];
  for (const name of ['o', 'lse', 'dO'] as const) {
    checkTensor(name, given[name], `[${rows}, ${name === 'lse' ? 1 : columns}]`);
    checkKind(name, given[name], inputs.q);
  }
}

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
  attentionBackward<T extends Floats, const Asked extends readonly Gradient[] = readonly ['dq', 'dk', 'dv']>(
    inputs: Inputs<T>,
    given: Given<T>,
    options?: Options,
    gradients?: Asked,
  ): Gradients<Kind<T>, Asked>;
}

/** Makes an instance, as init does, of the modules with the backward pass, which are 30 KB larger, compressed. */
export async function initGradients(source: Source | Sources = {}): Promise<FoveateGradients> {
  const strict = new URL('../../wasm/foveate-gradients-strict.wasm', import.meta.url);
  const relaxed = new URL('../../wasm/foveate-gradients-relaxed.wasm', import.meta.url);
  const engine = await GradientEngine.instantiate(await moduleOf(source, { strict, relaxed }));
  return {
    info: infoOf(engine),
    attentionBackward(inputs, given, options = {}, gradients) {
      checkCall(inputs, options);
      checkGiven(given, inputs);
      if (gradients !== undefined) checkAsked('gradients', gradients, ['dq', 'dk', 'dv', 'dbias', 'dsinks']);
      return engine.attentionBackward(inputs, given, options, gradients);
    },
  };
}
