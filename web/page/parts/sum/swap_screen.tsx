// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Two CVs exchange their skills: the weights stay, for keys choose; the output moves, for values answer.

import { scaleLinear } from 'd3-scale';
import type { JSX } from 'preact';
import { useRef } from 'preact/hooks';

import { live } from '../../state/live';
import { at, type Matrix } from '../../state/matrix';
import * as scene from '../../state/scene';
import { get, setAll } from '../../state/store';
import { BottomAxis } from '../../ui/axis';
import { Screen } from '../../ui/figure';
import { digits } from '../../ui/format';
import { Grid } from '../../ui/grid';
import { tableOf } from '../../ui/table';
import { useWidth } from '../../ui/width';
import { words } from '../../words';
import { chosen, Pair } from '../../ui/pick';
import { type Mean, meanOver } from './expectation';
import { pair } from './settings';

/// The same with two rows exchanged.
function exchanged(m: Matrix, a: number, b: number): Matrix {
  const from = (i: number) => (i === a ? b : i === b ? a : i);
  return { ...m, data: m.data.map((_, k) => at(m, from(Math.floor(k / m.cols)), k % m.cols)) };
}

interface Swap {
  readonly before: Mean;
  readonly after: Mean;
}

const swap = live(async (): Promise<Swap> => {
  const values = get(scene.skills);
  const former = get(scene.swapped) === 'yes' ? exchanged(values, ...chosen(pair)) : values;
  const [before, after] = await Promise.all([meanOver(former), meanOver(values)]);
  return { before, after };
});

function exchange(): void {
  const turned = exchanged(get(scene.skills), ...chosen(pair));
  setAll([
    [scene.skills, turned],
    [scene.swapped, get(scene.swapped) === 'yes' ? 'no' : 'yes'],
  ]);
}

export function SwapScreen(): JSX.Element {
  const { parts, scene: names } = words();
  const w = parts.sum.swap;
  const { value, error } = swap.value;
  return (
    <Screen
      id="swap"
      title={w.title}
      text={w.text}
      controls={
        <>
          <Pair fields={pair} labels={[w.one, w.other]} names={names.titlesShort} also={[[scene.swapped, 'no']]} />
          <button type="button" onClick={exchange}>
            {get(scene.swapped) === 'yes' ? w.back : w.swap}
          </button>
        </>
      }
      sentence={value ? said(value) : words().ui.waiting}
      error={error}
      tables={() => (value ? tables(value) : [])}
      fields={[scene.skills, scene.swapped, ...pair]}
    >
      {value && <Result {...value} />}
    </Screen>
  );
}

function two(before: Float32Array, after: Float32Array): Matrix {
  return { rows: 2, cols: before.length, data: Float32Array.of(...before, ...after) };
}

function Result({ before, after }: Swap): JSX.Element {
  const { parts, scene: names } = words();
  const w = parts.sum;
  const times = [w.swap.before, w.swap.after];
  const places = chosen(pair);
  return (
    <div class="matrices-row">
      <div class="whole-row">
        <Grid
          id="swap-a"
          name="a"
          about={w.weights}
          label={w.weights}
          role="weight"
          matrix={two(before.weights, after.weights)}
          rows={times}
          columns={names.titlesShort}
          axes={['', names.key]}
          lit={(_, j) => (places.includes(j) ? 'near' : undefined)}
        />
      </div>
      <Grid
        id="swap-v"
        name="V"
        about={w.values}
        label={w.values}
        role="v"
        matrix={get(scene.skills)}
        rows={names.titlesShort}
        columns={names.skillsShort}
        axes={[names.key, names.component]}
        field={scene.skills}
        lit={(i) => (places.includes(i) ? 'lit' : undefined)}
      />
      <div class="moves">
        <Grid
          id="swap-z"
          name="z"
          about={w.output}
          label={w.output}
          role="output"
          matrix={two(before.z, after.z)}
          rows={times}
          columns={names.skillsShort}
          axes={['', names.component]}
        />
        <Moves before={before.z} after={after.z} />
      </div>
    </div>
  );
}

const ROW = 32;

interface MovesProps {
  readonly before: Float32Array;
  readonly after: Float32Array;
}

/// Where each skill of the output was, and where it is now.
function Moves(props: MovesProps): JSX.Element {
  const box = useRef<HTMLDivElement>(null);
  const width = useWidth(box);
  return <div ref={box}>{width > 0 && <MoveLines {...props} width={width} />}</div>;
}

function MoveLines({ before, after, width }: MovesProps & { readonly width: number }): JSX.Element {
  const { parts, scene: names } = words();
  const x = scaleLinear([Math.min(0, ...before, ...after), Math.max(5, ...before, ...after)], [112, width - 10]);
  const height = ROW * before.length;
  return (
    <svg class="chart moves-chart" width={width} height={height + 44} role="img" aria-label={parts.sum.swap.label}>
      <BottomAxis scale={x} at={height} title={parts.sum.level} ticks={5} grid={height} />
      {names.skills.map((name, s) => {
        const [from, to] = [x(before[s] ?? NaN), x(after[s] ?? NaN)];
        return (
          <g key={s} transform={`translate(0,${(s + 0.5) * ROW})`}>
            <text dominant-baseline="central">{name}</text>
            <path class="move" d={`M${from},0H${to}`} />
            <path class="diamond hollow" d="M-7,0l7,-7l7,7l-7,7Z" transform={`translate(${from},0)`} />
            <path class="diamond moving" d="M-7,0l7,-7l7,7l-7,7Z" transform={`translate(${to},0)`} />
          </g>
        );
      })}
    </svg>
  );
}

function said({ before, after }: Swap): string {
  const { parts, scene: names } = words();
  const w = parts.sum.swap;
  const [a = '', b = ''] = chosen(pair).map((place) => names.titlesShort[place] ?? '');
  if (get(scene.swapped) === 'no') return w.notYet(a, b);
  const same = after.weights.filter((weight, j) => Object.is(weight, before.weights[j])).length;
  const moves = names.skills.map((name, s) => `${name} ${digits(before.z[s] ?? NaN)} → ${digits(after.z[s] ?? NaN)}`);
  return w.done(a, b, same, moves);
}

function tables({ before, after }: Swap) {
  const { parts, scene: names } = words();
  const w = parts.sum;
  const times = [w.swap.before, w.swap.after];
  return [
    tableOf(w.weights, times, names.titles, two(before.weights, after.weights)),
    tableOf(w.output, times, names.skills, two(before.z, after.z)),
    tableOf(w.values, names.titles, names.skills, get(scene.skills)),
  ];
}
