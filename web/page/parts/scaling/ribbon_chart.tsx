// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Percentiles of many draws against d_k, unscaled and scaled, as ribbons about their medians.

import { type ScaleContinuousNumeric, scaleLinear, scaleLog } from 'd3-scale';
import { area, line } from 'd3-shape';
import type { JSX } from 'preact';
import { useRef } from 'preact/hooks';

import { BottomAxis, LeftAxis } from '../../ui/axis';
import { percent } from '../../ui/format';
import { useWidth } from '../../ui/width';
import { words } from '../../words';
import { type Curve, CURVES, D_KS, type Here } from './draws';
import { DrawnDk } from './formulas';
import { size } from './measured';
import { type Measure, MEDIAN, PERCENTILES } from './settings';

const HEAD = 48;
const HIGH = 216;
const FOOT = 48;
const NAMES = 72; // of the percentiles, at the right

export interface RibbonChartProps {
  readonly drawn: Curve | undefined;
  readonly here: Here | undefined;
  readonly shows: Measure;
  readonly d: number; // that is set
  readonly label: string;
}

export function RibbonChart({ drawn, here, shows, d, label }: RibbonChartProps): JSX.Element {
  const box = useRef<HTMLDivElement>(null);
  const width = useWidth(box);
  const beside = width >= 560;
  const each = beside ? (width - 16) / 2 : width;
  const height = HEAD + HIGH + FOOT;
  const tall = beside ? height : 2 * height + 16;
  return (
    <div ref={box} class="chart-box" style={{ minHeight: `${tall}px` }}>
      {width > 0 && drawn && (
        <svg class="chart scaling-chart" width={width} height={tall} role="img" aria-label={label}>
          {CURVES.map((which, i) => (
            <g transform={beside ? `translate(${i * (each + 16)},0)` : `translate(0,${i * (height + 16)})`}>
              <Ribbon
                points={pointsOf(drawn, i, shows)}
                mark={here && marked(here, which, shows)}
                d={d}
                shows={shows}
                scaled={which === 'root'}
                width={each}
              />
            </g>
          ))}
        </svg>
      )}
    </div>
  );
}

type Point = readonly [number, Float64Array]; // d_k, percentiles

export function pointsOf({ result }: Curve, i: number, shows: Measure): Point[] {
  return D_KS.flatMap((d, at): Point[] => {
    const there = result[at * CURVES.length + i];
    return there ? [[d, shows === 'norm' ? there.norms : there.largest]] : [];
  });
}

/// The median at the d_k that is set.
function marked({ settings, result }: Here, which: 'one' | 'root', shows: Measure): Point | undefined {
  const there = result[settings.divisors.indexOf(which)];
  return there && [settings.dK, shows === 'norm' ? there.norms : there.largest];
}

interface RibbonProps {
  readonly points: readonly Point[];
  readonly mark: Point | undefined;
  readonly d: number;
  readonly shows: Measure;
  readonly scaled: boolean;
  readonly width: number;
}

function Ribbon({ points, mark, d, shows, scaled, width }: RibbonProps): JSX.Element {
  const w = words().parts.scaling;
  const left = shows === 'norm' ? 40 : 52;
  const x = scaleLog([1, 1024], [left, width - NAMES]).base(2);
  const y = scaleLinear([0, shows === 'norm' ? 0.5 : 1], [HEAD + HIGH, HEAD]);
  const band = (low: number, high: number): string =>
    area<Point>()
      .x(([at]) => x(at))
      .y0(([, p]) => y(p[low] ?? 0))
      .y1(([, p]) => y(p[high] ?? 0))(points) ?? '';
  const median = line<Point>()
    .x(([at]) => x(at))
    .y(([, p]) => y(p[MEDIAN] ?? 0))(points);
  const right = x.range()[1] ?? 0;
  const at = x(d);
  const value = mark?.[1][MEDIAN];
  const marked = x(mark?.[0] ?? d);
  const before = right - marked < 60; // no room for it after the mark
  return (
    <>
      <text x={0} y={14} font-weight="600">
        {scaled ? (
          <>
            {w.scaled} <DrawnDk root />
          </>
        ) : (
          w.unscaled
        )}
      </text>
      <LeftAxis
        scale={y}
        at={left}
        ticks={5}
        grid={right - left}
        title={w.measureAxis[shows]}
        {...(shows === 'largest' ? { format: (x: number) => percent(x) } : {})}
      />
      <BottomAxis scale={x} at={HEAD + HIGH} ticks={D_KS} format={every(width)} title={<DrawnDk />} />
      <path class="ribbon" d={band(0, 4)} />
      <path class="ribbon inner" d={band(1, 3)} />
      <path class="median" d={median ?? ''} />
      <line class="here-line" x1={at} x2={at} y1={HEAD} y2={HEAD + HIGH} />
      {mark && value !== undefined && (
        <>
          <circle class="here-dot" cx={marked} cy={y(value)} r={4.5} />
          <text
            class="halo number"
            x={marked + (before ? -8 : 8)}
            y={y(value) < HEAD + 24 ? y(value) + 20 : y(value) - 8}
            text-anchor={before ? 'end' : 'start'}
            data-name={`median-${scaled ? 'scaled' : 'unscaled'}`}
            data-value={value}
          >
            {shows === 'norm' ? size(value) : percent(value)}
          </text>
        </>
      )}
      <Names points={points} x={right} y={y} />
    </>
  );
}

/// On narrow charts, numbers at each other tick.
function every(width: number): (d: number) => string {
  return (d) => (width < 420 && Math.log2(d) % 2 === 1 ? '' : String(d));
}

interface NamesProps {
  readonly points: readonly Point[];
  readonly x: number;
  readonly y: ScaleContinuousNumeric<number, number>;
}

const LINE = 15;

/// Each percentile's name at the end of its line, moved apart where they would lie on each other.
function Names({ points, x, y }: NamesProps): JSX.Element | null {
  const last = points.at(-1);
  if (!last || points.length < D_KS.length) return null;
  const [bottom = 0, top = 0] = y.range();
  const ends = Array.from(last[1], (value) => y(value));
  const places = [...ends];
  places.forEach((place, i) => (places[i] = Math.min(place, (places[i - 1] ?? Infinity) - LINE)));
  let lowest = top;
  for (let i = places.length - 1; i >= 0; --i) {
    places[i] = Math.max(places[i] ?? 0, lowest);
    lowest = (places[i] ?? 0) + LINE;
  }
  // As far up as they came to lie too high, down; never past the axis.
  const shift = Math.min(0, bottom - (places[0] ?? 0));
  return (
    <>
      <text class="name" x={x + 2} y={top - 10}>
        {words().parts.scaling.percentile}
      </text>
      {PERCENTILES.map((p, i) => {
        const place = (places[i] ?? 0) + shift;
        return (
          <g>
            <path class="leader" d={`M${x + 2},${ends[i]}L${x + 12},${place}`} />
            <text class={i === MEDIAN ? 'name middle' : 'name'} x={x + 15} y={place} dominant-baseline="central">
              {i === MEDIAN ? words().parts.scaling.median : `${p} %`}
            </text>
          </g>
        );
      })}
    </>
  );
}
