// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// How two models learn: loss, right answers and the largest weight over the steps, and the numbers that it comes to.

import { type ScaleLinear, scaleLinear } from 'd3-scale';
import { line } from 'd3-shape';
import type { JSX } from 'preact';
import { useRef } from 'preact/hooks';

import type { Course } from '../../../engine/gradients';
import { BottomAxis, LeftAxis } from '../../ui/axis';
import { percent } from '../../ui/format';
import { useWidth } from '../../ui/width';
import { words } from '../../words';
import { type Model, MODELS, STEPS, WINDOW } from './settings';
import { ENOUGH, stepsTo } from './verdict';

const LEGEND = 28;
const HEAD = 36;
const HIGH = 140;
const FOOT = 52;
const CELL = HEAD + HIGH + FOOT;
const ROW = 28; // of the numbers
const NUMBERS = HEAD + 4 * ROW;
const LEFT = 48;

export type Measure = keyof Course;
const PANELS: readonly Measure[] = ['loss', 'right', 'largest'];

export interface CourseChartProps {
  readonly courses: readonly [Course, Course] | undefined;
  readonly label: string;
}

export function CourseChart({ courses, label }: CourseChartProps): JSX.Element {
  const box = useRef<HTMLDivElement>(null);
  const width = useWidth(box);
  const beside = width >= 560;
  const each = beside ? (width - 24) / 2 : width;
  const tall = LEGEND + (beside ? 2 * CELL : PANELS.length * CELL + NUMBERS);
  const place = (i: number): string =>
    beside
      ? `translate(${(i % 2) * (each + 24)},${LEGEND + Math.floor(i / 2) * CELL})`
      : `translate(0,${LEGEND + i * CELL})`;
  return (
    <div ref={box} class="chart-box" style={{ minHeight: `${tall}px` }}>
      {width > 0 && courses && (
        <svg class="chart training-chart" width={width} height={tall} role="img" aria-label={label}>
          <Legend />
          {PANELS.map((measure, i) => (
            <g key={measure} transform={place(i)}>
              <Panel courses={courses} measure={measure} width={each} />
            </g>
          ))}
          <g transform={place(PANELS.length)}>
            <Numbers courses={courses} width={each} />
          </g>
        </svg>
      )}
    </div>
  );
}

/// Scaled first, as it is read; drawn last, above the other.
const READ: readonly Model[] = ['root', 'one'];

function Legend(): JSX.Element {
  const w = words().parts.training;
  return (
    <>
      {READ.map((model, i) => (
        <g key={model} transform={`translate(${i * 120},0)`}>
          <path class={`course ${model}`} d="M0,10H28" />
          <text x={36} y={10} dominant-baseline="central">
            {w.models[model]}
          </text>
        </g>
      ))}
    </>
  );
}

interface PanelProps {
  readonly courses: readonly [Course, Course];
  readonly measure: Measure;
  readonly width: number;
}

function Panel({ courses, measure, width }: PanelProps): JSX.Element {
  const w = words().parts.training;
  const bottom = HEAD + HIGH;
  const x = scaleLinear([0, STEPS], [LEFT, width - 16]);
  const most = measure === 'loss' ? Math.max(3, ...courses.map(({ loss }) => loss[0] ?? 0)) : 1;
  const y = scaleLinear([0, most], [bottom, HEAD]).nice(4);
  const path = line<number>()
    .x((_, i) => x((i + 1) * WINDOW))
    .y((value) => y(value));
  return (
    <>
      <LeftAxis
        scale={y}
        at={LEFT}
        ticks={4}
        grid={width - 16 - LEFT}
        title={w.measures[measure]}
        {...(measure === 'loss' ? {} : { format: (share: number) => percent(share) })}
      />
      <BottomAxis scale={x} at={bottom} ticks={width < 420 ? 4 : 8} title={w.stepAxis} />
      {measure === 'right' && <line class="enough" x1={LEFT} x2={width - 16} y1={y(ENOUGH)} y2={y(ENOUGH)} />}
      {MODELS.map((model, i) => (
        <path key={model} class={`course ${model}`} d={path(Array.from(courses[i]?.[measure] ?? [])) ?? ''} />
      ))}
      {measure === 'right' &&
        MODELS.map((model, i) => <Reached key={model} course={courses[i]} model={model} x={x} y={y} bottom={bottom} />)}
    </>
  );
}

interface ReachedProps {
  readonly course: Course | undefined;
  readonly model: Model;
  readonly x: ScaleLinear<number, number>;
  readonly y: ScaleLinear<number, number>;
  readonly bottom: number;
}

/// Where the model first knows enough: a drop to the steps.
function Reached({ course, model, x, y, bottom }: ReachedProps): JSX.Element | null {
  const steps = course && stepsTo(course);
  if (!course || steps === undefined) return null;
  const height = y(course.right[steps / WINDOW - 1] ?? 0);
  return (
    <g class={`reached ${model}`}>
      <line x1={x(steps)} x2={x(steps)} y1={height} y2={bottom} />
      <circle cx={x(steps)} cy={height} r={4} />
    </g>
  );
}

/// A small table: the models across.
function Numbers({
  courses,
  width,
}: {
  readonly courses: readonly [Course, Course];
  readonly width: number;
}): JSX.Element {
  const w = words().parts.training;
  const columns: readonly number[] = [width - 104, width - 16]; // where each ends
  const last = (values: Float64Array): number | undefined => values[STEPS / WINDOW - 1];
  const rows: readonly (readonly [string, string, (course: Course) => number | undefined, (x: number) => string])[] = [
    ['steps', w.numbers.steps(percent(ENOUGH)), stepsTo, String],
    ['first', w.numbers.first, ({ largest }) => largest[0], (x) => percent(x)],
    ['loss', w.numbers.loss, ({ loss }) => last(loss), (x) => x.toFixed(3)],
    ['right', w.numbers.right, ({ right }) => last(right), (x) => percent(x, 1)],
  ];
  return (
    <g transform={`translate(0,${HEAD - 10})`}>
      {READ.map((model, i) => (
        <text key={model} class="name" x={columns[i]} y={0} text-anchor="end">
          {w.models[model]}
        </text>
      ))}
      {rows.map(([name, label, of, write], row) => (
        <g key={name} transform={`translate(0,${(row + 1) * ROW})`}>
          <line class="rule" x1={0} x2={width - 16} y1={-ROW + 8} y2={-ROW + 8} />
          <text class="name" x={0} y={0}>
            {label}
          </text>
          {READ.map((model, i) => {
            const course = courses[MODELS.indexOf(model)];
            const value = course && of(course);
            return (
              <text
                key={model}
                class="number"
                x={columns[i]}
                y={0}
                text-anchor="end"
                data-name={`${name}-${model}`}
                data-value={value}
              >
                {value === undefined ? '–' : write(value)}
              </text>
            );
          })}
        </g>
      ))}
    </g>
  );
}
