// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// What reaches the query, by the engine's backward pass: where gradients vanish, and where they grow.

import { useSignalEffect } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';

import { get } from '../../state/store';
import { Screen } from '../../ui/figure';
import { count } from '../../ui/run_line';
import { useSeen } from '../../ui/seen';
import { words } from '../../words';
import { DkSlider } from './dk_slider';
import { CURVES, gradientCurve, type GradientCurve, gradientHere } from './draws';
import { LITTLE, magnitude, MUCH, spreadOf } from './measured';
import { type Point, pointsOf, RibbonChart } from './ribbon_chart';
import { RibbonRun } from './ribbon_run';
import { dK, seed } from './settings';
import { ribbonTables } from './tables';

export function GradientScreen(): JSX.Element {
  const w = words().parts.scaling;
  const box = useRef<HTMLDivElement>(null);
  const seen = useSeen(box);
  useSignalEffect(() => {
    if (seen.value) gradientHere.draw({ dK: get(dK), seed: get(seed) });
  });
  useSignalEffect(() => {
    if (seen.value) gradientCurve.draw({ seed: get(seed) });
  });
  useEffect(() => () => [gradientHere, gradientCurve].forEach((work) => work.stop()), []);
  const drawn = gradientCurve.drawn.value;
  const here = gradientHere.drawn.value;
  const curves = drawn && CURVES.map((_, i) => pointsOf(drawn.result, i, ({ norms }) => norms));
  const marks = CURVES.map((_, i): Point | undefined => {
    const there = here?.result[i];
    return there && here && [here.settings.dK, there.norms];
  });
  const sentence = (): string => {
    const [bare, scaled] = marks.map((mark) => mark?.[1]);
    if (!here || !bare || !scaled) {
      return seen.value && !gradientHere.running.value ? words().ui.stopped : words().ui.waiting;
    }
    const write = (values: Float64Array): string[] => Array.from(values, magnitude);
    return w.gradientSentence({
      d: here.settings.dK,
      bare: write(bare),
      scaled: write(scaled),
      ...spreadOf(bare, scaled),
    });
  };
  const said = sentence();
  return (
    <Screen
      id="gradient"
      title={w.gradientTitle}
      text={w.gradientText}
      more={w.gradientMore(LITTLE, MUCH)}
      controls={<DkSlider />}
      sentence={said}
      error={gradientCurve.error.value ?? gradientHere.error.value}
      tables={() => ribbonTables(curves, 'gradient')}
      fields={[dK, seed]}
    >
      <div ref={box}>
        <RibbonChart curves={curves} marks={marks} shows="gradient" d={get(dK)} label={`${w.ribbonChart} ${said}`} />
      </div>
      <RibbonRun work={gradientCurve} also={gradientHere}>
        {drawn && <Checked result={drawn.result} />}
      </RibbonRun>
    </Screen>
  );
}

/// All runs of the figure together.
function Checked({ result }: { readonly result: GradientCurve['result'] }): JSX.Element {
  const largest = Math.max(...result.map(({ check }) => check.largest));
  const entries = result.reduce((sum, { check }) => sum + check.entries, 0);
  return words().parts.scaling.checked(
    <b data-name="difference" data-value={largest}>
      {magnitude(100 * largest)} %
    </b>,
    <b data-name="entries" data-value={entries}>
      {count(entries)}
    </b>,
  );
}
