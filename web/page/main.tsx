// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0

import './style/page.css';

import { effect } from '@preact/signals';
import { render } from 'preact';

import { App } from './app';
import { parts } from './parts';
import { follow, language } from './state/address';
import { load } from './words';

follow(parts.map(({ id }) => id));
effect(() => {
  const shown = language.value;
  void load(shown).then(() => {
    document.documentElement.lang = shown === 'zh' ? 'zh-CN' : 'en';
    const root = document.getElementById('page');
    if (root) render(<App />, root);
  });
});
