// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Percentiles of many draws against d_k, unscaled and scaled, as ribbons about their medians.

import { type ScaleContinuousNumeric, scaleLinear, scaleLog } from 'd3-scale';
import { area, line } from 'd3-shape';
import type { JSX } from 'preact';
import { useRef } from 'preact/hooks';

import { BottomAxis, LeftAxis } from '../../ui/axis';
import { percent } from '../../ui/format';
import { powerOfTen } from '../../ui/scientific';
import { useWidth } from '../../ui/width';
import { words } from '../../words';
import { CURVES, D_KS } from './draws';
import { DrawnDk } from './formulas';
import { magnitude, size } from './measured';
import { type Measure, MEDIAN, PERCENTILES } from './settings';

const HEAD = 48;
const HIGH = 216;
const FOOT = 48;
const NAMES = 72; // of the percentiles, at the right

/// The norm of softmax's Jacobian, the largest weight, or what reaches the query.
export type Shown = Measure | 'gradient';

export interface RibbonChartProps {
  /// Where the engine has come to, one for each of CURVES.
  readonly curves: readonly (readonly Point[])[] | undefined;
  /// The same at the d_k that is set.
  readonly marks: readonly (Point | undefined)[];
  readonly shows: Shown;
  readonly d: number; // that is set
  readonly label: string;
}

export function RibbonChart({ curves, marks, shows, d, label }: RibbonChartProps): JSX.Element {
  const box = useRef<HTMLDivElement>(null);
  const width = useWidth(box);
  const beside = width >= 560;
  const each = beside ? (width - 16) / 2 : width;
  const height = HEAD + HIGH + FOOT;
  const tall = beside ? height : 2 * height + 16;
  return (
    <div ref={box} class="chart-box" style={{ minHeight: `${tall}px` }}>
      {width > 0 && curves && (
        <svg class="chart scaling-chart" width={width} height={tall} role="img" aria-label={label}>
          {CURVES.map((which, i) => (
            <g transform={beside ? `translate(${i * (each + 16)},0)` : `translate(0,${i * (height + 16)})`}>
              <Ribbon
                points={curves[i] ?? []}
                mark={marks[i]}
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

export type Point = readonly [number, Float64Array]; // d_k, percentiles

/// Those of CURVES[i], of what is there of D_KS.
export function pointsOf<R>(result: readonly R[], i: number, of: (there: R) => Float64Array): Point[] {
  return D_KS.flatMap((d, at): Point[] => {
    const there = result[at * CURVES.length + i];
    return there ? [[d, of(there)]] : [];
  });
}

interface Look {
  readonly left: number; // room for the numbers of the axis
  readonly scale: (height: readonly [number, number]) => ScaleContinuousNumeric<number, number>;
  readonly ticks: number | readonly number[];
  readonly tick?: (x: number) => string;
  readonly write: (x: number) => string;
}

const DECADES = [-16, -14, -12, -10, -8, -6, -4, -2, 0, 2];
const LOOKS: Readonly<Record<Shown, Look>> = {
  norm: { left: 40, scale: (height) => scaleLinear([0, 0.5], height), ticks: 5, write: size },
  largest: {
    left: 52,
    scale: (height) => scaleLinear([0, 1], height),
    ticks: 5,
    tick: (x) => percent(x),
    write: (x) => percent(x),
  },
  gradient: {
    left: 46,
    scale: (height) => scaleLog([1e-16, 100], height).clamp(true),
    ticks: DECADES.map((exponent) => 10 ** exponent),
    tick: (x) => powerOfTen(Math.round(Math.log10(x))),
    write: magnitude,
  },
};

interface RibbonProps {
  readonly points: readonly Point[];
  readonly mark: Point | undefined;
  readonly d: number;
  readonly shows: Shown;
  readonly scaled: boolean;
  readonly width: number;
}

function Ribbon({ points, mark, d, shows, scaled, width }: RibbonProps): JSX.Element {
  const w = words().parts.scaling;
  const { left, scale, ticks, tick, write } = LOOKS[shows];
  const x = scaleLog([1, 1024], [left, width - NAMES]).base(2);
  const y = scale([HEAD + HIGH, HEAD]);
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
        ticks={ticks}
        grid={right - left}
        title={w.measureAxis[shows]}
        {...(tick ? { format: tick } : {})}
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
            data-name={`${shows === 'gradient' ? 'gradient' : 'median'}-${scaled ? 'scaled' : 'unscaled'}`}
            data-value={value}
          >
            {write(value)}
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
