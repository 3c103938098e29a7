// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// The value vectors as points, two skills at a time, and the output inside their hull.

import { scaleLinear } from 'd3-scale';
import type { JSX } from 'preact';
import { useRef } from 'preact/hooks';

import { at } from '../../state/matrix';
import * as scene from '../../state/scene';
import { BottomAxis, LeftAxis } from '../../ui/axis';
import { paint } from '../../ui/color';
import { Screen } from '../../ui/figure';
import { digits, percent } from '../../ui/format';
import { tableOf } from '../../ui/table';
import { useWidth } from '../../ui/width';
import { words } from '../../words';
import { chosen, Pair } from '../../ui/pick';
import { conditions, WeightingControls, weightingFields } from '../../ui/weighting_controls';
import { type Expectation, expectation, path } from './expectation';
import { hullOf, type Point } from './hull';
import { axes } from './settings';

export function HullScreen(): JSX.Element {
  const { parts, scene: names } = words();
  const w = parts.sum.hull;
  const { value, error } = expectation.value;
  return (
    <Screen
      id="hull"
      title={w.title}
      text={w.text}
      controls={
        <>
          <Pair fields={axes} labels={[w.across, w.up]} names={names.skills} />
          <WeightingControls />
        </>
      }
      sentence={value ? said(value) : words().ui.waiting}
      error={error}
      tables={() => (value ? tables(value) : [])}
      fields={[...axes, ...weightingFields, scene.skills, scene.swapped]}
    >
      {value && <Plane {...value} />}
    </Screen>
  );
}

function Plane(value: Expectation): JSX.Element {
  const box = useRef<HTMLDivElement>(null);
  const width = Math.min(800, useWidth(box));
  return <div ref={box}>{width > 0 && <Points {...value} width={width} />}</div>;
}

const LEFT = 32;
const TOP = 32;
const BOTTOM = 48;
const LARGEST = 30; // radius of a circle of weight 1

function Points({ weights, z, values, width }: Expectation & { readonly width: number }): JSX.Element {
  const { parts, scene: names } = words();
  const [across, up] = chosen(axes);
  const wide = width >= 480;
  const height = Math.min(480, Math.max(320, width * 0.72));
  const points = names.titles.map((_, j): Point => [at(values, j, across), at(values, j, up)]);
  // Room for the largest circle beyond the outermost point.
  const ends = (axis: 0 | 1, length: number): [number, number] => {
    const all = points.map((point) => point[axis]);
    const [low, high] = [Math.min(0, ...all), Math.max(5, ...all)];
    const margin = ((high - low) * LARGEST) / (length - 2 * LARGEST);
    return [low - margin, high + margin];
  };
  const x = scaleLinear(ends(0, width - 4 - LEFT), [LEFT, width - 4]);
  const y = scaleLinear(ends(1, height - BOTTOM - TOP), [height - BOTTOM, TOP]);
  const line = (corners: readonly Point[]) => corners.map(([u, v]) => `${x(u)},${y(v)}`).join('L');
  const way = path.value.value?.map(({ z }): Point => [z[across] ?? NaN, z[up] ?? NaN]) ?? [];
  const radius = (j: number) => Math.max(3, LARGEST * Math.sqrt(weights[j] ?? 0)); // areas are as the weights
  const largestFirst = points.map((_, j) => j).sort((i, j) => radius(j) - radius(i));
  return (
    <svg class="chart hull" width={width} height={height} role="img" aria-label={parts.sum.hull.label}>
      <BottomAxis scale={x} at={height - BOTTOM} title={names.skills[across]} grid={height - BOTTOM - TOP} />
      <LeftAxis scale={y} at={LEFT} title={names.skills[up]} grid={width - 4 - LEFT} />
      <path class="outline" d={`M${line(hullOf(points))}Z`} />
      {largestFirst.map((j) => {
        const [u, v] = points[j] as Point;
        const fill = paint('weight', weights[j] ?? NaN, 1)?.background;
        return <circle key={j} class="share" cx={x(u)} cy={y(v)} r={radius(j)} fill={fill} />;
      })}
      {way.length > 0 && <path class="way" d={`M${line(way)}`} />}
      {points.map(([u, v], j) => {
        const here = points.flatMap(([s, t], i) => (s === u && t === v ? [i] : []));
        if (here[0] !== j) return null; // labels of one place stand together
        const r = Math.max(...here.map(radius));
        const room = width - x(u) > r + (wide ? 100 : 48);
        // Above it at its right, or, for want of room, straight above: off the lines of the grid.
        const from = room ? x(u) + 0.7 * r + 4 : width - 4;
        const bottom = y(v) - (room ? 0.7 * r + 4 : r + 6);
        return (
          <text key={j} class="label" text-anchor={room ? 'start' : 'end'} y={bottom - 15 * (here.length - 1)}>
            {here.map((i, line) => (
              <tspan key={i} x={from} dy={line && 15} data-point={i} data-value={weights[i]}>
                {names.titlesShort[i]} {wide && <tspan class="quiet">{percent(weights[i] ?? NaN, 1)}</tspan>}
              </tspan>
            ))}
          </text>
        );
      })}
      <g class="output" transform={`translate(${x(z[across] ?? NaN)},${y(z[up] ?? NaN)})`}>
        <path class="diamond" d="M-13,0l13,-13l13,13l-13,13Z" data-x={z[across]} data-y={z[up]} />
        <text text-anchor="middle" y={4}>
          z
        </text>
      </g>
    </svg>
  );
}

function said({ weights, z }: Expectation): string {
  const { parts, scene: names } = words();
  const best = weights.reduce((best, weight, j) => (weight > (weights[best] ?? NaN) ? j : best), 0);
  const place = chosen(axes).map((skill) => `${names.skills[skill]} ${digits(z[skill] ?? NaN)}`);
  return parts.sum.hull.sentence(
    conditions(),
    place[0] ?? '',
    place[1] ?? '',
    names.titlesShort[best] ?? '',
    percent(weights[best] ?? NaN, 1),
  );
}

function tables({ weights, z, values }: Expectation) {
  const { parts, scene: names } = words();
  const w = parts.sum;
  return [
    tableOf(w.values, names.titles, names.skills, values),
    { name: w.weights, rows: names.titles, columns: ['a'], values: weights },
    { name: w.output, rows: ['z'], columns: names.skills, values: z },
  ];
}
