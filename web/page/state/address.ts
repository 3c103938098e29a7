// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Where the visitor is, and what the address says of it: #/LANGUAGE/PART?FIELDS. Going to another part or language is a
// step of the browser's history; what is set replaces the address a moment later.

import { computed, effect, signal } from '@preact/signals';

import { languages, type Language, preferredLanguage } from '../words';
import { read, written } from './store';

export interface Place {
  readonly language: Language;
  readonly part: string;
  /// Shown inside another page: only the figure.
  readonly embed: boolean;
}

export const place = signal<Place>({ language: preferredLanguage(), part: '', embed: false });
export const language = computed(() => place.value.language);

/// Parameters of the address that meant nothing here.
export const notUnderstood = signal<readonly string[]>([]);

export function href(to: Partial<Place>): string {
  const { language, part, embed } = { ...place.value, ...to };
  const parameters = written();
  if (embed) parameters.set('embed', '1');
  const query = parameters.toString();
  return `#/${language}/${part}${query ? `?${query}` : ''}`;
}

export function go(to: Partial<Place>): void {
  location.hash = href(to);
}

/// The whole address of the page as it is now.
export function address(to: Partial<Place> = {}): string {
  return new URL(href(to), location.href).href;
}

function take(parts: readonly string[]): void {
  const [, language, part, query] = /^#\/([a-z]+)\/([a-z-]*)(?:\?(.*))?$/.exec(location.hash) ?? [];
  const parameters = new URLSearchParams(query ?? '');
  const embed = parameters.get('embed') === '1';
  parameters.delete('embed');
  place.value = {
    language: languages.find((known) => known === language) ?? preferredLanguage(),
    part: parts.find((known) => known === part) ?? parts[0] ?? '',
    embed,
  };
  if (parameters.toString() !== written().toString()) notUnderstood.value = read(parameters);
}

const SETTLED_MS = 200; // browsers allow some hundred changes of the address in half a minute

/// Keeps the address and the state alike, from now on.
export function follow(parts: readonly string[]): void {
  take(parts);
  addEventListener('hashchange', () => {
    if (location.hash === '' || location.hash.startsWith('#/')) take(parts);
  });
  let timer: ReturnType<typeof setTimeout> | undefined;
  effect(() => {
    const now = href({});
    clearTimeout(timer);
    timer = setTimeout(() => {
      if (location.hash !== now) history.replaceState(null, '', now);
    }, SETTLED_MS);
  });
}
