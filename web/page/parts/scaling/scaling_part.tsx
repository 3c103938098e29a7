// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Scaling: how far scores of random vectors spread, what the division does to them, and what it is for.

import '../../style/scaling.css';

import { useSignalEffect } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';

import type { HistogramResult } from '../../../engine/engine';
import { go } from '../../state/address';
import * as scene from '../../state/scene';
import { get, set } from '../../state/store';
import { Choice } from '../../ui/control';
import { Screen } from '../../ui/figure';
import { brief, digits, percent } from '../../ui/format';
import { count, RunLine, stopped } from '../../ui/run_line';
import { words } from '../../words';
import { type Curve, curve, CURVES, type Here, here, type Scores, scores } from './draws';
import { DkSlider } from './dk_slider';
import { Dk, RootDk } from './formulas';
import { size, spread } from './measured';
import { GradientScreen } from './gradient_screen';
import { type Point, pointsOf, RibbonChart } from './ribbon_chart';
import { RibbonRun } from './ribbon_run';
import { ScoresChart } from './scores_chart';
import { type Divisor, divisor, dK, KEYS, measure, MEDIAN, SAMPLES, seed, valueOf } from './settings';
import { ribbonTables, scoresTables } from './tables';

export function ScalingPart(): JSX.Element {
  useSignalEffect(() => scores.draw({ dK: get(dK), seed: get(seed) }));
  useSignalEffect(() => {
    const divisors: readonly Divisor[] = get(divisor) === 'dk' ? ['one', 'root', 'dk'] : ['one', 'root'];
    here.draw({ dK: get(dK), seed: get(seed), divisors });
  });
  useSignalEffect(() => curve.draw({ seed: get(seed) }));
  useEffect(() => () => [scores, here, curve].forEach((work) => work.stop()), []);
  return (
    <>
      <ScoresScreen />
      <RibbonScreen />
      <GradientScreen />
    </>
  );
}

function ScoresScreen(): JSX.Element {
  const w = words().parts.scaling;
  const by = get(divisor);
  const drawn = scores.drawn.value;
  const chances = alike(drawn, here.drawn.value);
  const before = drawn?.result[divisor.options.indexOf('one')];
  const after = drawn?.result[divisor.options.indexOf(by)];
  const largest = (which: Divisor): number | undefined =>
    chances?.result[chances.settings.divisors.indexOf(which)]?.largest[MEDIAN];
  const sentence = (): string => {
    const [first, second] = [largest('one'), largest(by)];
    if (!drawn || !before || !after || first === undefined || second === undefined) {
      return scores.running.value || here.running.value ? words().ui.waiting : words().ui.stopped;
    }
    return w.scoresSentence({
      by,
      d: drawn.settings.dK,
      divisor: digits(valueOf(by, drawn.settings.dK), 4),
      before: spread(before.deviation),
      after: spread(after.deviation),
      keys: KEYS,
      largestBefore: w.inWords(percent(first)),
      largestAfter: w.inWords(percent(second)),
      even: percent(1 / KEYS),
    });
  };
  const said = sentence();
  return (
    <Screen
      id="scores"
      title={w.scoresTitle}
      text={
        <>
          {w.scoresText}
          <p>
            <button
              type="button"
              onClick={() => {
                set(scene.scaling, 'off');
                go({ part: 'weights' });
              }}
            >
              {w.onCvs} <span aria-hidden="true">→</span>
            </button>
          </p>
        </>
      }
      more={w.scoresMore}
      controls={
        <>
          <DkSlider />
          <Choice
            field={divisor}
            label={w.divideBy}
            names={{ root: <RootDk said="√d_k" />, one: w.one, dk: <Dk said="d_k" /> }}
          />
        </>
      }
      sentence={said}
      error={scores.error.value ?? here.error.value}
      tables={() => scoresTables(drawn, chances, by)}
      fields={[dK, divisor, seed]}
    >
      <ScoresChart drawn={drawn} here={chances} by={by} label={`${w.scoresChart} ${said}`} />
      <RunLine work={scores} seed={seed} also={here}>
        {drawn && before && after && (
          <>
            {w.scoresSettings(
              drawn.settings.dK,
              count(drawn.done),
              stopped(drawn, scores.running.value) ? count(SAMPLES) : undefined,
              drawn.settings.seed,
            )}
            <Moments name={w.before} of={before} />
            {by !== 'one' && (
              <>
                {w.between}
                <Moments name={w.after} of={after} />
              </>
            )}
            {w.end}
          </>
        )}
      </RunLine>
    </Screen>
  );
}

/// What was drawn for the same settings as the scores; after a stop it may be of others.
function alike(drawn: Scores | undefined, chances: Here | undefined): Here | undefined {
  const [a, b] = [drawn?.settings, chances?.settings];
  return a?.dK === b?.dK && a?.seed === b?.seed ? chances : undefined;
}

function Moments({ name, of }: { readonly name: string; readonly of: HistogramResult }): JSX.Element {
  const w = words().parts.scaling;
  return (
    <>
      {w.measuredOf(name)}
      {w.mean} <b data-value={of.mean}>{brief(of.mean)}</b>
      {w.comma}
      {w.variance} <b data-value={of.variance}>{spread(of.variance)}</b>
    </>
  );
}

function RibbonScreen(): JSX.Element {
  const w = words().parts.scaling;
  const shows = get(measure);
  const drawn = curve.drawn.value;
  const chances = here.drawn.value;
  const values = ({ norms, largest }: Curve['result'][number]): Float64Array => (shows === 'norm' ? norms : largest);
  const curves = drawn && CURVES.map((_, i) => pointsOf(drawn.result, i, values));
  const marks = CURVES.map((which): Point | undefined => {
    const there = chances?.result[chances.settings.divisors.indexOf(which)];
    return there && chances && [chances.settings.dK, values(there)];
  });
  const sentence = (): string => {
    const [bare, scaled] = marks.map((mark) => mark?.[1]);
    if (!chances || !bare || !scaled) return here.running.value ? words().ui.waiting : words().ui.stopped;
    const write = (values: Float64Array): string[] =>
      Array.from(values, (x) => w.inWords(shows === 'norm' ? size(x) : percent(x)));
    return w.ribbonSentence[shows]({ d: chances.settings.dK, bare: write(bare), scaled: write(scaled) });
  };
  const said = sentence();
  return (
    <Screen
      id="saturation"
      title={w.ribbonTitle}
      text={w.ribbonText}
      more={w.ribbonMore}
      controls={
        <>
          <DkSlider />
          <Choice field={measure} label={w.measure} names={w.measures} />
        </>
      }
      sentence={said}
      error={curve.error.value}
      tables={() => ribbonTables(curves, shows)}
      fields={[dK, measure, seed]}
    >
      <RibbonChart curves={curves} marks={marks} shows={shows} d={get(dK)} label={`${w.ribbonChart} ${said}`} />
      <RibbonRun work={curve} />
    </Screen>
  );
}
