// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// The whole flow: every matrix from the inputs to Z on one stage, played beat by beat, with the code that does it.

import { useSignalEffect } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';

import { flow, type Flow } from '../../state/flow';
import { live } from '../../state/live';
import { pinFields } from '../../state/pins';
import * as scene from '../../state/scene';
import { get } from '../../state/store';
import { Choice } from '../../ui/control';
import { Screen } from '../../ui/figure';
import { tablesOf } from '../../ui/flow_grids';
import { digits } from '../../ui/format';
import { inHand } from '../../ui/grid';
import { ExampleControl, HeadsControl, MaskControl, ScalingControl } from '../../ui/scene_controls';
import { words } from '../../words';
import { CodeListing } from './code_listing';
import { type Beat, beat, beatsOf, playing, showAll, step } from './playback';
import { Player } from './player';
import { saying } from './saying';
import { shownHead } from './settings';
import { focusOf, Stage } from './stage';
import { type Working, WorkingOut, workingOf } from './working';

function headShown({ heads }: Flow): number {
  return Math.min(heads.length, Number(get(shownHead))) - 1;
}

function beatsNow(it: Flow | undefined): readonly Beat[] {
  return it ? beatsOf(it, headShown(it), get(scene.mask) !== 'none') : [];
}

const working = live(async (): Promise<Working | undefined> => {
  const it = flow.value.value;
  const cell = focusOf(beatsNow(it));
  return it && cell ? workingOf(it, headShown(it), cell) : undefined;
});

/// What scores are divided by, as it is written.
function divisorOf({ dK }: Flow): JSX.Element | undefined {
  const how = get(scene.scaling);
  if (how === 'off') return undefined;
  if (how === 'factor') return <>{digits(get(scene.factor))}</>;
  return (
    <math>
      <msqrt>
        <mn>{dK}</mn>
      </msqrt>
    </math>
  );
}

const BEAT_MS = 400;

export function FlowPart(): JSX.Element {
  const w = words();
  const f = w.parts.flow;
  const { value: it, error } = flow.value;
  const beats = beatsNow(it);
  useSignalEffect(() => {
    const there = flow.value.value;
    if (there && (beat.value ?? 0) >= beatsNow(there).length) showAll(); // another input has fewer
  });
  useSignalEffect(() => {
    if (!playing.value) return undefined;
    const timer = setInterval(() => step(1, beatsNow(flow.peek().value)), BEAT_MS);
    return () => clearInterval(timer);
  });
  useEffect(
    () => () => {
      showAll();
      inHand.value = undefined;
    },
    [],
  );
  const controls = (
    <>
      <ExampleControl />
      <ScalingControl />
      <MaskControl />
      <HeadsControl />
      {get(scene.heads) === '2' && (
        <Choice field={shownHead} label={f.shownHead} names={{ '1': f.headName(1), '2': f.headName(2) }} />
      )}
    </>
  );
  const now = beat.value === undefined ? undefined : beats[beat.value]?.stage;
  return (
    <Screen
      id="flow"
      text={f.text}
      more={f.more}
      controls={controls}
      sentence={it ? saying(it, headShown(it)) : w.ui.waiting}
      error={error}
      tables={() => (it ? tablesOf(it) : [])}
      fields={[...scene.sceneFields, ...pinFields, shownHead]}
    >
      {it && (
        <>
          <Player beats={beats} />
          <Stage flow={it} head={headShown(it)} beats={beats} />
          <div class="bench">
            <div class="working" role="region" aria-label={f.worked} tabIndex={0}>
              <WorkingOut working={working.value} divisor={divisorOf(it)} />
            </div>
            <CodeListing at={now} inGrid={inHand.value?.grid} />
          </div>
        </>
      )}
    </Screen>
  );
}
