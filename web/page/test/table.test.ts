// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Files that figures are taken away in.

import { expect, test } from 'vitest';

import { matrix } from '../state/matrix';
import { brief, full, percent } from '../ui/format';
import { csv, npy, tableOf } from '../ui/table';

const table = tableOf('S, "raw"', ['a', 'b'], ['x', 'y,z'], matrix([[1, -2], [0.5, Infinity]])); // prettier-ignore

test('csv quotes what has to be quoted', () => {
  expect(csv([table]).split('\r\n')).toEqual(['"S, ""raw""",x,"y,z"', 'a,1,-2', 'b,0.5,Infinity', '']);
});

test('.npy is NumPy’s format, aligned to 64 bytes', () => {
  const bytes = npy(table);
  expect([...bytes.subarray(0, 8)]).toEqual([0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59, 1, 0]);
  const length = bytes[8] as number;
  expect((10 + length) % 64).toBe(0);
  const header = new TextDecoder().decode(bytes.subarray(10, 10 + length));
  expect(header).toBe(header.trimEnd().padEnd(length - 1) + '\n');
  expect(header).toContain("'descr': '<f4'");
  expect(header).toContain("'shape': (2, 2)");
  const numbers = new Float32Array(bytes.slice(10 + length).buffer);
  expect([...numbers]).toEqual([1, -2, 0.5, Infinity]);
});

test('numbers are written as people write them', () => {
  expect([0, -0.004, -1.5, 15.5, 123.4, -Infinity, NaN].map(brief)).toEqual([
    '0.00',
    '0.00',
    '−1.50',
    '15.5',
    '123',
    '−∞',
    'NaN',
  ]);
  expect([0, 2, -0.25, 1e-7, -Infinity].map(full)).toEqual(['0', '2.00000', '−0.250000', '1.00000e−7', '−∞']);
  expect([1, 0.99, 0.99012, 0.999999, 0.0576, 0.00001, 0].map(percent)).toEqual([
    '100 %',
    '99.0 %',
    '99.0 %',
    '> 99.99 %',
    '5.8 %',
    '< 0.01 %',
    '0 %',
  ]);
});
