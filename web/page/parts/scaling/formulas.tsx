// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Formulas of scaling, the same in every language; and d_k in drawings.

import type { ComponentChildren, JSX } from 'preact';

import { M, Name } from '../../ui/formula';

export function Dk(props: InlineProps): JSX.Element {
  return (
    <Inline {...props}>
      <Name of="d_k" />
    </Inline>
  );
}
export function RootDk(props: InlineProps): JSX.Element {
  return (
    <Inline {...props}>
      <msqrt>
        <Name of="d_k" />
      </msqrt>
    </Inline>
  );
}
export function Score(props: InlineProps): JSX.Element {
  return (
    <Inline {...props}>
      <Product />
    </Inline>
  );
}

export interface InlineProps {
  readonly said?: string; // names the control that it labels
  readonly then?: string; // a comma, say, that must not begin the next line: Chinese ones would
}

function Inline({ said, then, children }: InlineProps & { readonly children: ComponentChildren }): JSX.Element {
  const formula = <M {...(said ? { said } : {})}>{children}</M>;
  if (!then) return formula;
  return (
    <span class="together">
      {formula}
      {then}
    </span>
  );
}

function Product(): JSX.Element {
  return (
    <>
      <mi>q</mi>
      <mo>·</mo>
      <mi>k</mi>
    </>
  );
}
function Terms(): JSX.Element {
  return (
    <>
      <Name of="q_i" />
      <Name of="k_i" />
    </>
  );
}
/// f(...), f[...]
function Of({
  f,
  square,
  children,
}: {
  readonly f: string;
  readonly square?: boolean;
  readonly children: ComponentChildren;
}): JSX.Element {
  return (
    <mrow>
      <mi mathvariant="normal">{f}</mi>
      <mo>{square ? '[' : '('}</mo>
      {children}
      <mo>{square ? ']' : ')'}</mo>
    </mrow>
  );
}
function Sum(): JSX.Element {
  return (
    <munder>
      <mo>∑</mo>
      <mi>i</mi>
    </munder>
  );
}
function Power({ of, to }: { readonly of: string; readonly to: number }): JSX.Element {
  return (
    <msubsup>
      <mi>{of}</mi>
      <mi>i</mi>
      <mn>{to}</mn>
    </msubsup>
  );
}
function Squared({ children }: { readonly children: ComponentChildren }): JSX.Element {
  return (
    <msup>
      <mrow>{children}</mrow>
      <mn>2</mn>
    </msup>
  );
}
function Norm(): JSX.Element {
  return (
    <mrow>
      <mo>‖</mo>
      <Name of="J" />
      <mo>‖</mo>
    </mrow>
  );
}

export function VarianceOfTerm(): JSX.Element {
  return (
    <M block>
      <Of f="Var">
        <Terms />
      </Of>
      <mo>=</mo>
      <Of f="E" square>
        <Power of="q" to={2} />
      </Of>
      <Of f="E" square>
        <Power of="k" to={2} />
      </Of>
      <mo>=</mo>
      <mn>1</mn>
    </M>
  );
}
export function VarianceOfScore(): JSX.Element {
  return (
    <M block>
      <Of f="Var">
        <Product />
      </Of>
      <mo>=</mo>
      <Sum />
      <Of f="Var">
        <Terms />
      </Of>
      <mo>=</mo>
      <Name of="d_k" />
    </M>
  );
}
export function VarianceDivided(): JSX.Element {
  return (
    <M block>
      <Of f="Var">
        <mi>x</mi>
        <mo>/</mo>
        <mi>a</mi>
      </Of>
      <mo>=</mo>
      <Of f="Var">
        <mi>x</mi>
      </Of>
      <mo>/</mo>
      <Squared>
        <mi>a</mi>
      </Squared>
    </M>
  );
}

export function Jacobian(props: InlineProps): JSX.Element {
  return (
    <Inline {...props}>
      <Name of="J" />
      <mo>=</mo>
      <Derivative of="p" by="s" />
    </Inline>
  );
}
export function NormOfJ(props: InlineProps): JSX.Element {
  return (
    <Inline {...props}>
      <Norm />
    </Inline>
  );
}
export function JacobianForm(): JSX.Element {
  return (
    <M block>
      <Name of="J" />
      <mo>=</mo>
      <Of f="diag">
        <mi>p</mi>
      </Of>
      <mo>−</mo>
      <mi>p</mi>
      <msup>
        <mi>p</mi>
        <mi mathvariant="normal">T</mi>
      </msup>
    </M>
  );
}
export function NormForm(): JSX.Element {
  return (
    <M block>
      <Squared>
        <Norm />
      </Squared>
      <mo>=</mo>
      <Sum />
      <Power of="p" to={2} />
      <mo>−</mo>
      <mn>2</mn>
      <Sum />
      <Power of="p" to={3} />
      <mo>+</mo>
      <Squared>
        <mo>(</mo>
        <Sum />
        <Power of="p" to={2} />
        <mo>)</mo>
      </Squared>
    </M>
  );
}
function Derivative({ of, by }: { readonly of: string; readonly by: string }): JSX.Element {
  return (
    <mrow>
      <mo lspace="0" rspace="0">
        ∂
      </mo>
      <mi>{of}</mi>
      <mo>/</mo>
      <mo lspace="0" rspace="0">
        ∂
      </mo>
      <mi>{by}</mi>
    </mrow>
  );
}
export function Gradient(props: InlineProps): JSX.Element {
  return (
    <Inline {...props}>
      <Derivative of="p" by="q" />
    </Inline>
  );
}
export function NormOfGradient(props: InlineProps): JSX.Element {
  return (
    <Inline {...props}>
      <mo>‖</mo>
      <Derivative of="p" by="q" />
      <mo>‖</mo>
    </Inline>
  );
}
export function GradientOfQuery(): JSX.Element {
  return (
    <M block>
      <Derivative of="p" by="q" />
      <mo>=</mo>
      <Name of="J" />
      <Name of="K" />
      <mo>/</mo>
      <mi>a</mi>
    </M>
  );
}

/// d_k in the text of a drawing, and what follows it.
export function DrawnDk({ root, then }: { readonly root?: boolean; readonly then?: string }): JSX.Element {
  return (
    <>
      {root && '√'}
      <tspan font-style="italic">d</tspan>
      <tspan font-style="italic" font-size="10" dy="3">
        k
      </tspan>
      {then && <tspan dy="-3">{then}</tspan>}
    </>
  );
}
