// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// The parts of the page, in the order of the story. A part is one component under one address, loaded when it is first
// looked at; a new one is a line here, a folder, and a chapter of words a language.

import type { ComponentType } from 'preact';

import type { PartId } from '../words';

export type Mode = 'steps' | 'flow' | 'matrices';

export interface Part {
  readonly id: PartId; // its address, and its words
  readonly mode: Mode;
  load(): Promise<ComponentType>;
}

export const parts: readonly Part[] = [
  { id: 'dot', mode: 'steps', load: async () => (await import('./dot/dot_part')).DotPart },
  { id: 'scaling', mode: 'steps', load: async () => (await import('./scaling/scaling_part')).ScalingPart },
  { id: 'weights', mode: 'steps', load: async () => (await import('./weights/weights_part')).WeightsPart },
  { id: 'sum', mode: 'steps', load: async () => (await import('./sum/sum_part')).SumPart },
  { id: 'training', mode: 'steps', load: async () => (await import('./training/training_part')).TrainingPart },
  { id: 'flow', mode: 'flow', load: async () => (await import('./flow/flow_part')).FlowPart },
  { id: 'matrices', mode: 'matrices', load: async () => (await import('./matrices/matrices_part')).MatricesPart },
];

export const modes: readonly Mode[] = ['steps', 'flow', 'matrices'];

export function partAt(id: string): Part {
  return (parts.find((part) => part.id === id) ?? parts[0]) as Part;
}
