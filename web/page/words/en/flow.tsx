// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0

import { M, Name } from '../../ui/formula';

export const flow = {
  title: 'The whole flow, every number',
  text: (
    <>
      <p>
        Each query scores every key (<b>S</b>), the scores are divided and turned into weights (<b>A</b>), and the
        weights mix the values: one output for each query (<b>Z</b>). Nothing else happens.
      </p>
      <p>
        Point at any number: what it comes from lights up and is written out below. Change any: an input (underlined),
        or a computed number, which then stays as you set it (dashed). All that follows is computed anew, by the C++
        engine in your browser.
      </p>
    </>
  ),
  more: (
    <>
      <p>
        With a sentence the queries, keys and values are three projections of the same words,{' '}
        <M>
          <Name of="Q" />
          <mo>=</mo>
          <Name of="X" />
          <Name of="W_Q" />
        </M>{' '}
        and so on: each word is brief, title and skill at once. Here the three matrices are made by hand so that each
        number can be argued with; in a model they are learned, and their axes have no names.
      </p>
      <p>
        Several heads cut the columns of Q, K and V into parts; each part attends on its own, and their outputs stand
        side by side in Z.{' '}
        <M>
          <Name of="d_k" />
        </M>{' '}
        is then the width of one part.
      </p>
      <p>
        A causal mask lets query i see the keys up to its own place, counted from the end: the last query sees all. A
        masked score is −∞ and its weight exactly 0, whatever the key holds.
      </p>
      <p>
        Here the comparison with hiring ends: nobody is chosen, every value takes part in proportion to its weight, and
        a weight says how much of a value went into this sum, not why a model decided anything.
      </p>
    </>
  ),
  player: 'Playback',
  play: 'Play',
  pause: 'Pause',
  back: 'Step back',
  on: 'Step',
  all: 'all',
  stageSwitch: 'Go to a stage',
  stages: {
    project: 'project',
    scores: 'scores',
    scale: 'divide',
    mask: 'mask',
    softmax: 'softmax',
    sum: 'weighted sum',
  },
  shownHead: 'Show',
  headName: (n: number) => `head ${n}`,
  worked: 'How the number in hand comes about',
  listing: 'The computation as code',
  letters: {
    x: 'X',
    wq: 'W_Q',
    wk: 'W_K',
    wv: 'W_V',
    q: 'q',
    k: 'k',
    v: 'v',
    s: 'q · k',
    p: 'divided score',
    a: 'weight',
    z: 'z',
  },
  cellIs: (letter: string, row: string, column: string) => `${letter}, ${row}, ${column}:`,
  pointAtACell: 'Point at a number, or walk there with the arrow keys: this is where it is worked out.',
  byHand: 'Set by hand: what follows is computed from it. Delete gives back the computed number.',
  anInput: 'An input. Click or press Enter to change it; arrow keys then move it by 0.1 (Shift 1, Alt 0.01).',
  maskedOut: 'The mask leaves this key out: its score is −∞, its weight exactly 0.',
  undivided: 'Not divided: softmax takes the score as it is.',
  noKey: 'No key takes part for this query: all its weights are 0, and so is its output.',
  say: ({ query, key, share, scaled, head, masked }: Said) =>
    `${head ? `In head ${head}, ` : ''}${head ? query : capital(query)} gives ${share} of its attention to ${key}, ${
      scaled ? 'with the scores divided' : 'with the scores as they are'
    }${masked ? ' and the mask in force' : ''}.`,
  sayByHand: (query: string) =>
    `Weights of ${query} are set by hand: they need not sum to 1 any more, and its output may leave the hull of the values.`,
  sayNoKey: (query: string) => `${capital(query)} sees no key at all: its weights and its output are 0.`,
  sayNaN: (query: string) => `The weights of ${query} are no numbers: a score is infinite.`,
};

interface Said {
  query: string;
  key: string;
  share: string;
  scaled: boolean;
  head: number;
  masked: boolean;
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
