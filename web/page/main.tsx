// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Starts the page, and keeps what is shown in step with the address: a part and its words are loaded together.

import './style/page.css';

import { computed, effect } from '@preact/signals';
import { render } from 'preact';

import { App } from './app';
import { partAt, parts } from './parts';
import './parts/settings';
import { follow, language, place } from './state/address';
import { type Language, load, show } from './words';

const root = document.getElementById('page');

/// The one line about what could not be loaded; in both languages, for words may be what is missing.
const line = document.createElement('p');
line.className = 'error unreachable';
line.setAttribute('role', 'alert');

async function turnTo(language: Language, id: string, overtaken: () => boolean): Promise<void> {
  const part = partAt(id);
  const [component, words] = await Promise.all([part.load(), load(language, part.id)]);
  if (overtaken() || !root) return;
  line.remove();
  show(words);
  document.documentElement.lang = language === 'zh' ? 'zh-CN' : 'en';
  render(<App part={part} component={component} />, root);
}

/// A server that went away, or files that were replaced, under a page that had not loaded all of them yet.
function unreachable(): void {
  line.textContent = 'This part could not be loaded: the server does not answer. / 这一部分没能加载：服务器没有响应。 ';
  const again = document.createElement('button');
  again.textContent = 'Reload / 刷新';
  again.addEventListener('click', () => location.reload());
  line.append(again);
  root?.before(line);
}

follow(parts.map(({ id }) => id));
const part = computed(() => place.value.part);
let turn = 0;
effect(() => {
  const mine = ++turn;
  const overtaken = () => mine !== turn;
  turnTo(language.value, part.value, overtaken).catch(() => overtaken() || unreachable());
});
