// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0

import type { ComponentChildren } from 'preact';

import { Dk, ModelForm, RootDk, Tried } from '../../parts/training/formulas';

interface Rule {
  readonly small: number;
  readonly large: number;
  readonly enough: string;
  readonly times: string;
  readonly window: number;
}

interface End {
  readonly right: string;
  readonly loss: string;
}
interface Ends {
  readonly unscaled: End;
  readonly scaled: End;
}

interface Came {
  readonly d: number;
  readonly enough: string;
  readonly unscaled: number | undefined; // steps
  readonly scaled: number | undefined;
  readonly times: string;
  readonly verdict: 'alike' | 'slower' | 'faster' | 'never' | 'alone' | 'neither';
  readonly expected: boolean | undefined;
  readonly ends: Ends;
}

function steps({ enough, unscaled, scaled, times, verdict }: Came): string {
  const both = `Scaled, the model has ${enough} right after ${scaled} steps; unscaled, after ${unscaled}`;
  switch (verdict) {
    case 'slower':
      return `${both}, ${times} times as many: slower.`;
    case 'faster':
      return `${both}: faster.`;
    case 'alike':
      return `${both}: about equally fast.`;
    case 'never':
      return `Scaled, the model has ${enough} right after ${scaled} steps; unscaled, it does not come so far: it falls behind.`;
    case 'alone':
      return `Unscaled, the model has ${enough} right after ${unscaled} steps; scaled, it does not come so far.`;
    case 'neither':
      return `Neither model comes to ${enough} right.`;
  }
}

export const training = {
  title: 'Does scaling matter for learning?',
  text: ({ small, large, enough, times, window }: Rule) => (
    <>
      <p>
        Two models learn to recall: given eight pairs of symbols and one key, name its value. Start, batches and
        optimiser are the same; only one divides its scores by <RootDk />.
      </p>
      <p>
        <b>What we expect before it runs.</b> Up to <Dk /> = {small}, both learn about equally fast. From {large} on,
        the unscaled one takes longer: from the start, nearly all its weight lies on one pair, mostly a wrong one. In
        between, no guess.
      </p>
      <p>
        <b>How we judge.</b> We count the steps until {window} in a row average {enough} right. Slower means at least{' '}
        {times} times as many.
      </p>
    </>
  ),
  more: (
    <>
      <p>
        16 key symbols and 16 value symbols. The keys a<sub>j</sub> of a sequence all differ; x<sub>j</sub> is the pair,
        q asks for the key a, and y are the probabilities of the answers:
      </p>
      <ModelForm />
      <p>
        p are the weights of attention, one head. Embeddings have 32 numbers, so has a value. The loss is the
        cross-entropy of y; Adam (0.9, 0.999) on 32 fresh sequences a step. At first, embeddings are drawn from N(0, 1),
        projections from N(0, 1/inputs).
      </p>
      <p>
        Attention and its gradients are attention() and attention_backward(), the rest plain loops. Each point is the
        mean of 20 steps, on sequences that the models had not seen.
      </p>
      <Tried
        caption="Tried beforehand, seeds 1 to 8: how many times as many steps the unscaled model took"
        rate="learning rate"
      />
      <p>
        * In five of the eight (seven without relaxed SIMD), it did not come to 90 % right within 800 steps. Processors
        round relaxed SIMD in their own ways, so single runs may come out otherwise. This is one task and one small
        model; others may differ.
      </p>
    </>
  ),
  models: { one: 'unscaled', root: 'scaled' },
  measures: { loss: 'loss', right: 'right answers', largest: 'largest weight, mean' },
  stepAxis: 'steps',
  stepsRow: (steps: number) => `step ${steps}`,
  numbers: {
    steps: (enough: string) => `steps to ${enough} right`,
    first: 'largest weight at first',
    loss: 'loss at the end',
    right: 'right at the end',
  },
  rate: 'Learning rate of both',
  chart: 'Loss, right answers and the largest weight over the steps, scaled and unscaled.',
  settings: ({
    d,
    rate,
    seed,
    steps,
    stoppedAt,
  }: {
    readonly d: number;
    readonly rate: string;
    readonly seed: number;
    readonly steps: string;
    readonly stoppedAt: string | undefined;
  }) => (
    <>
      <Dk /> = {d}, learning rate {rate}, seed {seed}, {steps} steps of 32 sequences
      {stoppedAt && ` (stopped after ${stoppedAt})`}.
    </>
  ),
  checked: (difference: ComponentChildren, entries: ComponentChildren) => (
    <>
      {' '}
      The models’ gradients against finite differences, before the first step: {difference} apart at most, over{' '}
      {entries} entries.
    </>
  ),
  underWay: ({
    d,
    done,
    steps,
    scaled,
    unscaled,
  }: Ends & { readonly d: number; readonly done: number; readonly steps: number }) =>
    `d_k = ${d}, after ${done} of ${steps} steps: scaled, ${scaled.right} right, loss ${scaled.loss}; unscaled, ${unscaled.right} right, loss ${unscaled.loss}.`,
  came: (came: Came) =>
    `d_k = ${came.d}. ${steps(came)} ${
      came.expected === undefined
        ? 'Here we had made no guess.'
        : came.expected
          ? 'That is what we expected.'
          : 'That is not what we expected.'
    } In the last steps, ${came.ends.scaled.right} are right scaled and ${came.ends.unscaled.right} unscaled.`,
};
