// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Formulas that stand in more than one place, in MathML.

import type { ComponentChildren, JSX } from 'preact';

/// A name with its subscript: d_k, W_Q.
export function Name({ of }: { readonly of: string }): JSX.Element {
  const [letter = '', below] = of.split('_');
  const upright = /^[A-Z]$/.test(letter) ? 'bold' : undefined; // matrices are bold
  const base = upright ? <mi style={{ fontWeight: upright }}>{letter}</mi> : <mi>{letter}</mi>;
  return below === undefined ? (
    base
  ) : (
    <msub>
      {base}
      <mi>{below}</mi>
    </msub>
  );
}

/// `said` names a control that it labels: there, formulas are not read.
export function Sqrt({ of, said }: { readonly of: string; readonly said?: string }): JSX.Element {
  return (
    <math aria-label={said}>
      <msqrt>
        <Name of={of} />
      </msqrt>
    </math>
  );
}

export function M({
  children,
  block,
  said,
}: {
  readonly children: ComponentChildren;
  readonly block?: boolean;
  readonly said?: string;
}): JSX.Element {
  return (
    <math display={block ? 'block' : 'inline'} aria-label={said}>
      {children}
    </math>
  );
}

/// Z = softmax(Q K^T / sqrt(d_k)) V
export function AttentionFormula(): JSX.Element {
  return (
    <M>
      <Name of="Z" />
      <mo>=</mo>
      <mi>softmax</mi>
      <mo>(</mo>
      <Name of="Q" />
      <msup>
        <Name of="K" />
        <mi mathvariant="normal">T</mi>
      </msup>
      <mo>/</mo>
      <msqrt>
        <Name of="d_k" />
      </msqrt>
      <mo>)</mo>
      <Name of="V" />
    </M>
  );
}
