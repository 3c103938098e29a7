// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// All pairs at once: S = Q K^T, laid out so that a score stands where its row of Q meets its column of K^T.

import { useSignalEffect } from '@preact/signals';
import type { JSX } from 'preact';

import { at, transposed } from '../../state/matrix';
import { briefs, titles } from '../../state/scene';
import { get } from '../../state/store';
import { Screen } from '../../ui/figure';
import { digits } from '../../ui/format';
import { Grid, inHand } from '../../ui/grid';
import { tableOf } from '../../ui/table';
import { WrittenSum } from '../../ui/written_sum';
import { words } from '../../words';
import { chosen, type Pairs, pairs } from './pairs';

const [Q, KT, S] = ['dot-q', 'dot-kt', 'dot-s'];

export function PairsScreen(): JSX.Element {
  const { value: now, error } = pairs.value;
  const { parts, scene } = words();
  const w = parts.dot.pairs;
  useSignalEffect(() => {
    const hand = inHand.value;
    if (hand?.grid === S) chosen.value = [hand.i, hand.j];
  });
  const q = get(briefs);
  const kt = transposed(get(titles));
  const [i, j] = chosen.value;
  const hand = inHand.value;
  const scores = now?.scores ?? { rows: q.rows, cols: kt.cols, data: new Float32Array(q.rows * kt.cols) };
  return (
    <Screen
      id="dot-pairs"
      title={w.title}
      text={w.text}
      sentence={now ? sentence(now) : ''}
      error={error}
      tables={() => [
        tableOf('Q', scene.briefs, scene.features, q),
        tableOf('Kᵀ', scene.features, scene.titles, kt),
        ...(now ? [tableOf('S', scene.briefs, scene.titles, now.scores)] : []),
      ]}
      fields={[briefs, titles]}
    >
      <div class="pairs">
        <Grid
          id={Q}
          name="Q"
          about={w.aboutQ}
          label={w.labelQ}
          role="q"
          matrix={q}
          rows={scene.briefsShort}
          columns={scene.featuresShort}
          axes={[scene.query, scene.component]}
          field={briefs}
          lit={(row) => (row === i ? 'lit' : undefined)}
        />
        <Grid
          id={KT}
          name={<>K&#x1d40;</>}
          about={w.aboutK}
          label={w.labelK}
          role="k"
          matrix={kt}
          rows={scene.featuresShort}
          columns={scene.titlesShort}
          axes={[scene.component, scene.key]}
          field={titles}
          entry={(row, column) => [column, row]}
          lit={(_, column) => (column === j ? 'lit' : undefined)}
        />
        <Grid
          id={S}
          name={<>S = QK&#x1d40;</>}
          about={w.aboutS}
          label={w.labelS}
          role="score"
          matrix={scores}
          rows={scene.briefsShort}
          columns={scene.titlesShort}
          axes={[scene.query, scene.key]}
          lit={(row, column) => {
            if (row === i && column === j) return 'lit';
            const fed = (hand?.grid === Q && row === hand.i) || (hand?.grid === KT && column === hand.j);
            return fed ? 'near' : undefined;
          }}
          shown={() => now !== undefined}
        />
        <div class="pairs-sum">
          <p class="pairs-pair">
            <span class="mark-q">{scene.briefs[i]}</span> × <span class="mark-k">{scene.titles[j]}</span>
          </p>
          {now && (
            <WrittenSum
              of={
                <>
                  s
                  <sub>
                    {now.i + 1}
                    {now.j + 1}
                  </sub>
                </>
              }
              names={scene.features}
              a={now.a}
              b={now.b}
              roles={['q', 'k']}
              products={now.products}
              total={at(now.scores, now.i, now.j)}
            />
          )}
        </div>
      </div>
    </Screen>
  );
}

function sentence({ scores, best, i, j }: Pairs): string {
  const { parts, scene } = words();
  const score = (row: number, column: number): string => digits(at(scores, row, column), 4);
  const [name, other] = [scene.briefsShort, scene.titlesShort];
  return parts.dot.pairs.sentence(
    name[i] ?? '',
    other[j] ?? '',
    score(i, j),
    best.map((column, row) => [name[row] ?? '', other[column] ?? '', score(row, column)] as const),
  );
}
