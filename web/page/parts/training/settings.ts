// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// What a visitor sets of training, and what the engine is asked for.

import { choice, number } from '../../state/field';

export const dK = number('traindk', 64, { min: 1, max: 256, whole: true });
export const rate = choice('trainrate', ['0.001', '0.003', '0.01']);
export const seed = number('trainseed', 1, { min: 1, max: 4294967295, whole: true });

export const STEPS = 800;
export const WINDOW = 20; // steps a point of a curve
export const CHECKED = 12; // entries of each parameter, beside finite differences

/// The two models, in the engine's order: by what their scores are divided.
export const MODELS = ['one', 'root'] as const;
export type Model = (typeof MODELS)[number];
