// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// What scores are divided by before softmax: the scaling, and the temperature; and the beginning of a sentence about it.

import type { JSX } from 'preact';

import { firstBrief } from '../state/flow';
import * as scene from '../state/scene';
import { temperature } from '../state/scene';
import { get } from '../state/store';
import { words } from '../words';
import { Slider } from './control';
import { digits } from './format';
import { ScalingControl } from './scene_controls';

const SNAPS = [{ at: 0.1 }, { at: 0.5 }, { at: 1 }, { at: 2 }, { at: 10 }];

export function WeightingControls(): JSX.Element {
  const label = words().scene.temperature;
  return (
    <>
      <ScalingControl />
      <Slider field={temperature} label={label} min={0.1} max={10} logarithmic snaps={SNAPS} />
    </>
  );
}

export const weightingFields = [scene.scaling, scene.factor, temperature];

export function conditions(): string {
  const t = get(temperature);
  const kind = get(scene.scaling);
  const divisor = kind === 'sqrt' ? `√${firstBrief.value.length}` : kind === 'off' ? '' : digits(get(scene.factor), 4);
  return words().scene.divided(divisor, t === 1 ? '' : digits(t, 4));
}
