// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0

import { AttentionFormula, M, Name } from '../../ui/formula';

export const matrices = {
  title: 'Attention as matrices',
  text: (
    <>
      <p>
        All pairs are scored by one matrix product, every row of scores goes through softmax on its own, and a second
        product mixes the values: <AttentionFormula />.
      </p>
      <p>
        Two products of matrices are what processors do best, which is why this form is everywhere. The engine stores{' '}
        <b>S</b> and <b>A</b> only where it is asked to, as here, to show them.
      </p>
    </>
  ),
  more: (
    <>
      <p>
        Shapes tell most of it. The inner sizes of a product have to agree:{' '}
        <M>
          <Name of="d_k" />
        </M>{' '}
        joins Q to K, the number of keys joins A to V. As many rows go in (queries) as come out; the number of keys
        leaves no trace in the shape of Z, and the width of Z is that of V.
      </p>
      <p>
        Rows of A sum to 1 (to 0 where a mask leaves no key), columns to anything: a key may be looked at by all queries
        or by none. The two products take{' '}
        <M>
          <mn>2</mn>
          <Name of="n_q" />
          <Name of="n_kv" />
          <mo>(</mo>
          <Name of="d_k" />
          <mo>+</mo>
          <Name of="d_v" />
          <mo>)</mo>
        </M>{' '}
        operations, softmax a fixed number more for each score.
      </p>
      <p>
        Fused attention walks over the keys in blocks and keeps, for each query, the largest score so far, the sum of
        the exponentials and the mixed values; where the largest grows, what was summed before is scaled down. The
        result is the same softmax, and memory grows with n, not with n².
      </p>
    </>
  ),
  head: (n: number) => `Head ${n}`,
  say: ({ nQ, nKv, dK, dV, heads }: { nQ: number; nKv: number; dK: number; dV: number; heads: number }) =>
    `${heads > 1 ? `${heads} heads, each: ` : ''}${nQ} queries over ${nKv} keys: ${nQ} × ${dK} times ${dK} × ${nKv} gives ${
      nQ * nKv
    } scores, and ${nQ} × ${nKv} times ${nKv} × ${dV} gives ${nQ} rows of ${dV} numbers.`,
};
