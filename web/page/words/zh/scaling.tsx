// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0

import type { Words } from '../en';

export const scaling: Words['parts']['scaling'] = {
  name: 'scaling',
  title: 'scaling',
};
