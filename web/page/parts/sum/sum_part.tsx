// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0

import type { JSX } from 'preact';

export function SumPart(): JSX.Element {
  return <p />;
}
