// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// What may be said of a run, by a rule that stands before it: steps until a window of them has ENOUGH right answers, and
// TIMES as many are slower.

import type { Course } from '../../../engine/gradients';
import { WINDOW } from './settings';

export const ENOUGH = 0.9;
export const TIMES = 1.25;

/// Of the model that does not scale, beside the one that does.
export type Verdict = 'alike' | 'slower' | 'faster' | 'never' | 'alone' | 'neither';

/// After how many steps it knows enough; undefined: not yet.
export function stepsTo({ right }: Course): number | undefined {
  const at = right.findIndex((share) => share >= ENOUGH);
  return at < 0 ? undefined : (at + 1) * WINDOW;
}

export function verdict(unscaled: number | undefined, scaled: number | undefined): Verdict {
  if (unscaled === undefined) return scaled === undefined ? 'neither' : 'never';
  if (scaled === undefined) return 'alone';
  if (unscaled >= TIMES * scaled) return 'slower';
  return scaled >= TIMES * unscaled ? 'faster' : 'alike';
}

export const SMALL = 4; // d_k up to which no difference is expected
export const LARGE = 64; // and from which on one is

/// Whether it came as expected; undefined: nothing was.
export function asExpected(d: number, came: Verdict): boolean | undefined {
  if (d <= SMALL) return came === 'alike';
  if (d >= LARGE) return came === 'slower' || came === 'never';
  return undefined;
}
