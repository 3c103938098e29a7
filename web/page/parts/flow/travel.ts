// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Where data goes: a frame in the role's colour leaves what a cell is made of and lands on the cell.

import type { Block } from './provenance';
import type { Cell } from '../../ui/grid';

const TRAVEL_MS = 320;
const COLORS: Record<string, string> = { q: '--q', k: '--k', v: '--v', s: '--above', p: '--above', a: '--weight' };

function boxOf(stage: HTMLElement, grid: string, i: number, j: number): DOMRect | undefined {
  return stage.querySelector(`[data-grid="${grid}"] [data-at="${i}.${j}"]`)?.getBoundingClientRect();
}

/// Nothing moves for those who asked for that, nor where cells are out of sight.
export function travel(stage: HTMLElement, from: readonly Block[], to: Cell): void {
  if (matchMedia('(prefers-reduced-motion: reduce)').matches) return;
  const target = boxOf(stage, to.grid, to.i, to.j);
  if (!target) return;
  const origin = stage.getBoundingClientRect();
  for (const { grid, rows, columns } of from) {
    const first = boxOf(stage, grid, rows[0], columns[0]);
    const last = boxOf(stage, grid, rows[1] - 1, columns[1] - 1);
    if (!first || !last) continue;
    const ghost = document.createElement('div');
    ghost.className = 'ghost';
    ghost.style.setProperty('--role', `var(${COLORS[grid] ?? '--x'})`);
    stage.append(ghost);
    const frame = (left: number, top: number, right: number, bottom: number): Keyframe => ({
      left: `${left - origin.left}px`,
      top: `${top - origin.top}px`,
      width: `${right - left}px`,
      height: `${bottom - top}px`,
    });
    const landed = ghost.animate(
      [
        frame(first.left, first.top, last.right, last.bottom),
        frame(target.left, target.top, target.right, target.bottom),
      ],
      { duration: TRAVEL_MS, easing: 'ease-in-out' },
    );
    landed.finished.then(
      () => ghost.remove(),
      () => ghost.remove(),
    );
  }
}
