// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// The formulas that the words of both languages set between their sentences.

import type { ComponentChildren, JSX } from 'preact';

/// Of an operator that keeps its size. Preact's types take a boolean, of which it would write none.
const still: object = { stretchy: 'false' };

const q = <mi>q</mi>;
const k = <mi>k</mi>;
const dot = (
  <mrow>
    {q}
    <mo>⋅</mo>
    {k}
  </mrow>
);

function Length({ of }: { readonly of: ComponentChildren }): JSX.Element {
  return (
    <mrow>
      <mo {...still}>|</mo>
      {of}
      <mo {...still}>|</mo>
    </mrow>
  );
}

function Squared({ of }: { readonly of: ComponentChildren }): JSX.Element {
  return (
    <msup>
      <Length of={of} />
      <mn>2</mn>
    </msup>
  );
}

const lengths = (
  <mrow>
    <Length of={q} />
    <Length of={k} />
  </mrow>
);
const difference = (
  <mrow>
    {q}
    <mo>−</mo>
    {k}
  </mrow>
);
const cosine = (
  <mrow>
    <mi>cos</mi>
    <mo>&#x2061;</mo>
    <mi>θ</mi>
  </mrow>
);

/// q . k = q_1 k_1 + ... + q_d k_d
export const dotProduct = (
  <math>
    {dot}
    <mo>=</mo>
    <msub>
      {q}
      <mn>1</mn>
    </msub>
    <msub>
      {k}
      <mn>1</mn>
    </msub>
    <mo>+</mo>
    <mo>⋯</mo>
    <mo>+</mo>
    <msub>
      {q}
      <mi>d</mi>
    </msub>
    <msub>
      {k}
      <mi>d</mi>
    </msub>
  </math>
);

export const lawOfCosines = (
  <math display="block">
    <Squared of={difference} />
    <mo>=</mo>
    <Squared of={q} />
    <mo>+</mo>
    <Squared of={k} />
    <mo>−</mo>
    <mn>2</mn>
    {lengths}
    {cosine}
  </math>
);

export const byComponents = (
  <math display="block">
    <Squared of={difference} />
    <mo>=</mo>
    <munder>
      <mo>∑</mo>
      <mi>c</mi>
    </munder>
    <msup>
      <mrow>
        <mo {...still}>(</mo>
        <msub>
          {q}
          <mi>c</mi>
        </msub>
        <mo>−</mo>
        <msub>
          {k}
          <mi>c</mi>
        </msub>
        <mo {...still}>)</mo>
      </mrow>
      <mn>2</mn>
    </msup>
  </math>
);

export const multipliedOut = (
  <math display="block">
    <mo>=</mo>
    <Squared of={q} />
    <mo>+</mo>
    <Squared of={k} />
    <mo>−</mo>
    <mn>2</mn>
    {dot}
  </math>
);

export const twoForms = (
  <math display="block">
    {dot}
    <mo>=</mo>
    {lengths}
    {cosine}
  </math>
);

export const cosineOf = (
  <math display="block">
    {cosine}
    <mo>=</mo>
    <mfrac>
      {dot}
      {lengths}
    </mfrac>
  </math>
);

/// (c k): the dot product grows c times, so does |k|, and the cosine stays.
export const stretchedForms = (
  <math display="block">
    {q}
    <mo>⋅</mo>
    <mo {...still}>(</mo>
    <mi>c</mi>
    {k}
    <mo {...still}>)</mo>
    <mo>=</mo>
    <mi>c</mi>
    <mo {...still}>(</mo>
    {dot}
    <mo {...still}>)</mo>
    <mo>,</mo>
    <mspace width="1em" />
    <Length
      of={
        <>
          <mi>c</mi>
          {k}
        </>
      }
    />
    <mo>=</mo>
    <mi>c</mi>
    <Length of={k} />
  </math>
);

export const product = (
  <math>
    <mi>S</mi>
    <mo>=</mo>
    <mi>Q</mi>
    <msup>
      <mi>K</mi>
      <mi mathvariant="normal">T</mi>
    </msup>
  </math>
);

export const score = (
  <math>
    <msub>
      <mi>s</mi>
      <mrow>
        <mi>i</mi>
        <mi>j</mi>
      </mrow>
    </msub>
    <mo>=</mo>
    <msub>
      {q}
      <mi>i</mi>
    </msub>
    <mo>⋅</mo>
    <msub>
      {k}
      <mi>j</mi>
    </msub>
  </math>
);
