// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// The page's words, of which a visitor loads one language, and of that the parts that are looked at. Each language is
// written for itself, none is a translation; both have the same keys, which the types and a test see to.

import { signal } from '@preact/signals';

import type { PartId, Words } from './en';

export type { PartId, Words } from './en';
export const languages = ['en', 'zh'] as const;
export type Language = (typeof languages)[number];

export function preferredLanguage(): Language {
  const known = navigator.languages.find((tag) => /^(zh|en)\b/i.test(tag));
  return known?.toLowerCase().startsWith('zh') ? 'zh' : 'en';
}

const current = signal<Words | undefined>(undefined);

/// The words of the language that is shown: those common to all, and the parts that were loaded.
export function words(): Words {
  if (!current.value) throw new Error('no words yet');
  return current.value;
}

export async function load(language: Language, part: PartId): Promise<Words> {
  const { default: book } = language === 'zh' ? await import('./zh') : await import('./en');
  const chapter = await book.chapters[part]();
  const before = current.peek();
  const known = before && before.frame === book.common.frame ? before.parts : {};
  return { ...book.common, parts: { ...known, [part]: chapter } as Words['parts'] };
}

export function show(loaded: Words): void {
  current.value = loaded;
}
