// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// What a visitor can set in this part.

import { choice } from '../../state/field';

/// Which head is shown where there are two.
export const shownHead = choice('head', ['1', '2']);
export const codeLanguage = choice('code', ['cpp', 'numpy']);
