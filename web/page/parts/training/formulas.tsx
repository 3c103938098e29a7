// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Formulas of the model that learns, and what came of runs beforehand: the same in every language.

import type { ComponentChildren, JSX } from 'preact';

import { M, Name } from '../../ui/formula';

function Row({ of }: { readonly of: string }): JSX.Element {
  return (
    <mrow>
      <Name of="E" />
      <mo>[</mo>
      <Name of={of} />
      <mo>]</mo>
    </mrow>
  );
}

function Line({ children }: { readonly children: ComponentChildren }): JSX.Element {
  return <M block>{children}</M>;
}

export function ModelForm(): JSX.Element {
  return (
    <>
      <Line>
        <Name of="x_j" />
        <mo>=</mo>
        <Row of="a_j" />
        <mo>+</mo>
        <Row of="b_j" />
      </Line>
      <Line>
        <mi>q</mi>
        <mo>=</mo>
        <Name of="W_Q" />
        <Row of="a" />
      </Line>
      <Line>
        <Name of="k_j" />
        <mo>=</mo>
        <Name of="W_K" />
        <Name of="x_j" />
        <mo>,</mo>
        <mspace width="0.6em" />
        <Name of="v_j" />
        <mo>=</mo>
        <Name of="W_V" />
        <Name of="x_j" />
      </Line>
      <Line>
        <mi>y</mi>
        <mo>=</mo>
        <mi>softmax</mi>
        <mo>(</mo>
        <Name of="W_O" />
        <mspace width="0.2em" />
        <munder>
          <mo>∑</mo>
          <mi>j</mi>
        </munder>
        <Name of="p_j" />
        <Name of="v_j" />
        <mo>)</mo>
      </Line>
    </>
  );
}

export function RootDk(): JSX.Element {
  return (
    <M>
      <msqrt>
        <Name of="d_k" />
      </msqrt>
    </M>
  );
}

/// `said` names the control that it labels.
export function Dk({ said }: { readonly said?: string }): JSX.Element {
  return (
    <M {...(said ? { said } : {})}>
      <Name of="d_k" />
    </M>
  );
}

/// Steps to 90 % right, unscaled by scaled, from the least to the most of eight seeds.
const TRIED: readonly (readonly [string, ...string[]])[] = [
  ['0.001', '1.0–1.2', '1.2–1.7', '1.5–2.6', '1.4–2.9'],
  ['0.003', '0.9–1.2', '1.2–1.8', '1.5–2.5', '2.0–4.5'],
  ['0.01', '0.8–1.4', '1.3–2.0', '2.0–4.3', '≥ 5.7 *'],
];

export function Tried({ caption, rate }: { readonly caption: string; readonly rate: string }): JSX.Element {
  return (
    <table class="tried">
      <caption>{caption}</caption>
      <thead>
        <tr>
          <th scope="col">{rate}</th>
          {[4, 16, 64, 256].map((d) => (
            <th key={d} scope="col">
              <i>
                d<sub>k</sub>
              </i>{' '}
              = {d}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {TRIED.map(([at, ...ratios]) => (
          <tr key={at}>
            <th scope="row">{at}</th>
            {ratios.map((ratio) => (
              <td key={ratio}>{ratio}</td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
