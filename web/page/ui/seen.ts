// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Whether an element has come into view, or near it: what takes long to load and to compute can wait for that.

import { type ReadonlySignal, useSignal } from '@preact/signals';
import type { RefObject } from 'preact';
import { useEffect } from 'preact/hooks';

export function useSeen(element: RefObject<Element>): ReadonlySignal<boolean> {
  const seen = useSignal(false);
  useEffect(() => {
    const observer = new IntersectionObserver(
      (entries) => {
        if (!entries.some(({ isIntersecting }) => isIntersecting)) return;
        seen.value = true;
        observer.disconnect();
      },
      { rootMargin: '100px' },
    );
    if (element.current) observer.observe(element.current);
    return () => observer.disconnect();
  }, []);
  return seen;
}
