// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// The computation as code, the line at work lit: of the beat that plays, or of the number in hand.

import type { JSX } from 'preact';

import * as scene from '../../state/scene';
import { get, set } from '../../state/store';
import { words } from '../../words';
import { cpp, numpy, type Setting } from './listing';
import type { Stage } from './playback';
import { codeLanguage } from './settings';

/// The stages that make the numbers of a grid.
const MAKES: Record<string, readonly Stage[]> = {
  q: ['project'],
  k: ['project'],
  v: ['project'],
  s: ['scores'],
  p: ['scale', 'mask'],
  a: ['softmax'],
  z: ['sum'],
};

function setting(): Setting {
  return {
    sentence: get(scene.example) === 'sentence',
    heads: Number(get(scene.heads)),
    scaling: get(scene.scaling),
    factor: get(scene.factor),
    mask: get(scene.mask),
    window: [get(scene.windowLeft), get(scene.windowRight)],
  };
}

export function CodeListing({
  at,
  inGrid,
}: {
  readonly at: Stage | undefined;
  readonly inGrid: string | undefined;
}): JSX.Element {
  const w = words().parts.flow;
  const language = get(codeLanguage);
  const lines = (language === 'cpp' ? cpp : numpy)(setting());
  const atWork = inGrid !== undefined ? (MAKES[inGrid] ?? []) : at ? [at] : [];
  return (
    <div class="code">
      <div class="switch" role="group" aria-label={w.listing}>
        {codeLanguage.options.map((each) => (
          <button key={each} type="button" aria-pressed={each === language} onClick={() => set(codeLanguage, each)}>
            {each === 'cpp' ? 'C++' : 'NumPy'}
          </button>
        ))}
      </div>
      <pre tabIndex={0} aria-label={w.listing}>
        {lines.map(({ code, stages }) => (
          <code class={stages.some((stage) => atWork.includes(stage)) ? 'at-work' : ''}>{code + '\n'}</code>
        ))}
      </pre>
    </div>
  );
}
