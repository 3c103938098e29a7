// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// The plane of two features with the arrows q and k, whose tips can be dragged or moved with arrow keys, the angle between
// them, and the shadow that q casts on k's line.

import type { JSX } from 'preact';
import { useRef } from 'preact/hooks';

import { at } from '../../state/matrix';
import { endGesture, get } from '../../state/store';
import { digits } from '../../ui/format';
import { useWidth } from '../../ui/width';
import { words } from '../../words';
import { type Arrow, type Meeting, point } from './arrows';
import { arrows, REACH } from './settings';

const EDGE = REACH + 1; // a shadow may be longer than the arrows reach
const LINES = Array.from({ length: 2 * EDGE + 1 }, (_, i) => i - EDGE);
const LARGEST = 420; // px
const MARGIN = 22; // above and below, for the axes' names

interface Place {
  readonly x: number;
  readonly y: number;
}

export function Plane({ now }: { readonly now: Meeting | undefined }): JSX.Element {
  const box = useRef<HTMLDivElement>(null);
  const svg = useRef<SVGSVGElement>(null);
  const size = Math.min(LARGEST, useWidth(box));
  const unit = size / (2 * EDGE); // px
  const across = (x: number): number => (x + EDGE) * unit;
  const place = (x: number, y: number): Place => ({ x: across(x), y: MARGIN + across(-y) });
  const zero = place(0, 0);
  const m = get(arrows);
  const tips = ([0, 1] as const).map((arrow) => place(at(m, arrow, 0), at(m, arrow, 1)));

  const drag = (arrow: Arrow, event: PointerEvent): void => {
    const frame = svg.current?.getBoundingClientRect();
    if (!frame) return;
    const tenth = (px: number): number => Math.round((10 * px) / unit) / 10;
    const x = tenth(event.clientX - frame.x - zero.x);
    const y = -tenth(event.clientY - frame.y - zero.y);
    point(arrow, x, y, `drag.${arrow}`);
  };
  const [horizontal = '', vertical = ''] = words().scene.features;
  return (
    <div class="plane" ref={box}>
      {size > 0 && (
        <svg
          ref={svg}
          class="chart"
          width={size}
          height={size + 2 * MARGIN}
          role="group"
          aria-label={words().parts.dot.plane}
        >
          {LINES.map((tick) => (
            <path
              key={tick}
              class={tick === 0 ? 'plane-axis' : 'plane-line'}
              d={`M${across(tick)},${MARGIN}v${size}M0,${MARGIN + across(tick)}h${size}`}
            />
          ))}
          <g class="axis" aria-hidden="true">
            {[-4, -2, 2, 4].map((tick) => (
              <g key={tick}>
                <text x={across(tick)} y={zero.y + 15} text-anchor="middle">
                  {digits(tick)}
                </text>
                <text x={zero.x - 6} y={place(0, tick).y} text-anchor="end" dominant-baseline="central">
                  {digits(tick)}
                </text>
              </g>
            ))}
            <text class="plane-name" x={zero.x} y={14} text-anchor="middle">
              ↑ {vertical}
            </text>
            <text class="plane-name" x={zero.x} y={size + 2 * MARGIN - 6} text-anchor="middle">
              {horizontal} →
            </text>
          </g>
          {now && <Shadow now={now} place={place} unit={unit} />}
          {tips.map((tip, arrow) => (
            <Tip key={arrow} arrow={arrow as Arrow} from={zero} tip={tip} drag={drag} />
          ))}
        </svg>
      )}
    </div>
  );
}

interface ShadowProps {
  readonly now: Meeting;
  place(x: number, y: number): Place;
  readonly unit: number; // px
}

/// The foot of q on k's line lies |q| cos from 0; the angle is an arc between the two.
function Shadow({ now, place, unit }: ShadowProps): JSX.Element | null {
  const { q, k, qLength, kLength, cosine, degrees, along: cast } = now;
  if (Number.isNaN(cosine)) return null;
  const [qx = 0, qy = 0, kx = 0, ky = 0] = [...q, ...k];
  const along = (by: number): Place => place((kx / kLength) * by, (ky / kLength) * by);
  const far = (EDGE * kLength) / Math.max(Math.abs(kx), Math.abs(ky));

  const left = kx * qy > ky * qx; // q lies to the left of k
  const away = left ? 1 : -1; // the measure keeps to the side where q is not
  const beside = (by: number, px: number): Place => {
    const { x, y } = along(by);
    return { x: x + (away * px * ky) / kLength, y: y + (away * px * kx) / kLength };
  };
  const label = beside(cast / 2, 30);
  const radius = 0.8;
  const end = place((qx / qLength) * radius, (qy / qLength) * radius);
  const between = { x: kx / kLength + qx / qLength, y: ky / kLength + qy / qLength };
  const theta = 1.25 / Math.hypot(between.x, between.y);
  return (
    <g class={cosine < 0 ? 'shadow below' : 'shadow above'} aria-hidden="true">
      <path class="shadow-line" d={line(along(-far), along(far))} />
      <path class="shadow-drop" d={line(place(qx, qy), along(cast))} />
      {degrees > 1 && degrees < 179 && (
        <>
          <path
            d={`M${along(radius).x},${along(radius).y}A${radius * unit},${radius * unit},0,0,${left ? 0 : 1},${end.x},${end.y}`}
          />
          <text {...place(between.x * theta, between.y * theta)} text-anchor="middle" dominant-baseline="central">
            θ
          </text>
        </>
      )}
      {Math.abs(cast) * unit > 12 && (
        <>
          {[0, cast].map((by) => (
            <path key={by} d={line(beside(by, 17), beside(by, 25))} />
          ))}
          <path class="shadow-cast" d={line(beside(0, 21), beside(cast, 21))} />
          <text
            {...label}
            text-anchor={away * ky > 0.3 * kLength ? 'start' : away * ky < -0.3 * kLength ? 'end' : 'middle'}
            dominant-baseline="central"
          >
            |q| cos θ
          </text>
        </>
      )}
    </g>
  );
}

function line(from: Place, to: Place): string {
  return `M${from.x},${from.y}L${to.x},${to.y}`;
}

interface TipProps {
  readonly arrow: Arrow;
  readonly from: Place;
  readonly tip: Place;
  drag(arrow: Arrow, event: PointerEvent): void;
}

const STEPS: Readonly<Record<string, readonly [number, number]>> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowDown: [0, -1],
  ArrowUp: [0, 1],
};

function Tip({ arrow, from, tip, drag }: TipProps): JSX.Element {
  const held = useRef(false);
  const m = get(arrows);
  const [x, y] = [at(m, arrow, 0), at(m, arrow, 1)];
  const w = words();
  const [dx, dy] = [tip.x - from.x, tip.y - from.y];
  const length = Math.hypot(dx, dy) || 1; // px
  const [ux, uy] = [dx / length, dy / length];
  const letter = arrow === 0 ? 'q' : 'k';
  const aside = arrow === 0 ? 7 : -7; // so that the letters of arrows that coincide do not
  const head = [
    [0, 0],
    [-13, 5.5],
    [-13, -5.5],
  ].map(([ahead = 0, across = 0]) => `${tip.x + ux * ahead - uy * across},${tip.y + uy * ahead + ux * across}`);

  const keys = (event: KeyboardEvent): void => {
    const step = STEPS[event.key];
    if (!step || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    const by = event.shiftKey ? 1 : event.altKey ? 0.01 : 0.1;
    const moved = (to: number, way: number): number => Number((to + way * by).toFixed(2));
    point(arrow, moved(x, step[0]), moved(y, step[1]), `keys.${arrow}`);
  };
  const release = (): void => {
    held.current = false;
    endGesture();
  };
  return (
    <g
      class={`tip mark-${letter}`}
      role="slider"
      tabIndex={0}
      aria-label={w.parts.dot.tip(letter)}
      aria-valuemin={-REACH}
      aria-valuemax={REACH}
      aria-valuenow={Number(x.toFixed(2))}
      aria-valuetext={[x, y].map((to, i) => `${w.scene.features[i]} ${digits(to, 3)}`).join(', ')}
      data-tip={letter}
      onKeyDown={keys}
      onBlur={endGesture}
      onTouchStart={(event) => event.preventDefault()} // touch-action has no effect here: the page would scroll
      onPointerDown={(event) => {
        held.current = true;
        event.currentTarget.setPointerCapture(event.pointerId);
      }}
      onPointerMove={(event) => held.current && drag(arrow, event)}
      onPointerUp={release}
      onPointerCancel={release}
    >
      <path class="tip-shaft" d={line(from, { x: tip.x - ux * 8, y: tip.y - uy * 8 })} />
      <path class="tip-head" d={`M${head.join('L')}Z`} />
      <circle class="tip-hold" cx={tip.x} cy={tip.y} r={15} />
      <text
        x={tip.x + ux * 25 - uy * aside}
        y={tip.y + uy * 25 + ux * aside}
        text-anchor="middle"
        dominant-baseline="central"
      >
        {letter}
      </text>
    </g>
  );
}
