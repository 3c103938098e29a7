// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// What can be done with a figure: take it away as a picture or as numbers, read it as a table, put it into a page.

import { type Signal, useSignal } from '@preact/signals';
import type { JSX, RefObject } from 'preact';
import { useEffect, useRef } from 'preact/hooks';

import { address, place } from '../state/address';
import { words } from '../words';
import { csv, npy, type Table } from './table';

export interface FigureMenuProps {
  readonly id: string;
  readonly figure: RefObject<HTMLElement>;
  tables(): readonly Table[];
  readonly asTable: Signal<boolean>;
}

export function FigureMenu({ id, figure, tables, asTable }: FigureMenuProps): JSX.Element {
  const open = useSignal(false);
  const embed = useSignal(false);
  const failed = useSignal<string | undefined>(undefined);
  const root = useRef<HTMLDivElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  const w = words().ui;

  const close = (): void => {
    open.value = false;
    embed.value = false;
    button.current?.focus();
  };
  useEffect(() => {
    const outside = (event: PointerEvent): void => {
      if (!root.current?.contains(event.target as Node)) open.value = embed.value = false;
    };
    document.addEventListener('pointerdown', outside);
    return () => document.removeEventListener('pointerdown', outside);
  }, []);

  // Drawing a picture is loaded by who takes one.
  const pictures = () => import('./picture');
  const draw = async (): Promise<string> => (await pictures()).pictureOf(figure.current as HTMLElement, tables());
  const items: readonly (readonly [string, () => void | Promise<void>])[] = [
    ['PNG', async () => save(`${id}.png`, await (await pictures()).pngOf(await draw()))],
    ['SVG', async () => save(`${id}.svg`, new Blob([await draw()], { type: 'image/svg+xml' }))],
    ['CSV', () => save(`${id}.csv`, new Blob(['\ufeff', csv(tables())], { type: 'text/csv' }))],
    ...tables().map((table, _, all): readonly [string, () => void] => [
      all.length === 1 ? '.npy' : `.npy: ${table.name}`,
      () =>
        save(`${id}${all.length === 1 ? '' : `-${fileName(table.name)}`}.npy`, new Blob([npy(table).slice().buffer])),
    ]),
    [asTable.value ? w.hideTable : w.asTable, () => void (asTable.value = !asTable.value)],
  ];
  const choose = (act: () => void | Promise<void>) => (): void => {
    failed.value = undefined;
    Promise.resolve()
      .then(act)
      .catch((error: unknown) => (failed.value = String(error)));
    close();
  };
  const keys = (event: KeyboardEvent): void => {
    if (event.key === 'Escape' && open.value) close();
  };
  return (
    <div class="menu" ref={root} onKeyDown={keys}>
      <button
        ref={button}
        type="button"
        class="quiet"
        aria-expanded={open.value}
        aria-controls={`menu-${id}`}
        onClick={() => (open.value = !open.value)}
      >
        {w.take} <span aria-hidden="true">▾</span>
      </button>
      {open.value && (
        <ul id={`menu-${id}`}>
          {items.map(([name, act]) => (
            <li key={name}>
              <button type="button" onClick={choose(act)}>
                {name}
              </button>
            </li>
          ))}
          <li>
            <button type="button" aria-expanded={embed.value} onClick={() => (embed.value = !embed.value)}>
              {w.embed}
            </button>
            {embed.value && <Snippet id={id} />}
          </li>
        </ul>
      )}
      {failed.value && (
        <p class="error" role="alert">
          {failed.value}
        </p>
      )}
    </div>
  );
}

function Snippet({ id }: { readonly id: string }): JSX.Element {
  const html = `<iframe src="${address({ ...place.value, embed: id }).replaceAll('&', '&amp;')}" title="foveate: ${id}" width="720" height="560"></iframe>`;
  return (
    <textarea
      class="snippet"
      readOnly
      rows={4}
      aria-label={words().ui.embed}
      onFocus={(event) => event.currentTarget.select()}
    >
      {html}
    </textarea>
  );
}

function fileName(name: string): string {
  return name.replace(/[^\p{L}\p{N}]+/gu, '_').replace(/^_|_$/g, '');
}

function save(name: string, blob: Blob): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
