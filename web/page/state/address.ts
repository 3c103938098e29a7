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
  /// Shown inside another page: '1' for the figures of the part, or the id of one; '' elsewhere.
  readonly embed: string;
}

export const place = signal<Place>({ language: preferredLanguage(), part: '', embed: '' });
export const language = computed(() => place.value.language);

/// Parameters of the address that meant nothing here.
export const notUnderstood = signal<readonly string[]>([]);

export function href(to: Partial<Place>): string {
  const { language, part, embed } = { ...place.value, ...to };
  const parameters = written();
  if (embed) parameters.set('embed', embed);
  const query = parameters.toString();
  return `#/${language}/${part}${query ? `?${query}` : ''}`;
}

export function go(to: Partial<Place>): void {
  settle();
  location.hash = href(to);
}

/// The whole address of the page as it is now.
export function address(to: Partial<Place> = {}): string {
  return new URL(href(to), location.href).href;
}

function take(parts: readonly string[]): void {
  const [, language, part, query] = /^#\/([a-z]+)\/([a-z-]*)\/?(?:\?([^#]*))?/i.exec(location.hash) ?? [];
  const parameters = new URLSearchParams(query ?? '');
  const embed = parameters.get('embed') ?? '';
  parameters.delete('embed');
  place.value = {
    language: languages.find((known) => known === language?.toLowerCase()) ?? preferredLanguage(),
    part: parts.find((known) => known === part?.toLowerCase()) ?? parts[0] ?? '',
    embed,
  };
  const unknown = parameters.toString() === written().toString() ? [] : read(parameters);
  notUnderstood.value = part && !parts.includes(part.toLowerCase()) ? [part, ...unknown] : unknown;
  taken = location.hash;
}

const SETTLED_MS = 200; // browsers allow some hundred changes of the address in half a minute
let taken = ''; // the address that the state is that of
let timer: ReturnType<typeof setTimeout> | undefined;

/// Writes what is set into the address, unless the browser is on its way to another.
function settle(): void {
  clearTimeout(timer);
  const now = href({});
  if (location.hash !== taken || now === taken) return;
  history.replaceState(null, '', now);
  taken = location.hash;
}

/// Keeps the address and the state alike, from now on.
export function follow(parts: readonly string[]): void {
  take(parts);
  addEventListener('hashchange', () => {
    if (location.hash === '' || location.hash.startsWith('#/')) take(parts);
  });
  addEventListener('click', settle, { capture: true }); // a link leaves behind what was set until then
  effect(() => {
    href({}); // subscribes
    clearTimeout(timer);
    timer = setTimeout(settle, SETTLED_MS);
  });
}
