// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Two histograms of scores over one axis, before and after the division, and what softmax makes of either.

import type { ScaleLinear } from 'd3-scale';
import { scaleLinear } from 'd3-scale';
import type { JSX } from 'preact';
import { useRef } from 'preact/hooks';

import type { HistogramResult } from '../../../engine/engine';
import { BottomAxis } from '../../ui/axis';
import { digits, percent } from '../../ui/format';
import { useWidth } from '../../ui/width';
import { words } from '../../words';
import { type Here, rangeOf, reach, type Scores } from './draws';
import { DrawnDk } from './formulas';
import { spread } from './measured';
import { type Divisor, divisor, DRAWS, KEYS, MEDIAN, valueOf } from './settings';

const HEAD = 26;
const HIGH = 112;
const SIDE = 172; // what softmax makes of them, where there is room beside

export interface ScoresChartProps {
  readonly drawn: Scores | undefined;
  readonly here: Here | undefined;
  readonly by: Divisor;
  readonly label: string;
}

export function ScoresChart({ drawn, here, by, label }: ScoresChartProps): JSX.Element {
  const w = words().parts.scaling;
  const box = useRef<HTMLDivElement>(null);
  const width = useWidth(box);
  const beside = width >= 560;
  const bottom = 2 * (HEAD + HIGH) + 12;
  const height = bottom + 40 + (beside ? 0 : 96);
  return (
    <div ref={box} class="chart-box" style={{ minHeight: `${height}px` }}>
      {width > 0 && drawn && (
        <svg class="chart scaling-chart" width={width} height={height} role="img" aria-label={label}>
          <Panels drawn={drawn} by={by} width={beside ? width - SIDE : width} bottom={bottom} />
          {here &&
            (['one', by] as const).map((which, i) => (
              <Largest
                here={here}
                which={which}
                x={beside ? width - SIDE + 28 : 8 + i * (width / 2)}
                y={beside ? i * (HEAD + HIGH + 12) + HEAD + 24 : bottom + 84}
                width={(beside ? SIDE : width / 2) - 28}
                title={beside ? w.largestOf(KEYS) : i === 0 ? w.before : w.after}
                about={beside ? w.medianOf(DRAWS) : ''}
                name={i === 0 ? 'largest-before' : 'largest-after'}
              />
            ))}
          {here && !beside && (
            <text x={8} y={bottom + 62}>
              {w.largestMedian(KEYS, DRAWS)}
            </text>
          )}
        </svg>
      )}
    </div>
  );
}

interface PanelsProps {
  readonly drawn: Scores;
  readonly by: Divisor;
  readonly width: number;
  readonly bottom: number;
}

function Panels({ drawn, by, width, bottom }: PanelsProps): JSX.Element {
  const d = drawn.settings.dK;
  const far = reach(d);
  const x = scaleLinear([-far, far], [12, width - 12]);
  return (
    <>
      {(['one', by] as const).map((which, i) => (
        <Panel drawn={drawn} which={which} after={i === 1} x={x} y={i * (HEAD + HIGH + 12)} />
      ))}
      <BottomAxis scale={x} at={bottom} ticks={width < 480 ? 5 : 9} title={words().parts.scaling.scoreAxis} />
    </>
  );
}

interface PanelProps {
  readonly drawn: Scores;
  readonly which: Divisor;
  readonly after: boolean;
  readonly x: ScaleLinear<number, number>;
  readonly y: number;
}

function Panel({ drawn, which, after, x, y }: PanelProps): JSX.Element | null {
  const w = words().parts.scaling;
  const { dK: d } = drawn.settings;
  const result = drawn.result[divisor.options.indexOf(which)];
  if (!result) return null;
  const [from = 0, to = 0] = x.range();
  const base = y + HEAD + HIGH;
  const band = valueOf('root', d);
  return (
    <g>
      <text x={from} y={y + 14}>
        <tspan font-weight="600">{after ? w.after : w.before}</tspan> <tspan font-style="italic">q · k</tspan>
        {after && <tspan>{which === 'one' ? ' / 1' : ' / '}</tspan>}
        {after && which !== 'one' && (
          <DrawnDk root={which === 'root'} then={`${w.comma}${w.divisor} ${digits(valueOf(which, d), 4)}`} />
        )}
      </text>
      <rect class="unit-band" x={x(-1)} width={x(1) - x(-1)} y={y + HEAD - 4} height={HIGH + 4} />
      <Bars result={result} range={rangeOf(which, d)} x={x} base={base} />
      {[-1, 1].flatMap((sign) => [
        <line class="unit-line" x1={x(sign)} x2={x(sign)} y1={y + HEAD - 4} y2={base} />,
        <line class="deviation-line" x1={x(sign * band)} x2={x(sign * band)} y1={y + HEAD - 4} y2={base} />,
      ])}
      <line class="base" x1={from} x2={to} y1={base} y2={base} />
      <text class="measured" x={to} y={y + HEAD + 34} text-anchor="end">
        {w.deviation}
      </text>
      <text
        class="measured number"
        x={to}
        y={y + HEAD + 54}
        text-anchor="end"
        data-name={after ? 'deviation-after' : 'deviation-before'}
        data-value={result.deviation}
      >
        {spread(result.deviation)}
      </text>
      <text class="halo" x={x(after ? 1 : band) + 5} y={y + HEAD + 8}>
        {after ? (
          '±1'
        ) : (
          <>
            ±<DrawnDk root then={` = ±${digits(band, 4)}`} />
          </>
        )}
      </text>
    </g>
  );
}

interface BarsProps {
  readonly result: HistogramResult;
  readonly range: number;
  readonly x: ScaleLinear<number, number>;
  readonly base: number;
}

/// As high as there is room, whatever the largest bin holds: scores below 0, and from 0 on.
function Bars({ result, range, x, base }: BarsProps): JSX.Element {
  const { counts } = result;
  const bin = (2 * range) / counts.length;
  const most = counts.reduce((a, b) => Math.max(a, b), 1);
  const outline = (first: number, end: number): string => {
    const steps = Array.from(counts.subarray(first, end), (count, i) => {
      const right = x(-range + (first + i + 1) * bin);
      return `V${(base - (HIGH * count) / most).toFixed(1)}H${right.toFixed(2)}`;
    });
    return `M${x(-range + first * bin).toFixed(2)},${base}${steps.join('')}V${base}Z`;
  };
  const middle = counts.length / 2;
  return (
    <>
      <path class="bars below" d={outline(0, middle)} />
      <path class="bars above" d={outline(middle, counts.length)} />
    </>
  );
}

interface LargestProps {
  readonly here: Here;
  readonly which: Divisor;
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly title: string;
  readonly about: string;
  readonly name: string;
}

function Largest({ here, which, x, y, width, title, about, name }: LargestProps): JSX.Element | null {
  const largest = here.result[here.settings.divisors.indexOf(which)]?.largest[MEDIAN];
  if (largest === undefined) return null;
  return (
    <g transform={`translate(${x},${y})`}>
      <text>{title}</text>
      <rect class="bar-frame" x={0.5} y={8} width={Math.max(0, width - 1)} height={14} />
      <rect class="bar" y={8} width={Math.max(1, largest * width)} height={14} />
      <text class="number" y={42} data-name={name} data-value={largest}>
        {percent(largest)}
      </text>
      <text class="about" y={60}>
        {about}
      </text>
    </g>
  );
}
