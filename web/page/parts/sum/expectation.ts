// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// The weighted sum for the first brief: z = sum_j a_j v_j, at the shared scaling and temperature.

import type { Inputs } from '../../../engine/engine';
import { firstBriefInputs, scaleNumber, scaleOption, tensorOf } from '../../state/flow';
import { live } from '../../state/live';
import { column, type Matrix } from '../../state/matrix';
import * as scene from '../../state/scene';
import { temperature } from '../../state/scene';
import { get } from '../../state/store';
import { attentionByHead, call } from '../../worker/pool';

/// Weights and output.
export interface Mean {
  readonly weights: Float32Array;
  readonly z: Float32Array;
}

/// What scores are multiplied by, at a temperature; undefined where that is the engine's own rule.
function scaleAt(t: number): number | undefined {
  const scale = scaleOption.value;
  return t === 1 ? scale : scaleNumber(scale, get(scene.briefs).cols) / t;
}

async function meanOf(given: Inputs<Float32Array>, scale: number | undefined): Promise<Mean> {
  const [result] = await attentionByHead(given, scale === undefined ? {} : { scale }, ['o', 'weights']);
  return { weights: result?.weights ?? new Float32Array(), z: result?.o ?? new Float32Array() };
}

export interface Expectation extends Mean {
  readonly values: Matrix;
  readonly terms: readonly Float32Array[]; // a_j v_j, one array a skill
}

export const expectation = live(async (): Promise<Expectation> => {
  const values = get(scene.skills);
  const mean = await meanOf(firstBriefInputs(), scaleAt(get(temperature)));
  const terms = await Promise.all(
    Array.from({ length: values.cols }, (_, s) => call('terms', mean.weights, column(values, s))),
  );
  return { ...mean, values, terms };
});

const STEPS = 40;

/// The output at temperatures from 0.1 to 10, evenly in their logarithm.
export const path = live((): Promise<Mean[]> => {
  const given = firstBriefInputs();
  const temperatures = Array.from({ length: STEPS + 1 }, (_, i) => 10 ** ((2 * i) / STEPS - 1));
  return Promise.all(temperatures.map((t) => meanOf(given, scaleAt(t))));
});

/// The same weights' row over other values.
export function meanOver(values: Matrix): Promise<Mean> {
  return meanOf({ ...firstBriefInputs(), v: tensorOf(values, 1) }, scaleAt(get(temperature)));
}
