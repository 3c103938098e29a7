// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0

export const frame = {
  title: 'Attention, seen',
  skip: 'Skip to the figure',
  modeSwitch: 'How to look',
  modes: { steps: 'Step by step', flow: 'Whole flow', matrices: 'Matrices' },
  partNav: 'Parts',
  names: {
    dot: 'Dot product',
    scaling: 'Scaling',
    weights: 'Weights',
    sum: 'Weighted sum',
    training: 'Training',
    flow: 'Whole flow',
    matrices: 'Matrices',
  },
  next: (name: string) => `Next: ${name}`,
  undo: 'Undo (Ctrl+Z)',
  redo: 'Redo (Ctrl+Shift+Z)',
  language: 'Language',
  theme: 'Theme',
  light: 'light',
  dark: 'dark',
  share: 'share',
  copied: 'Address copied: it holds all that you have set.',
  copyFromBar: 'The browser does not let the page copy. The address bar holds all that you have set.',
  speedHere: (gflops: string) => `${gflops} GFLOP/s here`,
  badgeMeans: 'The C++ engine, compiled to WebAssembly. Speed: fused attention, 512 tokens, head dim 64, one thread.',
  engineFailed: 'no engine',
  noEngine: (why: string) =>
    `The engine could not be started, so no number can be shown: ${why}. A current browser that allows WebAssembly will do.`,
  notUnderstood: (keys: string) =>
    `The address holds what this page does not understand: ${keys}. The rest of it was taken.`,
};
