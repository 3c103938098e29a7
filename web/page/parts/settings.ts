// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// All fields, declared before any part is loaded: an address may set what is looked at later.

import '../state/scene';
import './dot/settings';
import './flow/settings';
import './scaling/settings';
import './sum/settings';
import './training/settings';
import './weights/settings';
import '../state/pins';
