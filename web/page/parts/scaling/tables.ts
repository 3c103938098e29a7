// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// The figures of scaling as numbers.

import { full } from '../../ui/format';
import type { Table } from '../../ui/table';
import { words } from '../../words';
import { CURVES, type Here, rangeOf, type Scores } from './draws';
import type { Point, Shown } from './ribbon_chart';
import { type Divisor, divisor, PERCENTILES, valueOf } from './settings';

export function scoresTables(drawn: Scores | undefined, here: Here | undefined, by: Divisor): Table[] {
  if (!drawn) return [];
  const w = words().parts.scaling;
  const d = drawn.settings.dK;
  const shown = by === 'one' ? (['one'] as const) : (['one', by] as const);
  const results = shown.flatMap((which) => drawn.result[divisor.options.indexOf(which)] ?? []);
  const names = [w.before, w.after].slice(0, shown.length);
  const largest = shown.map((which) => here?.result[here.settings.divisors.indexOf(which)]?.largest ?? []);
  return [
    {
      name: w.scoresTable(d),
      rows: names,
      columns: [...w.scoresColumns, ...PERCENTILES.map((p) => w.largestColumn(p))],
      values: results.flatMap((r, i) => [
        valueOf(shown[i] ?? 'one', d),
        r.mean,
        r.variance,
        r.deviation,
        r.smallest,
        r.largest,
        r.below + r.above,
        ...PERCENTILES.map((_, at) => largest[i]?.[at] ?? NaN),
      ]),
    },
    ...results.map(({ counts }, i): Table => {
      const range = rangeOf(shown[i] ?? 'one', d);
      const bin = (2 * range) / counts.length;
      return {
        name: w.countsTable(names[i] ?? ''),
        rows: Array.from(counts, (_, at) => `${full(-range + at * bin)} … ${full(-range + (at + 1) * bin)}`),
        columns: [w.counts],
        values: counts,
      };
    }),
  ];
}

export function ribbonTables(curves: readonly (readonly Point[])[] | undefined, shows: Shown): Table[] {
  if (!curves) return [];
  const w = words().parts.scaling;
  return CURVES.map((which, i): Table => {
    const points = curves[i] ?? [];
    return {
      name: `${w.measureAxis[shows]}: ${which === 'one' ? w.unscaled : `${w.scaled} √d_k`}`,
      rows: points.map(([d]) => `d_k = ${d}`),
      columns: PERCENTILES.map((p) => `${p} %`),
      values: points.flatMap(([, values]) => [...values]),
    };
  });
}
