// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0

import { dot } from './dot';
import { flow } from './flow';
import { frame } from './frame';
import { matrices } from './matrices';
import { scaling } from './scaling';
import { scene } from './scene';
import { sum } from './sum';
import { ui } from './ui';
import { weights } from './weights';

const en = { frame, ui, scene, parts: { dot, scaling, weights, sum, flow, matrices } };

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

export type Words = Same<typeof en>;
export default en as Words;
