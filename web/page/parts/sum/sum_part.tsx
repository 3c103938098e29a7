// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// The weighted sum of the values.

import '../../style/sum.css';

import type { JSX } from 'preact';

import { HullScreen } from './hull_screen';
import { StackScreen } from './stack_screen';
import { SwapScreen } from './swap_screen';

export function SumPart(): JSX.Element {
  return (
    <>
      <StackScreen />
      <HullScreen />
      <SwapScreen />
    </>
  );
}
