// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0

import { frame } from './frame';
import { scene } from './scene';
import { ui } from './ui';

/// What every part needs, and each part's own, which is loaded with it.
const en = {
  common: { frame, ui, scene },
  chapters: {
    dot: async () => (await import('./dot')).dot,
    scaling: async () => (await import('./scaling')).scaling,
    weights: async () => (await import('./weights')).weights,
    sum: async () => (await import('./sum')).sum,
    training: async () => (await import('./training')).training,
    flow: async () => (await import('./flow')).flow,
    matrices: async () => (await import('./matrices')).matrices,
  },
};

/// Functions take the same values in each language; texts are texts.
type Same<T> = T extends (...args: infer A) => infer R
  ? (...args: A) => Same<R>
  : T extends string
    ? string
    : T extends readonly (infer E)[]
      ? readonly Same<E>[]
      : T extends { readonly type: unknown; readonly props: unknown }
        ? T // a fragment of the page
        : { readonly [K in keyof T]: Same<T[K]> };

type Chapters = typeof en.chapters;
export type PartId = keyof Chapters;
export type Common = Same<typeof en.common>;
export type Chapter = { readonly [K in PartId]: Same<Awaited<ReturnType<Chapters[K]>>> };

/// All the words there are.
export interface Words extends Common {
  readonly parts: Chapter;
}

/// One language, as it is loaded.
export interface Book {
  readonly common: Common;
  readonly chapters: { readonly [K in PartId]: () => Promise<Chapter[K]> };
}
export default en as Book;
