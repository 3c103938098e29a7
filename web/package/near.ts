// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Of names the one that was meant by another.

function lettersOf(name: string): string {
  return name.toLowerCase().replace(/[^a-z]/g, '');
}

/// Levenshtein's: how many letters have to be put in, taken out or changed.
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; ++i) {
    const next = [i];
    for (let j = 1; j <= b.length; ++j) {
      const changed = (row[j - 1] ?? 0) + Number(a[i - 1] !== b[j - 1]);
      next.push(Math.min(changed, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}

/// The name that was meant: of the same letters, a part of what was written, or a letter in three off; or none.
export function near(written: string, names: readonly string[]): string | undefined {
  const letters = lettersOf(written);
  const same = names.find((name) => lettersOf(name) === letters);
  const part = names.find((name) => name.length > 3 && letters.includes(lettersOf(name)));
  const far = (name: string): number => distance(letters, lettersOf(name));
  const [nearest = ''] = [...names].sort((a, b) => far(a) - far(b));
  return same ?? part ?? (far(nearest) <= nearest.length / 3 ? nearest : undefined);
}
