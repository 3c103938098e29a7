// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Numbers of many sizes, by powers of ten.

const SUPERSCRIPTS = '⁰¹²³⁴⁵⁶⁷⁸⁹';

/// A power of ten as it is written: 10⁻⁷.
export function powerOfTen(exponent: number): string {
  const digits = [...String(Math.abs(exponent))].map((digit) => SUPERSCRIPTS[Number(digit)]);
  return `10${exponent < 0 ? '⁻' : ''}${digits.join('')}`;
}

/// Two digits and a power of ten.
export function scientific(x: number): string {
  if (x === 0) return '0';
  const [digits = '', exponent = ''] = x.toExponential(1).split('e');
  return `${digits} × ${powerOfTen(Number(exponent))}`;
}
