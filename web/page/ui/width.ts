// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// The width that a drawing has, so that its text keeps its size whatever the screen is.

import { useSignal } from '@preact/signals';
import type { RefObject } from 'preact';
import { useLayoutEffect } from 'preact/hooks';

/// In whole pixels, the element's content box; 0 before it is drawn. Redraws whoever asks when it changes.
export function useWidth(element: RefObject<Element>): number {
  const width = useSignal(0);
  useLayoutEffect(() => {
    const box = element.current;
    if (!box) return undefined;
    width.value = Math.floor(box.clientWidth);
    const observer = new ResizeObserver(([entry]) => {
      if (entry) width.value = Math.floor(entry.contentRect.width);
    });
    observer.observe(box);
    return () => observer.disconnect();
  }, []);
  return width.value;
}
