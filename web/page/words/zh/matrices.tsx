// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0

import { AttentionFormula, M, Name } from '../../ui/formula';
import type { Words } from '../en';

/// 3 × 6, on one line.
function size(rows: number, columns: number): string {
  return `${rows}\u00a0×\u00a0${columns}`;
}

export const matrices: Words['parts']['matrices'] = {
  title: '用矩阵看注意力',
  text: (
    <>
      <p>
        一次矩阵乘法给所有的“查询—键”对打分，缩放之后每行各自过 softmax，再乘一次，值就混合好了：
        <span class="together">
          <AttentionFormula />。
        </span>
      </p>
      <p>
        处理器最擅长矩阵乘法，所以处处都这么写。不过引擎平时并不存 <b>S</b> 和 <b>A</b>
        ，只有像这里一样要给你看，才取出来。
      </p>
    </>
  ),
  more: (
    <>
      <p>
        看形状就明白大半。相乘的两个矩阵，里面的维度要对上：Q 和 K 靠{' '}
        <M>
          <Name of="d_k" />
        </M>{' '}
        相连，A 和 V 靠键的个数相连。进去多少行查询，就出来多少行；键有多少个，从 Z 的形状上看不出来；Z 的宽度等于 V
        的宽度。
      </p>
      <p>
        A 的每一行加起来是 1（一个键也看不到的行是 0），列不是：一个键可能谁都看它，也可能谁都不看。两次乘法一共{' '}
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
        次运算，softmax 每个分数再加固定的几步。
      </p>
      <p>
        融合的算法把键分块走一遍，对每个查询只记三样：到目前为止最大的分数、指数之和、混合好的值；最大值变大时，把之前加好的按比例缩小。结果是同一个
        softmax，而内存随 n 增长，不随 n² 增长。
      </p>
    </>
  ),
  head: (n) => `头 ${n}`,
  say: ({ nQ, nKv, dK, dV, heads }) =>
    `${heads > 1 ? `${heads} 个头，每个头：` : ''}${nQ} 个查询、${nKv} 个键：${size(nQ, dK)} 乘 ${size(dK, nKv)}，得到 ${
      nQ * nKv
    } 个分数；${size(nQ, nKv)} 再乘 ${size(nKv, dV)}，得到 ${nQ}\u00a0行，每行 ${dV} 个数。`,
};
