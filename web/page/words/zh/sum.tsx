// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0

import type { Words } from '../en';

export const sum: Words['parts']['sum'] = {
  name: 'sum',
  title: 'sum',
};
