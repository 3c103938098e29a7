// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0

import type { ComponentChildren } from 'preact';

import {
  Dk,
  Gradient,
  GradientOfQuery,
  Jacobian,
  JacobianForm,
  NormForm,
  NormOfGradient,
  NormOfJ,
  RootDk,
  Score,
  VarianceDivided,
  VarianceOfScore,
  VarianceOfTerm,
} from '../../parts/scaling/formulas';

/// What the sentences under the figures are made of.
interface ScoresSaid {
  readonly by: 'root' | 'one' | 'dk';
  readonly d: number;
  readonly divisor: string;
  readonly before: string; // standard deviations
  readonly after: string;
  readonly keys: number;
  readonly largestBefore: string; // weights, medians
  readonly largestAfter: string;
  readonly even: string; // a weight where all are equal
}

interface GradientSaid extends RibbonSaid {
  readonly little: boolean; // the weakest rows, unscaled, beside scaled
  readonly much: boolean; // the strongest
}

interface RibbonSaid {
  readonly d: number;
  readonly bare: readonly string[]; // [percentile]
  readonly scaled: readonly string[];
}

export const scaling = {
  title: (
    <>
      Why scores are divided by <RootDk />
    </>
  ),
  mostModels: 'most models',
  divideBy: 'Scores divided by',
  divisor: 'divisor',
  one: '1 (not at all)',
  before: 'before',
  after: 'after',
  deviation: 'standard deviation',
  median: 'median',
  percentile: 'percentile',
  onCvs: 'See scaling off on the CVs',

  scoresTitle: 'More components, wider scores',
  scoresText: (
    <>
      <p>
        A score is a sum of <Dk /> products. Take vectors at random, all components independent, with mean 0 and
        variance 1: each product adds 1 to the variance, so the standard deviation of <Score /> is <RootDk />.
      </p>
      <p>
        Softmax looks at differences: 8 more in a score is about 3000 times the weight. Divided by <RootDk />, scores of
        any <Dk /> spread alike.
      </p>
      <p>
        Trained vectors are neither independent nor of variance 1; these show what the number of components alone does.
      </p>
    </>
  ),
  scoresMore: (
    <>
      <p>
        The components are independent with mean 0 and variance 1, so a product has mean 0, and its variance is the mean
        of its square:
      </p>
      <VarianceOfTerm />
      <p>
        The <Dk /> products are independent of each other, so their variances add up:
      </p>
      <VarianceOfScore />
      <p>A number divided by a varies less by the square of a:</p>
      <VarianceDivided />
      <p>
        So dividing by <RootDk /> gives variance 1. Dividing by <Dk /> gives 1/
        <Dk />: the more components, the more alike all weights become, and attention comes near a plain average.
      </p>
    </>
  ),
  scoresChart: 'Two histograms of random scores over one axis, before and after the division.',
  scoreAxis: 'score',
  largestOf: (keys: number) => `largest of ${keys} weights`,
  largestMedian: (keys: number, draws: number) => `largest of ${keys} weights (median of ${draws})`,
  medianOf: (draws: number) => `median of ${draws}`,
  scoresSettings: (d: number, done: string, of: string | undefined, seed: number) => (
    <>
      <Dk /> = {d}, {done} {of && `of ${of} `}scores, seed {seed}; each histogram as high as there is room.
      Measured{' '}
    </>
  ),
  mean: 'mean',
  variance: 'variance',
  measuredOf: (name: string) => `${name}: `,
  comma: ', ',
  between: '; ',
  end: '.',
  scoresSentence: ({ by, d, divisor, before, after, keys, largestBefore, largestAfter, even }: ScoresSaid) =>
    by === 'one'
      ? `With d_k = ${d} and no scaling, scores have a standard deviation of ${before}: in half of all draws, the largest of ${keys} weights is ${largestBefore} or more.`
      : `With d_k = ${d}, scores have a standard deviation of ${before}, and the largest of ${keys} weights is ${largestBefore} (median). Divided by ${by === 'root' ? '√d_k' : 'd_k'} = ${divisor}, the standard deviation is ${after} and the largest weight ${largestAfter}${by === 'dk' ? `, where equal weights would be ${even} each` : ''}.`,
  scoresTable: (d: number) => `Scores, d_k = ${d}`,
  scoresColumns: ['divisor', 'mean', 'variance', 'standard deviation', 'smallest', 'largest', 'scores beyond the axis'],
  largestColumn: (p: number) => `largest weight, ${p} %`,
  countsTable: (name: string) => `Histogram, ${name}`,
  counts: 'scores',

  ribbonTitle: 'How softmax answers: in many rows hardly, in some strongly',
  ribbonText: (
    <>
      <p>
        How strongly do the weights answer when a score moves? That is softmax’s own derivative, <Jacobian />; shown is
        its size <NormOfJ /> in 400 random rows of 64 keys.
      </p>
      <p>
        At small <Dk />, unscaled rows answer even more than scaled ones; then the median sinks, and at 1024 most rows
        hardly answer. But where the two largest scores nearly tie, <NormOfJ /> stays close to 0.5, its maximum. Scaled,
        rows are alike at every <Dk />. It is not yet the gradient that a model learns by: there the keys come in.
      </p>
    </>
  ),
  ribbonMore: (
    <>
      <p>For the weights p of a row, with scores s as softmax receives them:</p>
      <JacobianForm />
      <p>Its Frobenius norm, the root of the sum of all squares in it, needs only sums of powers:</p>
      <NormForm />
      <p>
        One weight of 1 and the rest 0 give 1 − 2 + 1 = 0. Two weights of ½ give ½ − ½ + ¼, and so <NormOfJ /> = ½.
      </p>
      <p>
        Read the ribbons so: of 100 rows, 90 lie in the pale band and 50 in the dark one. All components are
        independent, with mean 0 and variance 1; a trained model’s are not.
      </p>
    </>
  ),
  ribbonChart: 'Percentiles against d_k from 1 to 1024, unscaled and scaled.',
  measure: 'Show',
  measures: { norm: 'size of the derivative', largest: 'largest weight' },
  measureAxis: {
    norm: 'size of the derivative ‖J‖',
    largest: 'largest weight',
    gradient: 'what reaches the query ‖∂p/∂q‖',
  },
  unscaled: 'unscaled',
  scaled: 'scaled by',
  ribbonSettings: (keys: number, draws: number, stoppedAt: string | undefined, seed: number) => (
    <>
      {keys} keys, {draws} draws for each <Dk /> and ribbon{stoppedAt && ` (stopped at ${stoppedAt})`}, seed {seed};
      independent components of mean 0 and variance 1.
    </>
  ),
  /// A number as it stands in a sentence.
  inWords: (number: string) => number.replace('< ', 'less than ').replace('> ', 'more than '),
  ribbonSentence: {
    norm: ({ d, bare, scaled }: RibbonSaid) =>
      `At d_k = ${d}, the median ‖J‖ is ${bare[2]} unscaled and ${scaled[2]} scaled. Unscaled, half of the rows lie between ${bare[1]} and ${bare[3]}, and one in twenty is above ${bare[4]}; scaled, half lie between ${scaled[1]} and ${scaled[3]}.`,
    largest: ({ d, bare, scaled }: RibbonSaid) =>
      `At d_k = ${d}, the largest weight is ${bare[2]} unscaled and ${scaled[2]} scaled (medians). Unscaled, half of the rows have it between ${bare[1]} and ${bare[3]}; scaled, between ${scaled[1]} and ${scaled[3]}.`,
  },

  gradientTitle: 'Do gradients vanish without scaling? Half right',
  gradientText: (
    <>
      <p>
        A model learns by what reaches the query: how the weights answer when q moves, <Gradient />. Shown is its size{' '}
        <NormOfGradient />, from the engine’s own backward pass; the axis is logarithmic.
      </p>
      <p>
        “Scaling stabilises” is right: scaled, rows are alike at every <Dk />. “Without it, gradients vanish” is half
        right. Keys are about <RootDk /> long and multiply softmax’s derivative: as <Dk /> grows, more and more rows
        receive next to nothing, while the rare near-ties receive more and more.
      </p>
    </>
  ),
  gradientMore: (little: number, much: number) => (
    <>
      <p>By the chain rule, with scores divided by a:</p>
      <GradientOfQuery />
      <p>
        <NormOfGradient /> is its Frobenius norm, the root of the sum of the squares of all 64 · <Dk /> entries. Other
        accounts take other norms and get other figures.
      </p>
      <p>
        With the identity for values, the output of attention is p; a row of the identity as the output’s gradient then
        asks for a row of <Gradient />: one call of attention_backward(), in float32. To check it, four components of q
        are moved a little in every tenth row, and attention in float64 says how p changes; differences are shares of
        the largest entry compared in that row.
      </p>
      <p>
        “Next to nothing”: the 5th percentile is less than 1/{little} of the scaled one. “Far more”: the 95th is more
        than {much} times the scaled one.
      </p>
    </>
  ),
  checked: (difference: ComponentChildren, entries: ComponentChildren) => (
    <>
      {' '}
      Backward pass against finite differences of the forward pass: {difference} apart at most, over {entries} entries.
    </>
  ),
  gradientSentence: ({ d, bare, scaled, little, much }: GradientSaid) =>
    `At d_k = ${d} unscaled, ‖∂p/∂q‖ is below ${bare[0]} in one row of twenty, ${bare[2]} in the median, and above ${bare[4]} in one of twenty; scaled, the three are ${scaled[0]}, ${scaled[2]} and ${scaled[4]}. ${
      little && much
        ? 'Without scaling, the weakest twentieth receives next to nothing, the strongest far more than with it.'
        : little
          ? 'Without scaling, the weakest twentieth receives next to nothing; the strongest, not far more than with it.'
          : much
            ? 'Without scaling, the strongest twentieth receives far more than with it; even the weakest receives something.'
            : 'Here, scaling changes neither end much.'
    }`,
};
