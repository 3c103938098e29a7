// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Training: two small models learn to recall, one of which divides its scores by sqrt(d_k).

import '../../style/training.css';

import { useSignalEffect } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';

import type { Check, Course } from '../../../engine/gradients';
import { get } from '../../state/store';
import { type Drawn, Work } from '../../state/work';
import { Choice, Slider } from '../../ui/control';
import { Screen } from '../../ui/figure';
import { digits, percent } from '../../ui/format';
import { count, RunLine, stopped } from '../../ui/run_line';
import { scientific } from '../../ui/scientific';
import type { Table } from '../../ui/table';
import { words } from '../../words';
import { CourseChart } from './course_chart';
import { Dk } from './formulas';
import { CHECKED, dK, MODELS, rate, seed, STEPS, WINDOW } from './settings';
import { asExpected, ENOUGH, LARGE, SMALL, stepsTo, TIMES, verdict } from './verdict';

interface Settings {
  readonly dK: number;
  readonly rate: number;
  readonly seed: number;
}

const training = new Work(
  'training',
  ({ dK, rate, seed }: Settings) => ({
    dK,
    rate,
    seed,
    steps: STEPS,
    divisors: [1, Math.sqrt(dK)] as const,
    window: WINDOW,
    checked: CHECKED,
  }),
  () => WINDOW,
);

export function TrainingPart(): JSX.Element {
  useSignalEffect(() => training.draw({ dK: get(dK), rate: Number(get(rate)), seed: get(seed) }));
  useEffect(() => () => training.stop(), []);
  const w = words().parts.training;
  const drawn = training.drawn.value;
  const said = sentence(drawn).replaceAll(' %', ' %');
  return (
    <Screen
      id="training"
      text={w.text({ small: SMALL, large: LARGE, enough: percent(ENOUGH), times: String(TIMES), window: WINDOW })}
      more={w.more}
      controls={
        <>
          <Slider
            field={dK}
            label={<Dk said="d_k" />}
            min={1}
            max={256}
            logarithmic
            snaps={[4, 16, 64, 256].map((at) => ({ at }))}
          />
          <Choice field={rate} label={w.rate} names={{ '0.001': '0.001', '0.003': '0.003', '0.01': '0.01' }} />
        </>
      }
      sentence={said}
      error={training.error.value}
      tables={() => tables(drawn?.result.courses)}
      fields={[dK, rate, seed]}
    >
      <CourseChart courses={drawn?.result.courses} label={`${w.chart} ${said}`} />
      <RunLine work={training} seed={seed}>
        {drawn && (
          <>
            {w.settings({
              d: drawn.settings.dK,
              rate: String(drawn.settings.rate),
              seed: drawn.settings.seed,
              steps: count(STEPS),
              stoppedAt: stopped(drawn, training.running.value) ? count(drawn.done) : undefined,
            })}
            <Checked checks={drawn.result.checks} />
          </>
        )}
      </RunLine>
    </Screen>
  );
}

function sentence(drawn: Drawn<'training', Settings> | undefined): string {
  const w = words().parts.training;
  const running = training.running.value;
  if (!drawn) return running ? words().ui.waiting : words().ui.stopped;
  const [unscaled, scaled] = drawn.result.courses;
  const last = (of: Course): { right: string; loss: string } => ({
    right: percent(of.right.at(-1) ?? NaN, 1),
    loss: (of.loss.at(-1) ?? NaN).toFixed(3),
  });
  const ends = { unscaled: last(unscaled), scaled: last(scaled) };
  const d = drawn.settings.dK;
  if (drawn.done < drawn.total) return w.underWay({ d, done: drawn.done, steps: drawn.total, ...ends });
  const [late, early] = [stepsTo(unscaled), stepsTo(scaled)];
  const came = verdict(late, early);
  return w.came({
    d,
    enough: percent(ENOUGH),
    unscaled: late,
    scaled: early,
    times: late && early ? digits(late / early, 2) : '',
    verdict: came,
    expected: asExpected(d, came),
    ends,
  });
}

/// Both models' gradients, before the first step.
function Checked({ checks }: { readonly checks: readonly Check[] }): JSX.Element {
  const largest = Math.max(...checks.map((check) => check.largest));
  const entries = checks.reduce((sum, check) => sum + check.entries, 0);
  return words().parts.training.checked(
    <b data-name="difference" data-value={largest}>
      {scientific(100 * largest)} %
    </b>,
    <b data-name="entries" data-value={entries}>
      {count(entries)}
    </b>,
  );
}

function tables(courses: readonly [Course, Course] | undefined): Table[] {
  const w = words().parts.training;
  return MODELS.flatMap((model, i): Table[] => {
    const course = courses?.[i];
    if (!course) return [];
    return [
      {
        name: w.models[model],
        rows: Array.from(course.loss, (_, at) => w.stepsRow((at + 1) * WINDOW)),
        columns: [w.measures.loss, w.measures.right, w.measures.largest],
        values: Array.from(course.loss).flatMap((loss, at) => [
          loss,
          course.right[at] ?? NaN,
          course.largest[at] ?? NaN,
        ]),
      },
    ];
  });
}
