// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Eight CVs, a row each: the score as a bar from 0, its exponential, and the weight as a share of a whole; below them what
// these add up to. On narrow screens a row takes two lines.

import { scaleLinear } from 'd3-scale';
import type { JSX } from 'preact';
import { useRef } from 'preact/hooks';

import * as scene from '../../state/scene';
import { temperature } from '../../state/scene';
import { get } from '../../state/store';
import { paint } from '../../ui/color';
import { digits, percent } from '../../ui/format';
import { useWidth } from '../../ui/width';
import { words } from '../../words';
import type { Weighting } from './weighting';

export interface ScoreRowsProps {
  readonly label: string;
  readonly weighting: Weighting;
  /// The ends of the axis of scores.
  readonly reach: readonly [number, number];
  /// Weights to compare with: a tick each.
  readonly before?: Float32Array;
  readonly marked?: readonly number[];
  /// A shortcut of the pointer's; keys need a way of their own.
  readonly onRow?: (j: number) => void;
}

/// Columns, from left to right, in px.
function layout(width: number) {
  const wide = width >= 560;
  const name = wide ? 216 : 0;
  const exp = wide ? 104 : 0;
  const score = name + (width - name - exp) * (wide ? 0.36 : 0.44);
  return {
    wide,
    score: [name, score - 48] as const,
    exp: wide ? score + exp - 16 : width,
    weight: [score + exp + (wide ? 0 : 8), width - 68] as const,
    top: 44,
    row: wide ? 28 : 46,
    bar: wide ? 6 : 24, // from a row's top
    name: wide ? 18 : 15,
  };
}
const BAR = 16;

/// What the scores are, for an SVG text.
function ScoreFormula(): JSX.Element {
  const how = get(scene.scaling);
  return (
    <tspan class="formula">
      {how === 'off' ? 'q·k' : how === 'factor' ? `q·k / ${digits(get(scene.factor), 4)}` : 'q·k / √d'}
      {how === 'sqrt' && (
        <tspan dy={3} font-size={9}>
          k
        </tspan>
      )}
    </tspan>
  );
}

function expFormula(): string {
  return get(temperature) === 1 ? 'exp(s − max)' : 'exp((s − max)/T)';
}

export function ScoreRows(props: ScoreRowsProps): JSX.Element {
  const box = useRef<HTMLDivElement>(null);
  const width = useWidth(box);
  return <div ref={box}>{width > 0 && <Rows {...props} width={width} />}</div>;
}

function Rows(props: ScoreRowsProps & { readonly width: number }): JSX.Element {
  const { width, label, reach, before, marked = [], onRow } = props;
  const { scores, softmax, total } = props.weighting;
  const w = words();
  const at = layout(width);
  const x = scaleLinear(reach, at.score);
  const share = scaleLinear([0, 1], at.weight);
  const y = (j: number) => at.top + j * at.row;
  const end = y(scores.length);
  const sumLine = at.wide ? at.bar + BAR / 2 : at.name - 5;
  const height = end + (at.wide ? 32 : 48);
  return (
    <svg class="chart rows" width={width} height={height} role="img" aria-label={label}>
      <g class="axis">
        <text x={at.score[0]} y={at.wide ? 12 : 30}>
          {w.parts.weights.score} <ScoreFormula />
        </text>
        <text class="formula" x={at.exp} y={12} text-anchor="end">
          {expFormula()}
        </text>
        <text x={at.weight[0]} y={at.wide ? 12 : 30}>
          {w.parts.weights.weight}
        </text>
        {at.wide && (
          <text x={x(0)} y={at.top - 10} text-anchor="middle">
            0
          </text>
        )}
      </g>
      {w.scene.titles.map((name, j) => {
        const s = scores[j] ?? NaN;
        const weight = softmax.weights[j] ?? NaN;
        const was = before?.[j];
        const number = { 'data-row': j, 'dominant-baseline': 'central', y: at.bar + BAR / 2 } as const;
        return (
          <g
            key={j}
            class={marked.includes(j) ? 'row marked' : 'row'}
            transform={`translate(0,${y(j)})`}
            onClick={onRow && (() => onRow(j))}
          >
            <rect class="band" x={-8} width={width + 16} height={at.row} />
            <text class="name" y={at.name}>
              {name}
            </text>
            <path class="zero" d={`M${x(0)},${at.bar - 6}v${BAR + 12}`} />
            <rect
              class={s < 0 ? 'below' : 'above'}
              x={Math.min(x(0), x(s))}
              y={at.bar}
              width={Math.abs(x(s) - x(0))}
              height={BAR}
            />
            <text x={Math.max(x(0), x(s)) + 6} {...number} data-number="score" data-value={s}>
              {digits(s)}
            </text>
            <text
              {...number}
              x={at.exp}
              y={at.wide ? number.y : at.name - 5}
              text-anchor="end"
              data-number="exp"
              data-value={softmax.exps[j]}
            >
              {digits(softmax.exps[j] ?? NaN)}
            </text>
            <rect class="track" x={share(0)} y={at.bar} width={share(1) - share(0)} height={BAR} />
            {weight > 0 && (
              <rect
                class="share"
                x={share(0)}
                y={at.bar}
                width={Math.max(1, share(weight) - share(0))}
                height={BAR}
                fill={paint('weight', weight, 1)?.background}
              />
            )}
            {was !== undefined && <path class="tick" d={`M${share(was)},${at.bar - 4}v${BAR + 8}`} />}
            <text x={width} text-anchor="end" {...number} data-number="weight" data-value={weight}>
              {percent(weight, 1)}
            </text>
          </g>
        );
      })}
      <g class="sums" transform={`translate(0,${end + 3})`} dominant-baseline="central">
        <path class="rule" d={`M0,-2H${width}`} />
        <text y={sumLine}>{w.parts.weights.sum}</text>
        <text x={at.exp} y={sumLine} text-anchor="end" data-number="sum" data-value={softmax.sum}>
          {digits(softmax.sum, 4)}
        </text>
        <Whole weights={softmax.weights} share={share} y={at.bar} />
        <text x={width} y={at.bar + BAR / 2} text-anchor="end" data-number="total" data-value={total}>
          {percent(Number(total.toFixed(5)))}
        </text>
      </g>
    </svg>
  );
}

/// All shares side by side: the whole bar.
function Whole({
  weights,
  share,
  y,
}: {
  readonly weights: Float32Array;
  readonly share: (w: number) => number;
  readonly y: number;
}): JSX.Element {
  let from = 0;
  return (
    <>
      {Array.from(weights, (weight, j) => {
        const start = share(from);
        from += weight;
        const fill = paint('weight', weight, 1)?.background;
        return (
          <rect
            key={j}
            class="share"
            x={start}
            y={y}
            width={Math.max(0, share(from) - start)}
            height={BAR}
            fill={fill}
          />
        );
      })}
    </>
  );
}

/// The ends of an axis that holds all of these, and 0.
export function reachOfScores(...all: readonly Float32Array[]): [number, number] {
  const finite = all.flatMap((scores) => Array.from(scores)).filter(Number.isFinite);
  return [Math.min(0, ...finite), Math.max(0, ...finite)];
}
