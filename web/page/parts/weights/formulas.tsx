// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Formulas of softmax and of the weighted sum, the same in every language.

import type { ComponentChildren, JSX } from 'preact';

function Sub({ of, at }: { readonly of: string; readonly at: string }): JSX.Element {
  return (
    <msub>
      <mi>{of}</mi>
      <mi>{at}</mi>
    </msub>
  );
}
function Exp({ children }: { readonly children: ComponentChildren }): JSX.Element {
  return (
    <msup>
      <mi>e</mi>
      <mrow>{children}</mrow>
    </msup>
  );
}
function Sum({ over, children }: { readonly over: string; readonly children: ComponentChildren }): JSX.Element {
  return (
    <>
      <munder>
        <mo>∑</mo>
        <mi>{over}</mi>
      </munder>
      {children}
    </>
  );
}

/// T = 1, say.
export function Is({
  of,
  to,
  sign = '=',
}: {
  readonly of: string;
  readonly to: string;
  readonly sign?: string;
}): JSX.Element {
  return (
    <math>
      <mi>{of}</mi>
      <mo>{sign}</mo>
      {/^[a-z]/.test(to) ? <mi>{to}</mi> : <mn>{to}</mn>}
    </math>
  );
}

export function PowerOfE({ to }: { readonly to: string }): JSX.Element {
  return (
    <math>
      <Exp>
        <mn>{to}</mn>
      </Exp>
    </math>
  );
}

/// a_j = exp(s_j / T) / sum_k exp(s_k / T)
export function SoftmaxFormula(): JSX.Element {
  const term = (at: string) => (
    <>
      <mi>exp</mi>
      <mo stretchy={false}>(</mo>
      <Sub of="s" at={at} />
      <mo>/</mo>
      <mi>T</mi>
      <mo stretchy={false}>)</mo>
    </>
  );
  return (
    <math display="block">
      <Sub of="a" at="j" />
      <mo>=</mo>
      <mfrac>
        <mrow>{term('j')}</mrow>
        <mrow>
          <Sum over="k">{term('k')}</Sum>
        </mrow>
      </mfrac>
    </math>
  );
}

/// a_i / a_j = e^(s_i - s_j)
export function RatioFormula(): JSX.Element {
  return (
    <math display="block">
      <mfrac>
        <Sub of="a" at="i" />
        <Sub of="a" at="j" />
      </mfrac>
      <mo>=</mo>
      <Exp>
        <Sub of="s" at="i" />
        <mo>−</mo>
        <Sub of="s" at="j" />
      </Exp>
    </math>
  );
}

/// e^(s_j + c) / sum_k e^(s_k + c) = e^c e^s_j / (e^c sum_k e^s_k)
export function ShiftFormula(): JSX.Element {
  const c = (
    <Exp>
      <mi>c</mi>
    </Exp>
  );
  const bare = (at: string) => (
    <Exp>
      <Sub of="s" at={at} />
    </Exp>
  );
  const shifted = (at: string) => (
    <Exp>
      <Sub of="s" at={at} />
      <mo>+</mo>
      <mi>c</mi>
    </Exp>
  );
  return (
    <math display="block">
      <mfrac>
        {shifted('j')}
        <mrow>
          <Sum over="k">{shifted('k')}</Sum>
        </mrow>
      </mfrac>
      <mo>=</mo>
      <mfrac>
        <mrow>
          {c}
          {bare('j')}
        </mrow>
        <mrow>
          {c}
          <Sum over="k">{bare('k')}</Sum>
        </mrow>
      </mfrac>
      <mo>=</mo>
      <Sub of="a" at="j" />
    </math>
  );
}

/// d a_i / d s_j = a_i (delta_ij - a_j)
export function DerivativeFormula(): JSX.Element {
  const partial = (of: string, at: string) => (
    <mrow>
      <mo>∂</mo>
      <Sub of={of} at={at} />
    </mrow>
  );
  return (
    <math display="block">
      <mfrac>
        {partial('a', 'i')}
        {partial('s', 'j')}
      </mfrac>
      <mo>=</mo>
      <Sub of="a" at="i" />
      <mo stretchy={false}>(</mo>
      <msub>
        <mi>δ</mi>
        <mrow>
          <mi>i</mi>
          <mi>j</mi>
        </mrow>
      </msub>
      <mo>−</mo>
      <Sub of="a" at="j" />
      <mo stretchy={false}>)</mo>
    </math>
  );
}

/// z = sum_j a_j v_j; a_j >= 0; sum_j a_j = 1
export function WeightedSumFormula(): JSX.Element {
  return (
    <math display="block">
      <mi>z</mi>
      <mo>=</mo>
      <Sum over="j">
        <Sub of="a" at="j" />
        <Sub of="v" at="j" />
      </Sum>
      <mo>,</mo>
      <mspace width="1em" />
      <Sub of="a" at="j" />
      <mo>≥</mo>
      <mn>0</mn>
      <mo>,</mo>
      <mspace width="1em" />
      <Sum over="j">
        <Sub of="a" at="j" />
      </Sum>
      <mo>=</mo>
      <mn>1</mn>
    </math>
  );
}
