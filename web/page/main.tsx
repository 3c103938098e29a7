// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Starts the page, and keeps what is shown in step with the address: a part and its words are loaded together.

import './style/page.css';

import { computed, effect } from '@preact/signals';
import { render } from 'preact';

import { App } from './app';
import { partAt, parts } from './parts';
import './parts/settings';
import { follow, place } from './state/address';
import { load, show } from './words';

const root = document.getElementById('page');

async function turnTo(language: 'en' | 'zh', id: string, overtaken: () => boolean): Promise<void> {
  const part = partAt(id);
  const [component, words] = await Promise.all([part.load(), load(language, part.id)]);
  if (overtaken() || !root) return;
  show(words);
  document.documentElement.lang = language === 'zh' ? 'zh-CN' : 'en';
  render(<App part={part} component={component} />, root);
}

/// A server that went away, or files that were replaced, under a page that had not loaded all of them yet.
function unreachable(error: unknown): void {
  if (!root) return;
  const line = document.createElement('p');
  line.className = 'error';
  line.setAttribute('role', 'alert');
  line.textContent = `${String(error)}. Reload the page. / 请刷新页面。`;
  root.prepend(line);
}

follow(parts.map(({ id }) => id));
const language = computed(() => place.value.language);
const part = computed(() => place.value.part);
let turn = 0;
effect(() => {
  const mine = ++turn;
  turnTo(language.value, part.value, () => mine !== turn).catch(unreachable);
});
