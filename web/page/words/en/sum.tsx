// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0

import { WeightedSumFormula } from '../../parts/weights/formulas';
import { M, Name } from '../../ui/formula';

export const sum = {
  title: 'The weighted sum of the values',
  weights: 'weights',
  values: 'skills of each CV',
  output: 'output',
  contributions: 'contributions',
  level: 'level',
  stack: {
    title: 'The output is an average, by weight',
    text: (
      <>
        <p>
          Each CV’s values <b class="v">v</b> are multiplied by its weight, and the products are added. Draw a CV at
          random, with the weights as chances: the output is the level of skill to expect.
        </p>
        <WeightedSumFormula />
        <p>
          In each bar, one segment is one CV’s contribution; the green bar below is their sum, the output. Edit a value
          and see how far it gets through.
        </p>
      </>
    ),
    more: (
      <p>
        The output is linear in the values: raise{' '}
        <M>
          <Name of="v_j" />
        </M>{' '}
        by 1, and the output rises by just{' '}
        <M>
          <Name of="a_j" />
        </M>
        . In the queries and keys it is not linear; softmax stands between. For all queries at once the sum is a product
        of matrices,{' '}
        <M>
          <Name of="Z" />
          <mo>=</mo>
          <Name of="A" />
          <Name of="V" />
        </M>
        .
      </p>
    ),
    label: 'For each skill, what each CV contributes, and the output',
    written: 'Write out the sum for',
    sentence: (skill: string, z: string, name: string, term: string, weight: string) =>
      `The output’s ${skill} is ${z}. The largest part comes from ${name}: ${term}, at a weight of ${weight}.`,
  },
  hull: {
    title: 'The output never leaves the hull',
    text: (
      <>
        <p>
          Two skills as axes, eight CVs as points, each as large as its weight. The green diamond is the output{' '}
          <b class="v">z</b>. Since weights are not negative and add up to 1, it stays inside the shape that a string
          pulled round the points would make.
        </p>
        <p>
          The dashed line is its way as the temperature runs from 0.1 to 10: from nearly the best CV’s own point towards
          the plain mean of all eight. Attention mixes what is there; it cannot go beyond it.
        </p>
      </>
    ),
    label: 'The CVs’ values as points, and the output inside their convex hull',
    across: 'across',
    up: 'up',
    sentence: (how: string, x: string, y: string, best: string, share: string) =>
      `${how}, the output is at ${x}, ${y}: inside the hull, drawn towards ${best} by ${share} of the weight.`,
  },
  swap: {
    title: 'Keys choose, values answer',
    text: (
      <>
        <p>
          Weights come from the brief and the titles alone: <b class="q">q</b> and <b class="k">k</b>. What the CVs
          bring, <b class="v">v</b>, has no say in them.
        </p>
        <p>
          So let two CVs exchange their skills and keep their titles. Not one weight moves, not in its last bit; the
          output does, as the same attention now meets other skills. A title that promises much is read first, whatever
          stands behind it.
        </p>
      </>
    ),
    label: 'Each skill of the output before and after the swap',
    one: 'Skills of',
    other: 'and of',
    swap: 'swap',
    back: 'swap back',
    before: 'before',
    after: 'now',
    notYet: (a: string, b: string) =>
      `Nothing is swapped yet. Swap the skills of ${a} and ${b}, and see which numbers move.`,
    done: (a: string, b: string, same: number, moves: readonly string[]) =>
      `${a} and ${b} have swapped skills. ${same} of 8 weights are the same to the last bit; the output moved: ${moves.join(', ')}.`,
  },
};
