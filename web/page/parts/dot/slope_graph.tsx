// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Two rankings of the same things side by side, each with bars and numbers; a line joins what is the same.

import type { JSX } from 'preact';
import { useRef } from 'preact/hooks';

import { useWidth } from '../../ui/width';

export interface Ranking {
  readonly title: string;
  readonly names: readonly string[];
  readonly values: Float32Array;
  readonly order: Int32Array; // places, first to last
  readonly most?: number; // where the bars end at the latest
  write(x: number): string;
}

export interface SlopeGraphProps {
  readonly label: string;
  readonly marked: number;
  readonly left: Ranking;
  readonly right: Ranking;
}

const LARGEST = 820; // px
const TOP = 28;

const PITCH = 42; // of rows: names stand above their bars
const BAR = 8; // from the middle of a row down to that of its bar
const RANK = 18;
const VALUE = 48;
const NAME = 200;

/// Where a list's columns are.
interface Columns {
  readonly x: number;
  readonly bar: number;
  readonly barWidth: number;
  readonly end: number; // of the list and of its numbers
}

/// Bars of both lists are equally long, unless that leaves the left one no room for its names.
function columnsOf(width: number): readonly [Columns, Columns] {
  const slope = Math.max(36, Math.min(120, width / 6 - 16));
  const bars = width - 2 * (RANK + VALUE) - slope;
  const first = Math.max(bars / 2, Math.min(bars - 40, NAME - RANK - VALUE));
  const list = (x: number, barWidth: number): Columns => {
    const bar = x + RANK;
    return { x, bar, barWidth, end: bar + barWidth + VALUE };
  };
  const left = list(0, first);
  return [left, list(left.end + slope, bars - first)];
}

export function SlopeGraph({ label, marked, left, right }: SlopeGraphProps): JSX.Element {
  const box = useRef<HTMLDivElement>(null);
  const width = Math.min(LARGEST, useWidth(box));
  const [atLeft, atRight] = columnsOf(width);
  const y = (rank: number): number => TOP + (rank + 0.5) * PITCH;
  const height = y(left.order.length) - PITCH / 2;
  return (
    <div ref={box}>
      {width > 0 && (
        <svg class="chart slope" width={width} height={height} role="img" aria-label={label}>
          {Array.from(left.order, (_, cv) => {
            const [from, to] = [y(left.order.indexOf(cv)) + BAR, y(right.order.indexOf(cv)) + BAR];
            const [start, end] = [atLeft.end + 6, atRight.x - 6];
            const middle = (start + end) / 2;
            return (
              <path
                key={cv}
                class={cv === marked ? 'slope-line marked' : 'slope-line'}
                d={`M${start},${from}C${middle},${from},${middle},${to},${end},${to}`}
              />
            );
          })}
          <List {...left} marked={marked} y={y} at={atLeft} id="dot" />
          <List {...right} marked={marked} y={y} at={atRight} id="cosine" />
        </svg>
      )}
    </div>
  );
}

interface ListProps extends Ranking {
  readonly id: string;
  readonly marked: number;
  readonly at: Columns;
  y(rank: number): number;
}

function List({ id, title, names, values, order, most = 0, write, marked, at, y }: ListProps): JSX.Element {
  const finite = values.filter(Number.isFinite);
  const [least, largest] = [Math.min(0, ...finite), Math.max(most, ...finite)];
  const bar = (x: number): number => ((x - least) / (largest - least || 1)) * at.barWidth;
  return (
    <g data-list={id}>
      <text class="slope-title" x={at.x} y={14}>
        {title}
      </text>
      {Array.from(values, (x, cv) => {
        const rank = order.indexOf(cv);
        const [from, to] = x < 0 ? [bar(x), bar(0)] : [bar(0), bar(x)];
        return (
          <g
            key={cv}
            class={cv === marked ? 'slope-row marked' : 'slope-row'}
            transform={`translate(0,${y(rank)})`}
            data-cv={cv + 1}
            data-rank={rank + 1}
            data-value={x}
          >
            <text class="slope-rank" x={at.x} y={-10}>
              {rank + 1}
            </text>
            <text x={at.bar} y={-10}>
              {names[cv]}
            </text>
            {Number.isFinite(x) && (
              <rect
                class={x < 0 ? 'below' : 'above'}
                x={at.bar + from}
                y={BAR - 6}
                width={Math.max(1, to - from)}
                height={12}
              />
            )}
            <text x={at.end} y={BAR} text-anchor="end">
              {write(x)}
            </text>
          </g>
        );
      })}
    </g>
  );
}
