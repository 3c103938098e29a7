// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Language, theme, undo and redo, share, and what the engine is here.

import { effect, signal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';

import { address, href, place } from './state/address';
import { canRedo, canUndo, redo, undo } from './state/store';
import { languages, words } from './words';
import { failure, relaxed, run } from './worker/pool';

export function TopBar(): JSX.Element {
  const w = words().frame;
  return (
    <header class="top">
      <a class="brand" href={href({ part: '' })}>
        <b>foveate</b> <span>{w.title}</span>
      </a>
      <div class="tools">
        <button type="button" class="icon" disabled={!canUndo.value} onClick={undo} title={w.undo} aria-label={w.undo}>
          ↶
        </button>
        <button type="button" class="icon" disabled={!canRedo.value} onClick={redo} title={w.redo} aria-label={w.redo}>
          ↷
        </button>
        <nav class="switch" aria-label={w.language}>
          {languages.map((language) => (
            <a
              key={language}
              href={href({ language })}
              lang={language === 'zh' ? 'zh-CN' : 'en'}
              aria-current={place.value.language === language ? 'true' : undefined}
            >
              {language === 'zh' ? '中' : 'EN'}
            </a>
          ))}
        </nav>
        <ThemeSwitch />
        <Share />
        <EngineBadge />
      </div>
    </header>
  );
}

type Theme = 'light' | 'dark';
const KEPT = 'foveate-theme';
const system = matchMedia('(prefers-color-scheme: dark)');

/// Storage may be forbidden; the choice then lasts as long as the page.
function kept(): Theme | undefined {
  try {
    const theme = localStorage.getItem(KEPT);
    return theme === 'light' || theme === 'dark' ? theme : undefined;
  } catch {
    return undefined;
  }
}
function keep(theme: Theme): void {
  try {
    localStorage.setItem(KEPT, theme);
  } catch {
    return;
  }
}

const theme = signal<Theme>(kept() ?? (system.matches ? 'dark' : 'light'));
system.addEventListener('change', ({ matches }) => {
  if (!kept()) theme.value = matches ? 'dark' : 'light';
});
effect(() => {
  document.documentElement.dataset['theme'] = theme.value;
});

function ThemeSwitch(): JSX.Element {
  const w = words().frame;
  const choose = (chosen: Theme): void => {
    theme.value = chosen;
    keep(chosen);
  };
  return (
    <div class="switch" role="group" aria-label={w.theme}>
      {(['light', 'dark'] as const).map((each) => (
        <button key={each} type="button" aria-pressed={theme.value === each} onClick={() => choose(each)}>
          {w[each]}
        </button>
      ))}
    </div>
  );
}

const shared = signal<'' | 'copied' | 'refused'>('');

function Share(): JSX.Element {
  const w = words().frame;
  const share = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(address());
      shared.value = 'copied';
    } catch {
      shared.value = 'refused'; // the address bar has it all the same
    }
    setTimeout(() => (shared.value = ''), 4000);
  };
  return (
    <>
      <button type="button" onClick={() => void share()}>
        {w.share}
      </button>
      <span class="toast" role="status">
        {shared.value === 'copied' ? w.copied : shared.value === 'refused' ? w.copyFromBar : ''}
      </span>
    </>
  );
}

const speed = signal<number | undefined>(undefined);
let measured = false;

/// Measured once, when the page has come to rest: fused attention, n 512, d 64, one thread.
function measure(): void {
  if (measured) return;
  measured = true;
  const { finished } = run('benchmark', { n: 512, d: 64 }, (gflops) => (speed.value = gflops));
  finished.catch(() => undefined); // the frame says why there is no engine
}

function EngineBadge(): JSX.Element {
  const w = words().frame;
  useEffect(() => {
    const timer = setTimeout(measure, 1500);
    return () => clearTimeout(timer);
  }, []);
  if (failure.value) return <span class="badge">{w.engineFailed}</span>;
  return (
    <span class="badge" title={w.badgeMeans}>
      WASM SIMD, {relaxed ? 'relaxed' : 'strict'}
      {speed.value !== undefined && ` · ${w.speedHere(speed.value.toFixed(0))}`}
    </span>
  );
}
