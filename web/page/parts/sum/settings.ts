// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// What can be set about the weighted sum.

import { choice, number } from '../../state/field';

/// The skill whose sum is written out.
export const written = choice('skill', ['0', '1', '2', '3']);

/// The skills that are the axes of a plane.
const SKILL = { min: 0, max: 3, whole: true };
export const axes = [number('vx', 0, SKILL), number('vy', 1, SKILL)] as const;

/// Two CVs whose skills may be exchanged.
const PLACE = { min: 0, max: 7, whole: true };
export const pair = [number('swap1', 1, PLACE), number('swap2', 6, PLACE)] as const;
