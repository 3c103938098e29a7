// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// What can be set about the weights.

import { choice, number } from '../../state/field';

// A number added to a score, or to all.
const PLACE = { min: 0, max: 7, whole: true };
export const one = number('one', 7, PLACE); // whose score changes
export const other = number('other', 1, PLACE); // whom it is compared with
export const addend = number('add', 1, { min: -200, max: 200 });
export const addTo = choice('to', ['one', 'all']);
