// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Scores become shares of one whole.

import type { JSX } from 'preact';

import { Screen } from '../../ui/figure';
import { words } from '../../words';
import { reachOfScores, ScoreRows } from './score_rows';
import { share, type Weighting, weighting } from './weighting';
import { conditions, WeightingControls, weightingFields } from '../../ui/weighting_controls';

export function SharesScreen(): JSX.Element {
  const w = words().parts.weights;
  const { value, error } = weighting.value;
  return (
    <Screen
      id="weights"
      title={w.shares.title}
      text={w.shares.text}
      more={w.shares.more}
      controls={<WeightingControls />}
      sentence={value ? said(value) : words().ui.waiting}
      error={error}
      tables={() => (value ? [tableOf(value, w.shares.title)] : [])}
      fields={weightingFields}
    >
      {value && <ScoreRows label={w.shares.label} weighting={value} reach={reachOfScores(value.raw, value.scores)} />}
    </Screen>
  );
}

function said({ softmax, best, rest }: Weighting): string {
  const { parts, scene: names } = words();
  const zeros = softmax.weights.filter((weight) => weight === 0).length;
  return parts.weights.shares.sentence(
    conditions(),
    names.titlesShort[best] ?? '',
    share(softmax.weights[best] ?? NaN),
    share(rest),
    zeros,
  );
}

export function tableOf({ raw, scores, softmax }: Weighting, name: string) {
  const w = words();
  const { score, weight, raw: bare, exp } = w.parts.weights;
  const columns = [bare, score, exp, weight];
  const all = [raw, scores, softmax.exps, softmax.weights];
  const values = w.scene.titles.flatMap((_, j) => all.map((each) => each[j] ?? NaN));
  return { name, rows: w.scene.titles, columns, values };
}
