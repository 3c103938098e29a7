// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// The page's words: one module a language, of which a visitor loads one. Each is written for itself, none is a
// translation; both have the same keys, which the types and a test see to.

import { signal } from '@preact/signals';

import type { Words } from './en';

export type { Words } from './en';
export const languages = ['en', 'zh'] as const;
export type Language = (typeof languages)[number];

export function preferredLanguage(): Language {
  const known = navigator.languages.find((tag) => /^(zh|en)\b/i.test(tag));
  return known?.toLowerCase().startsWith('zh') ? 'zh' : 'en';
}

const current = signal<Words | undefined>(undefined);

/// The words of the language that is shown; only what is drawn after load() may ask.
export function words(): Words {
  if (!current.value) throw new Error('no words yet');
  return current.value;
}

export async function load(language: Language): Promise<void> {
  const module = language === 'zh' ? await import('./zh') : await import('./en');
  current.value = module.default;
}
