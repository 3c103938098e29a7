// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Under ribbons: with what they were drawn.

import type { ReadonlySignal } from '@preact/signals';
import type { ComponentChildren, JSX } from 'preact';

import { count, RunLine, type Runs, stopped } from '../../ui/run_line';
import { words } from '../../words';
import { DRAWS, KEYS, seed } from './settings';

export interface RibbonRunProps {
  readonly work: Runs & {
    readonly drawn: ReadonlySignal<{ readonly settings: { readonly seed: number } } | undefined>;
  };
  readonly also?: Runs;
  readonly children?: ComponentChildren;
}

export function RibbonRun({ work, also, children }: RibbonRunProps): JSX.Element {
  const drawn = work.drawn.value;
  return (
    <RunLine work={work} seed={seed} {...(also ? { also } : {})}>
      {drawn &&
        words().parts.scaling.ribbonSettings(
          KEYS,
          DRAWS,
          stopped(drawn, work.running.value) ? `${count(drawn.done)} / ${count(drawn.total)}` : undefined,
          drawn.settings.seed,
        )}
      {children}
    </RunLine>
  );
}
