// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0

import type { Words } from '../en';
import { dot } from './dot';
import { flow } from './flow';
import { frame } from './frame';
import { matrices } from './matrices';
import { scaling } from './scaling';
import { scene } from './scene';
import { sum } from './sum';
import { ui } from './ui';
import { weights } from './weights';

const zh: Words = { frame, ui, scene, parts: { dot, scaling, weights, sum, flow, matrices } };
export default zh;
