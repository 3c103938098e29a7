// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// The running example's names, and those of the options that parts share.

export const scene = {
  example: 'Input',
  examples: { cvs: 'a pile of CVs', sentence: 'a sentence' },
  features: ['Transformer', 'recommendation', 'C++', 'research', 'communication', 'operations'],
  featuresShort: ['Tra', 'rec', 'C++', 'res', 'com', 'ops'],
  briefs: ['brief 1: senior AI engineer', 'brief 2: inference engineer', 'brief 3: product lead'],
  briefsShort: ['brief 1', 'brief 2', 'brief 3'],
  titles: [
    'CV 1: search engineer',
    'CV 2: Transformer engineer',
    'CV 3: recommendation engineer',
    'CV 4: C++ engineer',
    'CV 5: research scientist',
    'CV 6: site reliability engineer',
    'CV 7: product manager',
    'CV 8: every keyword there is',
  ],
  titlesShort: ['CV 1', 'CV 2', 'CV 3', 'CV 4', 'CV 5', 'CV 6', 'CV 7', 'CV 8'],
  skills: ['modelling', 'products', 'fast code', 'leading people'],
  skillsShort: ['mod', 'prod', 'fast', 'lead'],
  words: ['Cats', 'sleep', 'when', 'they', 'tire'],
  kinds: ['thing', 'action', 'pointer', 'state'],
  kindsShort: ['thing', 'act', 'ptr', 'state'],
  query: 'query i',
  key: 'key j',
  word: 'word i',
  component: 'dim c',
  into: 'in',
  outOf: 'out',
  quoted: (word: string) => `“${word}”`,
  meanings: {
    x: 'the words',
    wq: 'makes queries',
    wk: 'makes keys',
    wv: 'makes values',
    q: 'queries',
    k: 'keys',
    v: 'values',
    s: 'scores',
    p: 'to softmax',
    a: 'weights',
    z: 'output',
  },
  ownMask: 'Ticked: the key takes part for that query.',
  heads: 'Heads',
  headCount: { '1': 'one', '2': 'two' },
  scaling: 'Scores divided by',
  scalings: { sqrt: '√d_k', off: 'nothing', factor: 'a number' },
  factor: 'divisor',
  temperature: 'Temperature T',
  /// How the scores came to be, as a sentence begins.
  divided: (divisor: string, t: string) => {
    const scaled = divisor === '' ? 'Without scaling' : `With scores divided by ${divisor}`;
    return t === '' ? scaled : `${scaled}, at T = ${t}`;
  },
  mask: 'Mask',
  masks: { none: 'none', causal: 'causal', window: 'window', own: 'your own' },
  windowLeft: 'keys to the left',
  windowRight: 'keys to the right',
};
