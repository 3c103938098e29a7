// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// A matrix as a table of cells: every number visible, the one in hand to six digits, and editable where it is an input.
// Arrow keys walk; Enter, a digit or a click opens a cell; there, arrow keys nudge by 0.1 (Shift 1, Alt 0.01), Enter
// keeps, Escape restores.

import { signal, useSignal } from '@preact/signals';
import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';

import type { Field } from '../state/field';
import { at, edited, type Matrix } from '../state/matrix';
import { isPinned } from '../state/pins';
import { endGesture, get, set, undo } from '../state/store';
import { words } from '../words';
import { paint, reachOf, type Role } from './color';
import { brief, full } from './format';

export interface Cell {
  readonly grid: string;
  readonly i: number;
  readonly j: number;
}

/// The cell under the pointer or with the focus, on the whole page.
export const inHand = signal<Cell | undefined>(undefined);

export interface GridProps {
  /// Names the grid in `inHand`; unique on the page.
  readonly id: string;
  readonly name: ComponentChildren; // the letter, with a role of its own colour
  readonly about?: string; // a few words under the name
  readonly label: string; // for those who hear it
  readonly role: Role;
  readonly matrix: Matrix;
  readonly rows: readonly string[];
  readonly columns: readonly string[];
  /// What rows and columns are: "query i", "key j".
  readonly axes: readonly [string, string];
  readonly field?: Field<Matrix>; // editable
  /// The field holds what is set over computed numbers (state/pins.ts).
  readonly pins?: boolean;
  readonly limit?: number; // of what is typed
  /// Which entry of the field a cell shows; the same one by default.
  readonly entry?: (i: number, j: number) => readonly [number, number];
  /// What the cell in hand comes from: at once, or by way of others.
  readonly lit?: (i: number, j: number) => 'lit' | 'near' | undefined;
  readonly selectedRow?: number;
  readonly onRow?: (i: number) => void;
  /// How many rows and columns are there yet, while steps play; all by default.
  readonly shown?: (i: number, j: number) => boolean;
  readonly long?: boolean; // row names are long: they get a column of their own width
}

export function Grid(props: GridProps): JSX.Element {
  const { matrix: m, id } = props;
  const table = useRef<HTMLTableElement>(null);
  const here = useSignal<readonly [number, number]>([0, 0]); // where Tab enters
  const reach = reachOf(m.data);

  const focus = (i: number, j: number): void => {
    here.value = [i, j];
    table.current?.querySelector<HTMLElement>(`[data-at="${i}.${j}"]`)?.focus();
  };
  const walk = (event: KeyboardEvent, i: number, j: number): void => {
    const to = step(event.key, i, j, m, event.ctrlKey);
    if (!to) return;
    event.preventDefault();
    focus(...to);
  };
  const leave = (): void => {
    if (inHand.peek()?.grid === id) inHand.value = undefined;
  };
  useEffect(() => leave, [id]);
  const [hereI, hereJ] = here.value;
  return (
    <div class={`grid role-${props.role}${props.long ? ' long' : ''}`} data-grid={id}>
      <div class="grid-name">
        <b>{props.name}</b>
        {props.about && <span>{props.about}</span>}
      </div>
      <table role="grid" aria-label={props.label} ref={table} onPointerLeave={leave}>
        <thead>
          <tr>
            <th class="corner" scope="col">
              <span class="axis-down">{props.axes[0]}</span>
              <span class="axis-across">{props.axes[1]}</span>
            </th>
            {props.columns.map((name) => (
              <th scope="col" title={name}>
                <span>{name}</span>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {props.rows.map((name, i) => (
            <tr class={props.selectedRow === i ? 'selected' : ''}>
              <th scope="row" title={name}>
                {props.onRow ? (
                  <button type="button" aria-pressed={props.selectedRow === i} onClick={() => props.onRow?.(i)}>
                    {name}
                  </button>
                ) : (
                  <span>{name}</span>
                )}
              </th>
              {props.columns.map((_, j) => (
                <GridCell
                  {...props}
                  i={i}
                  j={j}
                  reach={reach}
                  tab={i === Math.min(hereI, m.rows - 1) && j === Math.min(hereJ, m.cols - 1)}
                  walk={walk}
                  focus={focus}
                />
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function step(key: string, i: number, j: number, m: Matrix, far: boolean): readonly [number, number] | undefined {
  const clamp = (x: number, n: number) => Math.min(n - 1, Math.max(0, x));
  if (key === 'ArrowUp') return [clamp(i - 1, m.rows), j];
  if (key === 'ArrowDown') return [clamp(i + 1, m.rows), j];
  if (key === 'ArrowLeft') return [i, clamp(j - 1, m.cols)];
  if (key === 'ArrowRight') return [i, clamp(j + 1, m.cols)];
  if (key === 'Home') return [far ? 0 : i, 0];
  if (key === 'End') return [far ? m.rows - 1 : i, m.cols - 1];
  return undefined;
}

interface CellProps extends GridProps {
  readonly i: number;
  readonly j: number;
  readonly reach: number;
  readonly tab: boolean; // Tab enters here
  walk(event: KeyboardEvent, i: number, j: number): void;
  focus(i: number, j: number): void;
}

function GridCell(props: CellProps): JSX.Element {
  const { id, i, j, matrix: m, field, role } = props;
  const draft = useSignal<Draft | undefined>(undefined);
  const entry = props.entry?.(i, j) ?? ([i, j] as const);
  const pinned = props.pins && field !== undefined && isPinned(field, ...entry);
  const x = at(m, i, j);
  const hand = inHand.value;
  const held = hand?.grid === id && hand.i === i && hand.j === j;
  const take = (): void => {
    if (!held) inHand.value = { grid: id, i, j };
  };
  const open = (text: string, typed = false): void => {
    if (field) draft.value = { text, typed };
  };
  const keys = (event: KeyboardEvent): void => {
    if (draft.value !== undefined || event.metaKey) return;
    if (pinned && field && (event.key === 'Delete' || event.key === 'Backspace')) {
      event.preventDefault();
      return set(field, edited(get(field), ...entry, NaN)); // as it was computed
    }
    if (field && !event.ctrlKey && !event.altKey) {
      if (event.key === 'Enter' || event.key === 'F2') return (event.preventDefault(), open(plain(x)));
      if (/^[-−.\d]$/.test(event.key)) return (event.preventDefault(), open(event.key, true));
    }
    props.walk(event, i, j);
  };
  const visible = props.shown?.(i, j) ?? true;
  const colors = visible ? paint(role, x, props.reach) : undefined;
  const names = [
    'cell',
    props.lit?.(i, j),
    held && 'held',
    field && !props.pins && 'editable',
    pinned && 'pinned',
    x === -Infinity && 'out',
  ];
  return (
    <td
      role="gridcell"
      class={names.filter(Boolean).join(' ')}
      style={colors}
      data-at={`${i}.${j}`}
      data-value={visible ? String(x) : undefined}
      tabIndex={props.tab ? 0 : -1}
      aria-label={`${props.rows[i] ?? ''}, ${props.columns[j] ?? ''}: ${visible ? full(x) : words().ui.notYet}${pinned ? `, ${words().ui.byHand}` : ''}`}
      aria-readonly={!field}
      onPointerEnter={take}
      onFocus={take}
      onKeyDown={keys}
      onClick={() => draft.value === undefined && (field ? open(plain(x)) : props.focus(i, j))}
    >
      {draft.value !== undefined && field ? (
        <Editor
          field={field}
          entry={entry}
          shown={x}
          limit={props.limit ?? 1000}
          draft={draft.value}
          close={(back) => {
            draft.value = undefined;
            if (back) props.focus(i, j);
          }}
        />
      ) : (
        <span>{visible ? (held ? full(x) : brief(x)) : ''}</span>
      )}
    </td>
  );
}

/// What an open cell starts with: what is there, or the first key that was typed instead.
interface Draft {
  readonly text: string;
  readonly typed: boolean;
}

function plain(x: number): string {
  return String(Number(x.toPrecision(7)));
}

interface EditorProps {
  readonly field: Field<Matrix>;
  readonly entry: readonly [number, number];
  readonly shown: number; // what is there
  readonly limit: number;
  readonly draft: Draft;
  close(back: boolean): void;
}

/// The open cell. What is typed takes effect as it is typed, as one step of the history.
function Editor({ field, entry: [i, j], shown, limit, draft, close }: EditorProps): JSX.Element {
  const before = useRef(get(field));
  const wrong = useSignal(false);
  const input = useRef<HTMLInputElement>(null);
  const gesture = `${field.key}.${i}.${j}`;

  const put = (x: number): void => set(field, edited(get(field), i, j, Math.fround(x) + 0), gesture);
  const typed = (value: string): void => {
    const thousands = /,\d{3}$/.test(value); // or three decimals: rather asked than guessed
    const x = thousands ? NaN : Number(value.replace('−', '-').replace(',', '.'));
    wrong.value = value.trim() === '' || !Number.isFinite(x) || Math.abs(x) > limit;
    if (!wrong.value) put(x);
  };
  useLayoutEffect(() => {
    input.current?.focus();
    input.current?.setSelectionRange(draft.typed ? draft.text.length : 0, draft.text.length); // typing goes on behind it
    if (draft.typed) typed(draft.text);
  }, []);
  const end = (back: boolean): void => {
    endGesture();
    close(back);
  };
  const keys = (event: KeyboardEvent): void => {
    event.stopPropagation();
    if (event.key === 'Enter') return wrong.value ? undefined : end(true); // what is wrong stays, with its message
    if (event.key === 'Escape') {
      if (get(field) !== before.current) undo();
      return end(true);
    }
    const up = event.key === 'ArrowUp' ? 1 : event.key === 'ArrowDown' ? -1 : 0;
    if (up === 0) return;
    event.preventDefault();
    const by = up * (event.shiftKey ? 1 : event.altKey ? 0.01 : 0.1);
    const own = at(get(field), i, j);
    const from = Number.isNaN(own) ? shown : own; // a number that was computed has not been set yet
    const x = Math.min(limit, Math.max(-limit, Number(((Number.isFinite(from) ? from : 0) + by).toFixed(4))));
    put(x);
    if (input.current) input.current.value = plain(x);
    wrong.value = false;
  };
  return (
    <>
      <input
        ref={input}
        class="editor"
        type="text"
        inputMode="decimal"
        aria-label={words().ui.newValue}
        aria-invalid={wrong.value}
        defaultValue={draft.text}
        onInput={(event) => typed(event.currentTarget.value)}
        onKeyDown={keys}
        onBlur={() => end(false)}
      />
      {wrong.value && (
        <span class="cell-error" role="alert">
          {words().ui.notANumber(limit)}
        </span>
      )}
    </>
  );
}
