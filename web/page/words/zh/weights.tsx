// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0

import {
  DerivativeFormula,
  Is,
  PowerOfE,
  RatioFormula,
  ShiftFormula,
  SoftmaxFormula,
} from '../../parts/weights/formulas';
import { M, Sqrt } from '../../ui/formula';
import type { Words } from '../en';

export const weights: Words['parts']['weights'] = {
  title: '分数怎样变成权重',
  score: '分数',
  raw: 'q · k',
  exp: 'exp',
  weight: '权重',
  sum: '合计',
  shares: {
    title: '分数化成份额',
    text: (
      <>
        <p>
          需求 1 打的八个分数可正可负、可大可小，注意力却要按比例来分。softmax 先以 e
          为底取指数，个个变成正数；再除以八个数的总和，加起来正好是 100 %。图中取指数前先减去最大的分数，结果不变。
        </p>
        <SoftmaxFormula />
        <p>
          谁高谁低，次序不变。温度{' '}
          <M>
            <mi>T</mi>
          </M>{' '}
          把所有分数再除一次：远小于 1，第一名通吃；远大于 1，人人接近八分之一。缩放用的 <Sqrt of="d_k" />{' '}
          也是这样一个除数，只不过事先就定好了。
        </p>
      </>
    ),
    more: (
      <>
        <p>
          float32 里，指数一过 88 多一点，exp 就溢出了。所以先减去最大的分数：最大的指数变成
          0，权重却一点不变（见下一张图）。
        </p>
        <p>
          <Is of="T" to="1" /> 时，权重对分数的导数是：
        </p>
        <DerivativeFormula />
        <p>
          <Is of="i" to="j" /> 时 δ 为 1，否则为 0。一旦某个权重接近 1、其余接近 0，这些导数就都接近
          0：分数动一点，这一行权重几乎没有反应。
        </p>
      </>
    ),
    label: '八份简历的分数、指数和权重',
    sentence: (how, best, share, rest, zeros) =>
      `${how}，${best} 独得 ${share} 的注意力，其余七份合分 ${rest}。` +
      (zeros === 0 ? '' : `其中 ${zeros} 个小于 float32 最小的正规数，直接记作 0。`),
  },
  odds: {
    title: '分数多 1，比值乘 e',
    text: (
      <>
        <p>
          给一个分数加 1，它的权重与其他任何一个权重之比，都变成原来的 e 倍（约
          2.718），不管原来的分数是多少；它与其余七份总和之比也一样。起作用的只是分数之差
          <span class="together">
            （这里 <Is of="T" to="1" />
            ）：
          </span>
        </p>
        <RatioFormula />
        <p>
          所有分数都加同一个数，权重谁也不变。按公式，权重永远不会是 0；可在这里的引擎中，分数比最大的低 88
          左右，权重就真的成了 0，因为 <PowerOfE to="−88" /> 比 float32 最小的正规数还小。
        </p>
      </>
    ),
    more: (
      <>
        <p>为什么人人都加 c 等于没加：</p>
        <ShiftFormula />
        <p>
          float32 在正规数之下还有次正规数，最小约到 <PowerOfE to="−103" />
          。保留次正规数的程序，要低到 104 左右才得 0；把次正规数直接当 0 的程序，低到 88 左右就是 0 了。权重为
          0，也就没有梯度。
        </p>
      </>
    ),
    label: '加数之后的分数与权重，短竖线标出原来的权重',
    one: '改谁的分数',
    other: '和谁比',
    addTo: '加给',
    to: { one: '这一个', all: '全部八个' },
    addend: '加多少',
    far: (by) => `试试 ${by}`,
    before: '原来',
    after: '现在',
    weightOf: (name) => `${name} 的权重`,
    written: '被改的那个分数，softmax 一步步算',
    sum: '总和',
    nothing: '还没有加：前后一样。',
    allMoved: (add, moved) =>
      `八个分数各加 ${add}：` +
      (moved === '' ? '每个权重一位不差，和原来一样。' : `权重最多变动 ${moved}，那是舍入误差。`),
    atT: (t) => `T = ${t} 时，分数先除以它：`,
    grown: (add, name, was, is, other, factor) =>
      `${name} 的分数加 ${add}：权重由 ${was} 变为 ${is}，与${other}（以及其他每一份）之比变成原来的 ${factor} 倍。`,
    alone: (add, name, was, is, other) =>
      `${name} 的分数加 ${add}：权重由 ${was} 变为 ${is}；${other} 的权重小于 float32 最小的正规数，直接记作 0。`,
    gone: (name, below) =>
      `${name} 的分数比最高的低 ${below}：权重不是很小，而是正好等于 0，因为它小于 float32 最小的正规数，引擎直接记作 0。`,
  },
};
