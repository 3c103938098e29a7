// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0

import type { JSX } from 'preact';

import { Slider } from '../../ui/control';
import { words } from '../../words';
import { Dk } from './formulas';
import { dK } from './settings';

export function DkSlider(): JSX.Element {
  const snaps = [1, 4, 16, 64, 256, 1024].map((at) =>
    at === 64 ? { at, name: words().parts.scaling.mostModels } : { at },
  );
  return <Slider field={dK} label={<Dk said="d_k" />} min={1} max={1024} logarithmic snaps={snaps} />;
}
