// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// One more in a score multiplies the weight's ratio to every other by e; the same added to all changes nothing.

import type { JSX } from 'preact';

import { temperature } from '../../state/scene';
import { get, set } from '../../state/store';
import { reachOf } from '../../ui/color';
import { Choice, Slider } from '../../ui/control';
import { Screen } from '../../ui/figure';
import { digits } from '../../ui/format';
import { words } from '../../words';
import { type Comparison, comparison } from './comparison';
import { choose, chosen, Pair } from '../../ui/pick';
import { reachOfScores, ScoreRows } from './score_rows';
import { addend, addTo, one, other } from './settings';
import { tableOf } from './shares_screen';
import { share, type Weighting } from './weighting';

const SNAPS = [-5, -1, 0, 1, 5].map((at) => ({ at }));
const FAR = -120; // whatever the other scores are, exp is 0 in float32
const FIELDS = [one, other] as const;

export function OddsScreen(): JSX.Element {
  const { parts, scene } = words();
  const w = parts.weights.odds;
  const { value, error } = comparison.value;
  return (
    <Screen
      id="odds"
      title={w.title}
      text={w.text}
      more={w.more}
      controls={
        <>
          <Pair fields={FIELDS} labels={[w.one, w.other]} names={scene.titlesShort} />
          <Choice field={addTo} label={w.addTo} names={w.to} />
          <button type="button" onClick={() => set(addend, FAR)}>
            {w.far(digits(FAR))}
          </button>
          <Slider field={addend} label={w.addend} min={-5} max={5} step={0.1} snaps={SNAPS} />
        </>
      }
      sentence={value ? said(value) : words().ui.waiting}
      error={error}
      tables={() => (value ? [tableOf(value.before, w.before), tableOf(value.after, w.after)] : [])}
      fields={[one, other, addend, addTo]}
    >
      {value && (
        <>
          <ScoreRows
            label={w.label}
            weighting={value.after}
            reach={reachOfScores(value.before.scores, value.after.scores)}
            before={value.before.softmax.weights}
            marked={chosen(FIELDS)}
            onRow={(j) => choose({ fields: FIELDS }, 0, j)}
          />
          <Ratios {...value} />
          <Written {...value} />
        </>
      )}
    </Screen>
  );
}

/// Both weights and their ratio, before and after.
function Ratios({ before, after, factor }: Comparison): JSX.Element {
  const { parts, scene } = words();
  const w = parts.weights;
  const names = chosen(FIELDS).map((place) => scene.titlesShort[place] ?? '');
  const each = [before, after];
  return (
    <table class="compare">
      <thead>
        <tr>
          <th scope="col">{w.weight}</th>
          <th scope="col">{w.odds.before}</th>
          <th scope="col">{w.odds.after}</th>
          <td />
        </tr>
      </thead>
      <tbody>
        {chosen(FIELDS).map((place, at) => (
          <tr key={at}>
            <th scope="row">{names[at]}</th>
            {each.map(({ softmax }, i) => (
              <td key={i} data-value={softmax.weights[place]}>
                {share(softmax.weights[place] ?? NaN)}
              </td>
            ))}
            <td />
          </tr>
        ))}
        <tr>
          <th scope="row">{names.join(' : ')}</th>
          {each.map(ratio).map((x, i) => (
            <td key={i} data-value={x}>
              {Number.isFinite(x) ? digits(x, 4) : '–'}
            </td>
          ))}
          <td data-value={get(addTo) === 'one' ? factor : 1}>
            {get(addTo) === 'all' ? (
              '× 1'
            ) : (
              <>
                × e<sup>{exponent()}</sup>
                {held(factor) && ` = × ${digits(factor, 4)}`}
              </>
            )}
          </td>
        </tr>
      </tbody>
    </table>
  );
}

/// Of the weights of the two that are compared; not finite where float32 has lost the second.
function ratio({ softmax: { weights } }: Weighting): number {
  const [a, b] = chosen(FIELDS);
  return (weights[a] ?? NaN) / (weights[b] ?? NaN);
}

function exponent(): string {
  const t = get(temperature);
  return t === 1 ? digits(get(addend), 4) : `${digits(get(addend), 4)}/${digits(t, 4)}`;
}

/// Whether float32 could hold the factor and its inverse.
function held(factor: number): boolean {
  return Number.isFinite(factor) && factor > 0;
}

/// The softmax of the score that changes: exponential, sum, quotient.
function Written({ after: { scores, softmax } }: Comparison): JSX.Element {
  const w = words().parts.weights.odds;
  const j = get(one);
  const t = get(temperature);
  const power = (s: number, max: number) => {
    const difference = `${digits(s)} − ${max < 0 ? `(${digits(max)})` : digits(max)}`;
    return t === 1 ? `exp(${difference})` : `exp((${difference}) / ${digits(t, 4)})`;
  };
  const [e, s, weight] = [softmax.exps[j] ?? NaN, scores[j] ?? NaN, softmax.weights[j] ?? NaN];
  return (
    <ul class="written" aria-label={w.written}>
      <li>max = {digits(softmax.max)}</li>
      <li>
        {power(s, softmax.max)} = {digits(e)}
      </li>
      <li>
        {w.sum} = {Array.from(softmax.exps, (x) => digits(x)).join(' + ')} = {digits(softmax.sum, 4)}
      </li>
      <li>
        {w.weightOf(words().scene.titlesShort[j] ?? '')} = {digits(e)} / {digits(softmax.sum, 4)} ={' '}
        <b>{share(weight)}</b>
      </li>
    </ul>
  );
}

function said({ before, after, factor }: Comparison): string {
  const { parts, scene } = words();
  const w = parts.weights.odds;
  const add = digits(get(addend), 4);
  if (get(addend) === 0) return w.nothing;
  if (get(addTo) === 'all') {
    const moved = reachOf(after.softmax.weights.map((x, j) => x - (before.softmax.weights[j] ?? NaN)));
    return w.allMoved(add, moved === 0 ? '' : digits(moved, 2));
  }
  const a = get(one);
  const [name, rival] = [scene.titlesShort[a] ?? '', scene.titlesShort[chosen(FIELDS)[1]] ?? ''];
  const [was = NaN, is = NaN] = [before, after].map(({ softmax }) => softmax.weights[a] ?? NaN);
  if (is === 0) return w.gone(name, digits(after.softmax.max - (after.scores[a] ?? NaN)));
  const change = [add, name, share(was), share(is), rival] as const;
  const t = get(temperature) === 1 ? '' : w.atT(digits(get(temperature), 4));
  return t + (Number.isFinite(ratio(after)) && held(factor) ? w.grown(...change, digits(factor)) : w.alone(...change));
}
