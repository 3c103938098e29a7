// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// The outline of points in the plane, to be drawn around them.

export type Point = readonly [number, number];

/// The corners of the convex hull, in order (the monotone chain).
export function hullOf(points: readonly Point[]): Point[] {
  const sorted = [...points].sort(([x, y], [u, v]) => x - u || y - v);
  return [...chain(sorted), ...chain(sorted.reverse())];
}

/// One side of it, without its last point, which begins the other side.
function chain(points: readonly Point[]): Point[] {
  const side: Point[] = [];
  for (const point of points) {
    while (side.length > 1 && !turnsLeft(side.at(-2) as Point, side.at(-1) as Point, point)) side.pop();
    side.push(point);
  }
  return side.slice(0, -1);
}

function turnsLeft([ax, ay]: Point, [bx, by]: Point, [cx, cy]: Point): boolean {
  return (bx - ax) * (cy - ay) > (by - ay) * (cx - ax);
}
