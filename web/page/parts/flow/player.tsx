// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Play, pause, one beat on or back, or straight to a stage.

import type { JSX } from 'preact';

import { words } from '../../words';
import { type Beat, beat, jump, pause, play, playing, showAll, stages, step } from './playback';

export function Player({ beats }: { readonly beats: readonly Beat[] }): JSX.Element {
  const w = words().parts.flow;
  const now = beat.value;
  const there = stages.filter((stage) => beats.some((each) => each.stage === stage));
  const at = now === undefined ? undefined : beats[now]?.stage;
  return (
    <div class="player" role="group" aria-label={w.player}>
      <button
        type="button"
        class="primary"
        onClick={({ currentTarget }) => {
          if (playing.value) return pause();
          currentTarget.parentElement?.scrollIntoView({ block: 'start' }); // so that the stage is seen
          play();
        }}
      >
        {playing.value ? w.pause : w.play}
      </button>
      <button type="button" onClick={() => (pause(), step(-1, beats))}>
        {w.back}
      </button>
      <button type="button" onClick={() => (pause(), step(1, beats))}>
        {w.on}
      </button>
      <div class="switch" role="group" aria-label={w.stageSwitch}>
        {there.map((stage) => (
          <button key={stage} type="button" aria-pressed={stage === at} onClick={() => jump(stage, beats)}>
            {w.stages[stage]}
          </button>
        ))}
        <button type="button" aria-pressed={now === undefined} onClick={showAll}>
          {w.all}
        </button>
      </div>
      <span class="quiet">{now === undefined ? '' : `${now + 1} / ${beats.length}`}</span>
    </div>
  );
}
