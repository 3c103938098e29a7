// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// The options of attention, for every part that shows them, and the names of what they work on.

import type { JSX } from 'preact';

import type { Example } from '../state/scene';
import * as scene from '../state/scene';
import { edited } from '../state/matrix';
import { get, set } from '../state/store';
import { words } from '../words';
import { Choice, Slider } from './control';
import { Sqrt } from './formula';

export function ExampleControl(): JSX.Element {
  const w = words().scene;
  return <Choice field={scene.example} label={w.example} names={w.examples} />;
}

export function ScalingControl(): JSX.Element {
  const w = words().scene;
  return (
    <>
      <Choice
        field={scene.scaling}
        label={w.scaling}
        names={{ ...w.scalings, sqrt: <Sqrt of="d_k" said="√d_k" /> }}
        spoken={w.scalings}
      />
      {get(scene.scaling) === 'factor' && (
        <Slider field={scene.factor} label={w.factor} min={0.1} max={100} logarithmic snaps={[{ at: 1 }, { at: 10 }]} />
      )}
    </>
  );
}

export function HeadsControl(): JSX.Element {
  const w = words().scene;
  return <Choice field={scene.heads} label={w.heads} names={w.headCount} />;
}

export function MaskControl(): JSX.Element {
  const w = words().scene;
  const kind = get(scene.mask);
  return (
    <>
      <Choice field={scene.mask} label={w.mask} names={w.masks} />
      {kind === 'window' && (
        <>
          <Slider field={scene.windowLeft} label={w.windowLeft} min={0} max={7} step={1} />
          <Slider field={scene.windowRight} label={w.windowRight} min={0} max={7} step={1} />
        </>
      )}
      {kind === 'own' && <OwnMask />}
    </>
  );
}

/// A box a pair: ticked, the key takes part.
function OwnMask(): JSX.Element {
  const w = words().scene;
  const field = scene.ownMask.value;
  const m = get(field);
  const { rows, columns } = namesOf(get(scene.example));
  return (
    <table class="own-mask">
      <caption>{w.ownMask}</caption>
      <thead>
        <tr>
          <td />
          {columns.map((name) => (
            <th scope="col">{name}</th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((name, i) => (
          <tr>
            <th scope="row">{name}</th>
            {columns.map((column, j) => (
              <td>
                <input
                  type="checkbox"
                  aria-label={`${name}, ${column}`}
                  checked={m.data[i * m.cols + j] !== 0}
                  onChange={({ currentTarget }) => set(field, edited(m, i, j, Number(currentTarget.checked)))}
                />
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/// Short names of queries and keys.
export function namesOf(example: Example): { rows: readonly string[]; columns: readonly string[] } {
  const w = words().scene;
  if (example === 'sentence') return { rows: w.words, columns: w.words };
  return { rows: w.briefsShort, columns: w.titlesShort };
}
