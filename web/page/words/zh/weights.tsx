// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0

import type { Words } from '../en';

export const weights: Words['parts']['weights'] = {
  name: 'weights',
  title: 'weights',
};
