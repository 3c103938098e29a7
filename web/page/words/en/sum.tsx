// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0

export const sum = {
  name: 'sum',
  title: 'sum',
};
