// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// The output is an expectation: for each skill, what every CV contributes, and what these add up to.

import { scaleLinear } from 'd3-scale';
import type { JSX } from 'preact';
import { useRef } from 'preact/hooks';

import { column } from '../../state/matrix';
import * as scene from '../../state/scene';
import { get, set } from '../../state/store';
import { BottomAxis } from '../../ui/axis';
import { paint } from '../../ui/color';
import { Choice } from '../../ui/control';
import { Screen } from '../../ui/figure';
import { digits, percent } from '../../ui/format';
import { Grid, inHand } from '../../ui/grid';
import { tableOf } from '../../ui/table';
import { useWidth } from '../../ui/width';
import { WrittenSum } from '../../ui/written_sum';
import { words } from '../../words';
import { type Expectation, expectation } from './expectation';
import { written } from './settings';

const VALUES = 'sum-v';

export function StackScreen(): JSX.Element {
  const { parts, scene: names } = words();
  const w = parts.sum.stack;
  const { value, error } = expectation.value;
  const skill = Number(get(written));
  return (
    <Screen
      id="sum"
      title={w.title}
      text={w.text}
      more={w.more}
      controls={
        <Choice
          field={written}
          label={w.written}
          names={{ 0: names.skills[0], 1: names.skills[1], 2: names.skills[2], 3: names.skills[3] }}
        />
      }
      sentence={value ? said(value, skill) : words().ui.waiting}
      error={error}
      tables={() => (value ? tables(value) : [])}
      fields={[scene.skills, scene.swapped, written]}
    >
      {value && (
        <>
          <Matrices {...value} />
          <Stacks {...value} />
          <WrittenSum
            of={
              <>
                <b class="v">z</b> {names.skills[skill]}
              </>
            }
            names={names.titlesShort}
            a={value.weights}
            b={column(value.values, skill)}
            roles={['weight', 'v']}
            products={value.terms[skill] ?? []}
            total={value.z[skill] ?? NaN}
            write={(x) => digits(x)}
          />
        </>
      )}
    </Screen>
  );
}

/// The weights beside the values that they weigh.
function Matrices({ weights, values }: Expectation): JSX.Element {
  const { parts, scene: names } = words();
  const w = parts.sum;
  const hand = inHand.value;
  return (
    <div class="matrices-row">
      <Grid
        id="sum-a"
        name="a"
        about={w.weights}
        label={w.weights}
        role="weight"
        matrix={{ rows: weights.length, cols: 1, data: weights }}
        rows={names.titlesShort}
        columns={['a']}
        axes={[names.key, '']}
        lit={(i) => (hand?.grid === VALUES && hand.i === i ? 'lit' : undefined)}
      />
      <Grid
        id={VALUES}
        name="V"
        about={w.values}
        label={w.values}
        role="v"
        matrix={values}
        rows={names.titlesShort}
        columns={names.skillsShort}
        axes={[names.key, names.component]}
        field={scene.skills}
        lit={(i) => (hand?.grid === 'sum-a' && hand.i === i ? 'lit' : undefined)}
      />
    </div>
  );
}

const STACK = 24;
const OUTPUT = 10;
const GROUP = 72;
const TOP = 20; // of a group, for its name

function Stacks(value: Expectation): JSX.Element {
  const box = useRef<HTMLDivElement>(null);
  const width = useWidth(box);
  return <div ref={box}>{width > 0 && <Bars {...value} width={width} />}</div>;
}

function Bars({ weights, z, terms, width }: Expectation & { readonly width: number }): JSX.Element {
  const { parts, scene: names } = words();
  const stacks = terms.map(stacked);
  const ends = stacks.flat().flat();
  const x = scaleLinear([Math.min(0, ...ends), Math.max(5, ...ends)], [4, width - 48]);
  const height = GROUP * terms.length + 4;
  return (
    <svg class="chart stacks" width={width} height={height + 44} role="img" aria-label={parts.sum.stack.label}>
      <BottomAxis scale={x} at={height} title={parts.sum.level} grid={height} />
      {terms.map((term, s) => (
        <g
          key={s}
          class={get(written) === String(s) ? 'held' : ''}
          transform={`translate(0,${s * GROUP})`}
          onClick={() => set(written, String(s) as '0')}
        >
          <text class="name" y={14} x={x(0)}>
            {names.skills[s]}
          </text>
          {stacks[s]?.map(([from, to], j) => (
            <Segment
              key={j}
              x={x(Math.min(from, to))}
              width={Math.abs(x(to) - x(from))}
              j={j}
              skill={s}
              weight={weights[j] ?? NaN}
              term={term[j] ?? NaN}
            />
          ))}
          <rect
            class="output"
            x={Math.min(x(0), x(z[s] ?? 0))}
            y={TOP + STACK + 3}
            width={Math.abs(x(z[s] ?? 0) - x(0))}
            height={OUTPUT}
          />
          <text
            class="output-number"
            x={x(Math.max(0, z[s] ?? 0)) + 6}
            y={TOP + STACK + 3 + OUTPUT / 2}
            dominant-baseline="central"
            data-skill={s}
            data-value={z[s]}
          >
            {digits(z[s] ?? NaN)}
          </text>
        </g>
      ))}
      <path class="zero" d={`M${x(0)},${TOP - 4}V${height}`} />
    </svg>
  );
}

interface SegmentProps {
  readonly x: number;
  readonly width: number;
  readonly j: number;
  readonly skill: number;
  readonly weight: number;
  readonly term: number;
}

/// One CV's contribution. Its cell of V is in hand with it.
function Segment({ x, width, j, skill, weight, term }: SegmentProps): JSX.Element {
  const { titles, titlesShort } = words().scene;
  const colors = paint('weight', weight, 1);
  const name = width > 48 ? titlesShort[j] : width > 13 ? j + 1 : undefined;
  const hand = inHand.value;
  const held = hand?.grid === VALUES ? hand.i === j && hand.j === skill : hand?.grid === 'sum-a' && hand.i === j;
  return (
    <g
      class={held ? 'segment held' : 'segment'}
      onPointerEnter={() => (inHand.value = { grid: VALUES, i: j, j: skill })}
      onPointerLeave={() => (inHand.value = undefined)}
      data-term={`${skill}.${j}`}
      data-value={term}
    >
      <title>{`${titles[j]}: ${digits(term)} (${percent(weight, 1)})`}</title>
      <rect class="share" x={x} y={TOP} width={Math.max(0, width)} height={STACK} fill={colors?.background} />
      {name !== undefined && (
        <text
          x={x + width / 2}
          y={TOP + STACK / 2}
          text-anchor="middle"
          dominant-baseline="central"
          style={{ fill: colors?.color }}
        >
          {name}
        </text>
      )}
    </g>
  );
}

/// From where to where each term reaches: positive ones from 0 on to the right, negative ones to the left.
function stacked(terms: Float32Array): (readonly [number, number])[] {
  let [right, left] = [0, 0];
  return Array.from(terms, (term) => {
    const from = term < 0 ? left : right;
    if (term < 0) left += term;
    else right += term;
    return [from, from + term];
  });
}

function said({ weights, z, terms }: Expectation, skill: number): string {
  const { parts, scene: names } = words();
  const term = terms[skill] ?? new Float32Array();
  const largest = term.reduce((best, x, j) => (Math.abs(x) > Math.abs(term[best] ?? 0) ? j : best), 0);
  return parts.sum.stack.sentence(
    names.skills[skill] ?? '',
    digits(z[skill] ?? NaN),
    names.titlesShort[largest] ?? '',
    digits(term[largest] ?? NaN),
    percent(weights[largest] ?? NaN, 1),
  );
}

function tables({ weights, z, values, terms }: Expectation) {
  const { parts, scene: names } = words();
  const w = parts.sum;
  const { titles, skills } = names;
  return [
    { name: w.weights, rows: titles, columns: ['a'], values: weights },
    tableOf(w.values, titles, skills, values),
    { name: w.contributions, rows: skills, columns: titles, values: terms.flatMap((term) => Array.from(term)) },
    { name: w.output, rows: ['z'], columns: skills, values: z },
  ];
}
