// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0

import {
  DerivativeFormula,
  Is,
  PowerOfE,
  RatioFormula,
  ShiftFormula,
  SoftmaxFormula,
} from '../../parts/weights/formulas';
import { M, Sqrt } from '../../ui/formula';

export const weights = {
  title: 'From scores to weights',
  score: 'score',
  raw: 'q · k',
  exp: 'exp',
  weight: 'weight',
  sum: 'sum',
  shares: {
    title: 'A row of scores becomes shares of one whole',
    text: (
      <>
        <p>
          Brief 1’s eight scores can be any numbers; attention is handed out in shares. Softmax raises e to each score,
          which makes it positive, and divides by the sum of all eight. (The largest score is subtracted first: it
          changes nothing, and e to it cannot overflow.)
        </p>
        <SoftmaxFormula />
        <p>
          The order stays. The temperature{' '}
          <M>
            <mi>T</mi>
          </M>{' '}
          divides every score once more: well below 1 the best CV takes all, far above 1 each comes near an eighth. The
          scaling by <Sqrt of="d_k" /> is a divisor of the same kind, only fixed beforehand.
        </p>
      </>
    ),
    more: (
      <>
        <p>
          In float32, exp overflows a little above 88. So the largest score is subtracted first: the largest exponent is
          then 0, and the weights are the same, as the next figure shows.
        </p>
        <p>
          How a weight answers to a score, at <Is of="T" to="1" />:
        </p>
        <DerivativeFormula />
        <p>
          Here δ is 1 where <Is of="i" to="j" />, else 0. When one weight is almost 1 and the rest almost 0, all these
          derivatives are almost 0: the row hardly answers to its scores any more.
        </p>
      </>
    ),
    label: 'Score, exponential and weight of each of the eight CVs',
    sentence: (how: string, best: string, share: string, rest: string, zeros: number) =>
      `${how}, ${best} takes ${share} of the attention; the other seven share ${rest}.` +
      (zeros === 0
        ? ''
        : ` ${zeros === 1 ? 'One weight is' : `${zeros} weights are`} too small for float32, and exactly 0.`),
  },
  odds: {
    title: 'One more in a score: e times the ratio',
    text: (
      <>
        <p>
          Add 1 to one score. Its weight’s ratio to every other weight grows by the factor{' '}
          <Is of="e" sign="≈" to="2.718" />, whatever the scores are; so do its odds against all the rest together. Only
          differences of scores count (here at <Is of="T" to="1" />
          ):
        </p>
        <RatioFormula />
        <p>
          Add the same to all scores, and no weight changes. On paper no weight is ever 0. In this engine one is, as
          soon as its score lies about 88 below the largest: <PowerOfE to="−88" /> is less than the smallest normal
          float32.
        </p>
      </>
    ),
    more: (
      <>
        <p>Why a number c added to all scores cancels:</p>
        <ShiftFormula />
        <p>
          Float32 has subnormal numbers below its normal ones, down to about <PowerOfE to="−103" />. Code that keeps
          them reaches 0 near 104 below the largest score, code that flushes them to 0 near 88. A weight of 0 gets no
          gradient.
        </p>
      </>
    ),
    label: 'Scores and weights after the addition; a tick marks each weight before it',
    one: 'Change the score of',
    other: 'compare with',
    addTo: 'Add to',
    to: { one: 'this score', all: 'all eight' },
    addend: 'Added',
    far: (by: string) => `try ${by}`,
    before: 'before',
    after: 'after',
    weightOf: (name: string) => `weight of ${name}`,
    written: 'The softmax of the changed score, written out',
    sum: 'sum',
    nothing: 'Nothing is added yet: before and after are the same.',
    allMoved: (add: string, moved: string) =>
      `${add} added to all eight scores: ` +
      (moved === ''
        ? 'every weight stays as it was, to the last bit.'
        : `no weight moves by more than ${moved}, which is rounding.`),
    atT: (t: string) => `At T = ${t}, where scores are divided by it first: `,
    grown: (add: string, name: string, was: string, is: string, other: string, factor: string) =>
      `${add} added to the score of ${name}: its weight goes from ${was} to ${is}, and its ratio to ${other} (as to every other) is ${factor} times what it was.`,
    alone: (add: string, name: string, was: string, is: string, other: string) =>
      `${add} added to the score of ${name}: its weight goes from ${was} to ${is}; that of ${other} is now too small for float32, and exactly 0.`,
    gone: (name: string, below: string) =>
      `The score of ${name} lies ${below} below the largest: its weight is not small but exactly 0, for float32 has no number that small.`,
  },
};
