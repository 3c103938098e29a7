// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0

import * as formulas from '../../parts/dot/formulas';

interface Standing {
  readonly cv: string;
  readonly times: string;
  readonly dot: string;
  readonly dotRank: number;
  readonly plainDot: string;
  readonly plainDotRank: number;
  readonly cosine: string;
  readonly cosineRank: number;
}

const NTH = ['', 'first', 'second', 'third', 'fourth', 'fifth', 'sixth', 'seventh', 'eighth'];

export const dot = {
  title: 'The dot product: look for what matters',
  plane: 'The plane of two features, with the arrows q and k',
  tip: (letter: string) => `tip of ${letter}`,
  arrows: {
    title: 'One brief, eight CVs',
    text: (
      <>
        <p>
          On the desk lie a brief, “senior AI engineer: Transformer, recommendation a plus”, and eight CVs. You cannot
          read them all, so you look for what matters: that is attention. The brief, what is sought, is the{' '}
          <b class="q">query&nbsp;q</b>. A CV’s title, what it is found by, is its <b class="k">key&nbsp;k</b>. What the
          person really brings is the <b class="v">value&nbsp;v</b>, and comes later.
        </p>
        <p>
          With two features, brief and title are arrows. Multiply feature by feature and add: this dot product is the
          score. Drag a tip, or go there with Tab and use the arrow keys.
        </p>
      </>
    ),
    more: (
      <>
        <p>Why do sum and cosine agree? q, k and q − k are the sides of a triangle. The law of cosines says</p>
        {formulas.lawOfCosines}
        <p>and Pythagoras, component by component,</p>
        {formulas.byComponents}
        {formulas.multipliedOut}
        <p>Compare the two lines:</p>
        {formulas.twoForms}
        <p>
          Two arrows always lie in one plane, so this holds for any number of features. |q| cos θ, the measure beside
          k’s line, is how far q reaches along k.
        </p>
      </>
    ),
    presets: 'Set k:',
    same: 'same way',
    perpendicular: 'right angle',
    opposite: 'opposite',
    twice: 'twice as long',
    qLength: 'length of q',
    kLength: 'length of k',
    angle: 'angle',
    cosine: 'cosine',
    along: 'q along k',
    product: 'dot product',
    arrows: 'arrows',
    measured: 'lengths, angle, product',
    sentence: {
      none: 'One of the arrows has no length: there is no angle, and the dot product is 0.',
      same: (product: string) =>
        `q and k point the same way. With these lengths no direction of k scores more than ${product}.`,
      acute: (angle: string, product: string) =>
        `q and k are ${angle} apart, less than a right angle: they agree, and the dot product is positive, ${product}.`,
      right: 'q and k stand at a right angle: the dot product is 0, however long they are.',
      obtuse: (angle: string, product: string) =>
        `q and k are ${angle} apart, more than a right angle: they disagree, and the dot product is negative, ${product}.`,
      opposite: (product: string) =>
        `q and k point opposite ways. With these lengths no direction of k scores less than ${product}.`,
    },
  },
  rankings: {
    title: 'Does a louder title win?',
    text: (
      <>
        <p>
          Now all six features. The eight titles are ranked for brief 1 twice: by dot product, and by cosine, which
          keeps directions and drops lengths.
        </p>
        <p>
          CV 8 names every keyword there is. Stretch its title: every number grows in proportion, so its direction stays
          as it was. A dot product counts direction and length both, and attention takes it as it is: a long key is a
          loud one.
        </p>
      </>
    ),
    more: (
      <>
        <p>The cosine is the dot product with both lengths divided out:</p>
        {formulas.cosineOf}
        <p>Stretch k by c above 0, and c cancels:</p>
        {formulas.stretchedForms}
      </>
    ),
    which: 'Stretch the title of',
    times: (cv: string) => `Length of ${cv}’s title, times`,
    asWritten: 'as it is',
    label: 'Eight titles ranked for brief 1, by dot product and by cosine',
    byDot: 'dot product',
    byCosine: 'cosine',
    rank: 'rank',
    sentence: {
      noDirection: (cv: string) =>
        `The title of ${cv} is all zeros: it has no direction, so no cosine, and every dot product with it is 0.`,
      plain: ({ cv, dot, dotRank, cosine, cosineRank }: Standing) =>
        `${cv} is ${NTH[dotRank]} by dot product (${dot})${dotRank === cosineRank ? ' and' : ', but'} ${NTH[cosineRank]} by cosine (${cosine}).`,
      stretched: ({ cv, times, dot, dotRank, plainDot, plainDotRank, cosine, cosineRank }: Standing) =>
        `At ${times} times its length, ${cv} scores ${dot} instead of ${plainDot} and ` +
        (dotRank === plainDotRank
          ? `stays ${NTH[dotRank]}`
          : `${dotRank < plainDotRank ? 'climbs' : 'drops'} from ${NTH[plainDotRank]} to ${NTH[dotRank]}`) +
        ` by dot product. Its cosine has not moved: ${cosine}, ${NTH[cosineRank]}.`,
    },
  },
  pairs: {
    title: 'All pairs at once',
    text: (
      <>
        <p>
          Three briefs are the rows of <b class="q">Q</b>, eight titles the columns of <b class="k">Kᵀ</b>. One product
          of matrices, {formulas.product}, scores all 24 pairs: {formulas.score} stands where row i of Q meets column j
          of Kᵀ. Point at a score to see its sum; edit any number of Q or K.
        </p>
        <p>
          Here the picture ends. In a model nobody reads CVs: the numbers are learned, the features have no names, and
          in a sentence each word is brief, title and skill at once.
        </p>
      </>
    ),
    aboutQ: 'briefs, by rows',
    aboutK: 'titles, by columns',
    aboutS: 'scores',
    labelQ: 'Q: three briefs by six features',
    labelK: 'K transposed: six features by eight titles',
    labelS: 'S: scores of three briefs with eight titles',
    sentence: (
      brief: string,
      cv: string,
      score: string,
      best: readonly (readonly [brief: string, cv: string, score: string])[],
    ) =>
      `Six products add up to ${score} for ${brief} with ${cv}. Best matches: ${best.map(([brief, cv, score]) => `${brief} with ${cv} (${score})`).join(', ')}.`,
  },
};
