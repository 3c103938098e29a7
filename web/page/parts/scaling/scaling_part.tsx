// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0

import type { JSX } from 'preact';

export function ScalingPart(): JSX.Element {
  return <p />;
}
