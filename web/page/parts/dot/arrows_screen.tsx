// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Two arrows, their dot product in both of its forms.

import type { JSX } from 'preact';

import { digits } from '../../ui/format';
import { Screen } from '../../ui/figure';
import { WrittenSum } from '../../ui/written_sum';
import { words } from '../../words';
import { meeting, type Meeting, point } from './arrows';
import { arrows, REACH } from './settings';
import { Plane } from './plane';

/// Thousandths: a right angle's product is 0, though float32 rounds it to 1e-8.
function short(x: number): string {
  return Number.isNaN(x) ? '–' : digits(Number(x.toFixed(3)), 5);
}

export function ArrowsScreen(): JSX.Element {
  const { value: now, error } = meeting.value;
  const w = words().parts.dot;
  const { features } = words().scene;
  return (
    <Screen
      id="dot-arrows"
      title={w.arrows.title}
      text={w.arrows.text}
      more={w.arrows.more}
      controls={<Presets now={now} />}
      sentence={now ? sentence(now) : ''}
      error={error}
      tables={() => (now ? tables(now) : [])}
      fields={[arrows]}
    >
      <div class="arrows">
        <Plane now={now} />
        {now && <Readings now={now} />}
      </div>
      {now && (
        <>
          <WrittenSum
            of="q · k"
            names={features.slice(0, 2)}
            a={now.q}
            b={now.k}
            roles={['q', 'k']}
            products={now.products}
            total={now.dot}
            write={short}
          />
          {!Number.isNaN(now.cosine) && (
            <p class="written-form">
              <span class="mark-q">|q|</span> <span class="mark-k">|k|</span> cos θ ={' '}
              <span class="mark-q">{short(now.qLength)}</span> × <span class="mark-k">{short(now.kLength)}</span> ×{' '}
              {short(now.cosine)} <b>= {short(now.dot)}</b>
            </p>
          )}
        </>
      )}
    </Screen>
  );
}

function Readings({ now }: { readonly now: Meeting }): JSX.Element {
  const w = words().parts.dot.arrows;
  const readings: readonly (readonly [string, string, JSX.Element | string, number, string])[] = [
    ['q-length', w.qLength, <span class="mark-q">|q|</span>, now.qLength, ''],
    ['k-length', w.kLength, <span class="mark-k">|k|</span>, now.kLength, ''],
    ['degrees', w.angle, 'θ', Number(now.degrees.toFixed(1)), '°'],
    ['cosine', w.cosine, 'cos θ', now.cosine, ''],
    ['along', w.along, '|q| cos θ', now.along, ''],
    ['dot', w.product, 'q · k', now.dot, ''],
  ];
  return (
    <dl class="readings">
      {readings.map(([id, name, letter, x, unit]) => (
        <div key={id}>
          <dt>
            {name} <span>{letter}</span>
          </dt>
          <dd data-reading={id} data-value={x}>
            {short(x)}
            {Number.isNaN(x) ? '' : unit}
          </dd>
        </div>
      ))}
    </dl>
  );
}

/// Each moves k alone; the first three keep its length as far as it fits.
function Presets({ now }: { readonly now: Meeting | undefined }): JSX.Element {
  const w = words().parts.dot.arrows;
  const [qx = 0, qy = 0] = now?.q ?? [];
  const [kx = 0, ky = 0] = now?.k ?? [];
  const fits = REACH / Math.max(Math.abs(qx), Math.abs(qy));
  const by = now ? Math.min((now.kLength || now.qLength) / now.qLength, fits) : NaN;
  const presets: readonly (readonly [string, number, number])[] = [
    [w.same, qx * by, qy * by],
    [w.perpendicular, -qy * by, qx * by],
    [w.opposite, -qx * by, -qy * by],
    [w.twice, 2 * kx, 2 * ky],
  ];
  return (
    <div class="presets" role="group" aria-label={w.presets}>
      <span aria-hidden="true">{w.presets}</span>
      {presets.map(([name, x, y]) => (
        <button
          key={name}
          type="button"
          disabled={!(Math.max(Math.abs(x), Math.abs(y)) <= REACH && Math.max(Math.abs(x), Math.abs(y)) > 0)}
          onClick={() => point(1, x, y)}
        >
          {name}
        </button>
      ))}
    </div>
  );
}

function sentence({ dot, degrees, cosine }: Meeting): string {
  const w = words().parts.dot.arrows.sentence;
  const [angle, product] = [`${short(Number(degrees.toFixed(1)))}°`, short(dot)];
  if (Number.isNaN(cosine)) return w.none;
  if (cosine > 0.99999) return w.same(product);
  if (cosine < -0.99999) return w.opposite(product);
  if (Math.abs(cosine) < 1e-5) return w.right;
  return cosine > 0 ? w.acute(angle, product) : w.obtuse(angle, product);
}

function tables(now: Meeting) {
  const { parts, scene } = words();
  const w = parts.dot.arrows;
  const two = scene.features.slice(0, 2);
  return [
    { name: w.arrows, rows: ['q', 'k', 'q × k'], columns: two, values: [...now.q, ...now.k, ...now.products] },
    {
      name: w.measured,
      rows: [w.product],
      columns: ['|q|', '|k|', 'θ (°)', 'cos θ', '|q| cos θ', 'q · k'],
      values: [now.qLength, now.kLength, now.degrees, now.cosine, now.along, now.dot],
    },
  ];
}
