// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// From scores to weights: softmax.

import '../../style/weights.css';

import type { JSX } from 'preact';

import { OddsScreen } from './odds_screen';
import { SharesScreen } from './shares_screen';

export function WeightsPart(): JSX.Element {
  return (
    <>
      <SharesScreen />
      <OddsScreen />
    </>
  );
}
