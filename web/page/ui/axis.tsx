// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Axes of a chart, from a scale of d3-scale: a line with ticks, numbers that never run into each other, and a title.

import type { ComponentChildren, JSX } from 'preact';

import { digits } from './format';

/// What an axis needs of a continuous scale.
export interface AxisScale {
  (x: number): number;
  range(): number[];
  ticks(count?: number): number[];
}

export interface AxisProps {
  readonly scale: AxisScale;
  /// Where the axis stands: a bottom axis' y, a left axis' x.
  readonly at: number;
  readonly title?: ComponentChildren;
  /// How many about, or where.
  readonly ticks?: number | readonly number[];
  readonly format?: (x: number) => string;
  /// Lines through the chart, up or right from each tick, this long.
  readonly grid?: number;
}

const LETTER = 7; // px of a digit at 12 px
const GAP = 5;

function ticksOf({ scale, ticks = 6 }: AxisProps): readonly number[] {
  return typeof ticks === 'number' ? scale.ticks(ticks) : ticks;
}

/// Numbers below, the title centred under them: 40 px high, 20 without a title.
export function BottomAxis(props: AxisProps): JSX.Element {
  const { scale, at, title, format = digits, grid } = props;
  const [from = 0, to = 0] = scale.range();
  let taken = -Infinity;
  return (
    <g class="axis">
      <path d={`M${from},${at}H${to}`} />
      {ticksOf(props).map((tick) => {
        const x = scale(tick);
        const text = format(tick);
        const half = (text.length * LETTER) / 2;
        const fits = x - half >= taken + GAP;
        if (fits) taken = x + half;
        return (
          <g key={tick} transform={`translate(${x},${at})`}>
            {grid !== undefined && <line class="gridline" y2={-grid} />}
            <line y2={fits ? 5 : 3} />
            {fits && (
              <text y={18} text-anchor="middle">
                {text}
              </text>
            )}
          </g>
        );
      })}
      {title && (
        <text class="axis-title" x={(from + to) / 2} y={at + 36} text-anchor="middle">
          {title}
        </text>
      )}
    </g>
  );
}

/// Numbers at its left, the title lying above it, from the drawing's left edge (x 0): leave 20 px there.
export function LeftAxis(props: AxisProps): JSX.Element {
  const { scale, at, title, format = digits, grid } = props;
  const [from = 0, to = 0] = scale.range();
  return (
    <g class="axis">
      <path d={`M${at},${from}V${to}`} />
      {ticksOf(props).map((tick) => (
        <g key={tick} transform={`translate(${at},${scale(tick)})`}>
          {grid !== undefined && <line class="gridline" x2={grid} />}
          <line x2={-5} />
          <text x={-8} text-anchor="end" dominant-baseline="central">
            {format(tick)}
          </text>
        </g>
      ))}
      {title && (
        <text class="axis-title" x={0} y={Math.min(from, to) - 10}>
          {title}
        </text>
      )}
    </g>
  );
}
