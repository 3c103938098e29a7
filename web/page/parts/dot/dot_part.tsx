// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// The dot product: two arrows, two rankings, all pairs at once.

import '../../style/dot.css';

import type { JSX } from 'preact';

import { ArrowsScreen } from './arrows_screen';
import { PairsScreen } from './pairs_screen';
import { RankingsScreen } from './rankings_screen';

export function DotPart(): JSX.Element {
  return (
    <>
      <ArrowsScreen />
      <RankingsScreen />
      <PairsScreen />
    </>
  );
}
