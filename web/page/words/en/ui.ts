// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0

export const ui = {
  more: 'more',
  reset: 'reset',
  take: 'figure',
  asTable: 'as a table',
  hideTable: 'hide the table',
  embed: 'embed',
  exactly: 'exact value',
  newValue: 'new value',
  notANumber: (limit: number) => `a number from −${limit} to ${limit}`,
  outOfRange: (min: number, max: number, whole: boolean) =>
    `${whole ? 'A whole number' : 'A number'} from ${min} to ${max}.`,
  byHand: 'set by hand',
  notYet: 'not computed yet',
  stop: 'stop',
  again: 'again',
  stopped: 'Stopped before it was done.',
  waiting: 'The engine is computing.',
};
