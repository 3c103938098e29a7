// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// The running example: three briefs over a pile of eight CVs, which gives Q, K and V outright, or a sentence, whose words
// are all three at once. With it the options of attention that every part shares.

import { computed } from '@preact/signals';

import { choice, type Field, matrixField, number } from './field';
import { matrix } from './matrix';
import { get } from './store';

/// Columns: Transformer, recommendation, C++, research, communication, operations.
const BRIEFS = matrix([
  [4, 2, 0.5, 1, 0.5, 0], // senior AI engineer
  [0.5, 0, 4, 1, 0, 2], // inference engineer
  [0.5, 2, 0, 0.5, 4, 1], // product lead
]);

const TITLES = matrix([
  [1, 2, 1, 0.5, 0.5, 0.5], // search engineer
  [3, 1, 0.5, 1, 0.5, 0], // Transformer engineer
  [0.5, 3, 0.5, 0.5, 0.5, 0.5], // recommendation engineer
  [0.5, 0, 3, 0.5, 0, 1], // C++ engineer
  [1.5, 0, 0, 3, 1, 0], // research scientist
  [0, 0, 1, 0, 0.5, 3], // site reliability engineer
  [-1, 1, -0.5, 0, 3, 0.5], // product manager
  [1.25, 1.25, 1.25, 1.25, 1.25, 1.25], // every keyword there is
]);

/// Columns: modelling, products, fast code, leading people; 0 to 5.
const SKILLS = matrix([
  [2, 3, 3, 1],
  [5, 2, 3, 1],
  [3, 5, 2, 2],
  [1, 2, 5, 1],
  [4, 1, 1, 2],
  [0, 3, 4, 2],
  [1, 5, 0, 5],
  [1, 1, 1, 1],
]);

/// Rows: Cats, sleep, when, they, tire. Columns: thing, action, pointer, state.
const WORDS = matrix([
  [2, 0, 0, 0.5],
  [0, 2, 0, 1],
  [0, 0.5, 0.5, 0],
  [0.5, 0, 2, 0],
  [0, 1, 0, 2],
]);
/// What a word of each kind looks for: a pointer, things; an action, a thing and its state.
const W_Q = matrix([
  [0, 1, 0, 0.5],
  [1, 0, 0, 1],
  [2, 0, 0.5, 0],
  [1, 0, 1, 0],
]);
const W_K = matrix([
  [1.5, 0, 0, 0],
  [0, 1.5, 0, 0],
  [-0.5, 0, 1, 0],
  [0, 0.5, 0, 1],
]);
const W_V = matrix([
  [1, 0, 0, 0.5],
  [0, 1, 0, 0],
  [0, 0, 0.5, 0],
  [0, 0, 0, 1],
]);

export type Example = 'cvs' | 'sentence';
export const example = choice('in', ['cvs', 'sentence']);

export const briefs = matrixField('q', BRIEFS);
export const titles = matrixField('k', TITLES);
export const skills = matrixField('v', SKILLS);
/// Whether the skills of two CVs have changed places: goes with `skills`, in every reset.
export const swapped = choice('swapped', ['no', 'yes']);
export const wordVectors = matrixField('x', WORDS);
export const wQ = matrixField('wq', W_Q);
export const wK = matrixField('wk', W_K);
export const wV = matrixField('wv', W_V);

export const heads = choice('heads', ['1', '2']);
/// What the scores are divided by: sqrt(d_k), nothing, or the divisor's factor.
export const scaling = choice('scaling', ['sqrt', 'off', 'factor']);
export const factor = number('factor', 4, { min: 0.01, max: 1000 });

/// Divides the scores once more, where a part asks for it.
export const temperature = number('temp', 1, { min: 0.1, max: 10 });

export const mask = choice('mask', ['none', 'causal', 'window', 'own']);
export const windowLeft = number('left', 1, { min: 0, max: 7, whole: true });
export const windowRight = number('right', 1, { min: 0, max: 7, whole: true });
/// 1 where a key takes part.
export const ownForCvs = matrixField('mcv', { rows: 3, cols: 8, data: new Float32Array(24).fill(1) }, 1);
export const ownForWords = matrixField('mw', { rows: 5, cols: 5, data: new Float32Array(25).fill(1) }, 1);

export const ownMask = computed(() => (get(example) === 'cvs' ? ownForCvs : ownForWords));

/// What attention is computed from, for the reset of a part that shows all of it.
export const sceneFields: readonly Field<unknown>[] = [
  briefs,
  titles,
  skills,
  swapped,
  wordVectors,
  wQ,
  wK,
  wV,
  heads,
  scaling,
  factor,
  mask,
  windowLeft,
  windowRight,
  ownForCvs,
  ownForWords,
];
