// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// The parts of the page, in the order of the story. A part is one component under one address; a new one is a line here, a
// file of words a language, and a folder.

import type { ComponentType } from 'preact';

import { DotPart } from './dot/dot_part';
import { FlowPart } from './flow/flow_part';
import { MatricesPart } from './matrices/matrices_part';
import { ScalingPart } from './scaling/scaling_part';
import { SumPart } from './sum/sum_part';
import { WeightsPart } from './weights/weights_part';

export type Mode = 'steps' | 'flow' | 'matrices';

export interface Part {
  readonly id: 'dot' | 'scaling' | 'weights' | 'sum' | 'flow' | 'matrices'; // its address, and its words
  readonly mode: Mode;
  readonly component: ComponentType;
}

export const parts: readonly Part[] = [
  { id: 'dot', mode: 'steps', component: DotPart },
  { id: 'scaling', mode: 'steps', component: ScalingPart },
  { id: 'weights', mode: 'steps', component: WeightsPart },
  { id: 'sum', mode: 'steps', component: SumPart },
  { id: 'flow', mode: 'flow', component: FlowPart },
  { id: 'matrices', mode: 'matrices', component: MatricesPart },
];

export const modes: readonly Mode[] = ['steps', 'flow', 'matrices'];
