// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// What a visitor can set in this part.

import { choice, matrixField, number } from '../../state/field';
import { matrix } from '../../state/matrix';

/// How far an arrow reaches along an axis.
export const REACH = 5;

/// Rows q and k: at first brief 1 and CV 1 of the scene in their first two features.
export const arrows = matrixField(
  'arrows',
  matrix([
    [4, 2],
    [1, 2],
  ]),
  REACH,
);

/// Which CV's title is stretched, and how many times.
export const stretched = choice('cv', ['8', '1', '2', '3', '4', '5', '6', '7']);
export const stretch = number('stretch', 1, { min: 0.5, max: 3 });
