// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// The frame: top bar, mode switch, the rail of parts, and the part that is shown.

import type { ComponentType, JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';

import { type Mode, modes, type Part, parts } from './parts';
import { go, href, notUnderstood, place } from './state/address';
import { redo, undo } from './state/store';
import { TopBar } from './top_bar';
import { words } from './words';
import { failure } from './worker/pool';

/// Where a mode leads: to the part of it that was seen last.
const lastOf = new Map<Mode, string>();
function entryOf(mode: Mode): string {
  return lastOf.get(mode) ?? parts.find((part) => part.mode === mode)?.id ?? '';
}

/// A field for text has keys of its own.
function typing({ target }: KeyboardEvent): boolean {
  return (
    target instanceof HTMLElement &&
    target.matches('input:not([type=radio], [type=checkbox], [type=range]), textarea, select')
  );
}

function keys(event: KeyboardEvent): void {
  const command = event.ctrlKey || event.metaKey;
  if (command && !event.altKey && !typing(event) && ['z', 'y'].includes(event.key.toLowerCase())) {
    event.preventDefault();
    if (event.key.toLowerCase() === 'y' || event.shiftKey) redo();
    else undo();
  }
  const mode = modes[Number(event.key) - 1];
  const inGrid = event.target instanceof Element && event.target.closest('[role=grid]') !== null; // a digit edits there
  if (mode && !command && !event.altKey && !typing(event) && !inGrid) go({ part: entryOf(mode) });
}

export interface AppProps {
  readonly part: Part;
  readonly component: ComponentType;
}

export function App({ part, component: Shown }: AppProps): JSX.Element {
  const w = words();
  const main = useRef<HTMLElement>(null);
  lastOf.set(part.mode, part.id);
  useEffect(() => {
    addEventListener('keydown', keys);
    return () => removeEventListener('keydown', keys);
  }, []);
  useEffect(() => {
    document.title = `${w.frame.names[part.id]} · ${w.frame.title}`;
  }, [w, part.id]);
  useEffect(() => scrollTo(0, 0), [part.id]);

  const { embed } = place.value;
  return (
    <div class={`page mode-${part.mode}${embed ? ' embedded' : ''}`}>
      {!embed && (
        <>
          <a class="skip" href="#main" onClick={(event) => (event.preventDefault(), main.current?.focus())}>
            {w.frame.skip}
          </a>
          <TopBar />
          <ModeSwitch mode={part.mode} />
          <Rail part={part} />
        </>
      )}
      <main id="main" ref={main} tabIndex={-1}>
        {failure.value && (
          <p class="error" role="alert">
            {w.frame.noEngine(failure.value)}
          </p>
        )}
        {notUnderstood.value.length > 0 && (
          <p class="error" role="alert">
            {w.frame.notUnderstood(notUnderstood.value.join(', '))}
          </p>
        )}
        <h1 id="part-title">{w.parts[part.id].title}</h1>
        <Shown key={part.id} />
        {!embed && <Onward part={part} />}
      </main>
    </div>
  );
}

function ModeSwitch({ mode }: { readonly mode: Mode }): JSX.Element {
  const w = words().frame;
  return (
    <nav class="modes" aria-label={w.modeSwitch}>
      {modes.map((each, i) => (
        <a key={each} href={href({ part: entryOf(each) })} aria-current={each === mode ? 'true' : undefined}>
          {w.modes[each]} <kbd>{i + 1}</kbd>
        </a>
      ))}
    </nav>
  );
}

/// On wide screens a named dot a part, on narrow ones a select: the style sheet shows one of the two.
function Rail({ part }: { readonly part: Part }): JSX.Element {
  const w = words();
  return (
    <nav class="rail" aria-label={w.frame.partNav}>
      <ol>
        {parts.map(({ id }) => (
          <li key={id}>
            <a href={href({ part: id })} aria-current={id === part.id ? 'page' : undefined}>
              {w.frame.names[id]}
            </a>
          </li>
        ))}
      </ol>
      <select
        aria-label={w.frame.partNav}
        value={part.id}
        onChange={(event) => go({ part: event.currentTarget.value })}
      >
        {parts.map(({ id }) => (
          <option key={id} value={id}>
            {w.frame.names[id]}
          </option>
        ))}
      </select>
    </nav>
  );
}

/// The way on through the story.
function Onward({ part }: { readonly part: Part }): JSX.Element | null {
  const next = parts[parts.indexOf(part) + 1];
  if (!next) return null;
  return (
    <p class="onward">
      <a href={href({ part: next.id })}>
        {words().frame.next(words().frame.names[next.id])} <span aria-hidden="true">→</span>
      </a>
    </p>
  );
}
