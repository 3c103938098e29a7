// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// A longer title wins by length alone: the same titles ranked by dot product and by cosine.

import type { JSX } from 'preact';

import { briefs, titles } from '../../state/scene';
import { get, set } from '../../state/store';
import { Slider } from '../../ui/control';
import { Screen } from '../../ui/figure';
import { digits } from '../../ui/format';
import { words } from '../../words';
import { type Rankings, rankings } from './rankings';
import { stretch, stretched } from './settings';
import { SlopeGraph } from './slope_graph';

export function RankingsScreen(): JSX.Element {
  const { value: now, error } = rankings.value;
  const { parts, scene } = words();
  const w = parts.dot.rankings;
  return (
    <Screen
      id="dot-rankings"
      title={w.title}
      text={w.text}
      more={w.more}
      controls={<Picked />}
      sentence={now ? sentence(now) : ''}
      error={error}
      tables={() => (now ? [table(now)] : [])}
      fields={[stretched, stretch, briefs, titles]}
    >
      <Stretch />
      {now && (
        <SlopeGraph
          label={w.label}
          marked={now.cv}
          left={{ title: w.byDot, names: scene.titles, values: now.dots, order: now.byDot, write: fixed(2) }}
          right={{
            title: w.byCosine,
            names: scene.titlesShort,
            values: now.cosines,
            order: now.byCosine,
            most: 1,
            write: fixed(3),
          }}
        />
      )}
    </Screen>
  );
}

/// So many digits after the point, which stand under one another.
function fixed(n: number): (x: number) => string {
  return (x) => (Number.isNaN(x) ? '–' : x.toFixed(n).replace('-', '−'));
}

function Picked(): JSX.Element {
  const { parts, scene } = words();
  return (
    <label class="picked">
      <span>{parts.dot.rankings.which}</span>
      <select
        value={get(stretched)}
        onChange={({ currentTarget }) => set(stretched, stretched.read(currentTarget.value) ?? stretched.initial)}
      >
        {scene.titles.map((title, i) => (
          <option key={title} value={i + 1}>
            {title}
          </option>
        ))}
      </select>
    </label>
  );
}

function Stretch(): JSX.Element {
  const { parts, scene } = words();
  const w = parts.dot.rankings;
  return (
    <Slider
      field={stretch}
      label={w.times(scene.titlesShort[Number(get(stretched)) - 1] ?? '')}
      min={stretch.min}
      max={stretch.max}
      step={0.05}
      snaps={[{ at: 0.5 }, { at: 1, name: w.asWritten }, { at: 1.6 }, { at: 2 }, { at: 3 }]}
    />
  );
}

/// How the stretched title stands in both rankings, and how it stood.
function sentence({ cv, times, byDot, byCosine, plainByDot, dots, cosines, plain }: Rankings): string {
  const { parts, scene } = words();
  const of = (values: Float32Array, digit: number): string => digits(Number((values[cv] ?? NaN).toFixed(digit)), 4);
  const standing = {
    cv: scene.titlesShort[cv] ?? '',
    times: digits(times, 3),
    dot: of(dots, 2),
    dotRank: byDot.indexOf(cv) + 1,
    plainDot: of(plain.dots, 2),
    plainDotRank: plainByDot.indexOf(cv) + 1,
    cosine: of(cosines, 3),
    cosineRank: byCosine.indexOf(cv) + 1,
  };
  const w = parts.dot.rankings.sentence;
  if (Number.isNaN(cosines[cv])) return w.noDirection(standing.cv);
  return times === 1 ? w.plain(standing) : w.stretched(standing);
}

function table({ dots, cosines, lengths, byDot, byCosine }: Rankings) {
  const { parts, scene } = words();
  const w = parts.dot.rankings;
  const values = scene.titles.flatMap((_, cv) => [
    dots[cv] ?? NaN,
    byDot.indexOf(cv) + 1,
    cosines[cv] ?? NaN,
    byCosine.indexOf(cv) + 1,
    lengths[cv] ?? NaN,
  ]);
  return { name: w.label, rows: scene.titles, columns: [w.byDot, w.rank, w.byCosine, w.rank, '|k|'], values };
}
