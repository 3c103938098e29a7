// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0

import type { Book } from '../en';
import { frame } from './frame';
import { scene } from './scene';
import { ui } from './ui';

const zh: Book = {
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
export default zh;
