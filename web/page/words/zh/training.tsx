// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0

import { Dk, ModelForm, RootDk, Tried } from '../../parts/training/formulas';
import type { Words } from '../en';

type Training = Words['parts']['training'];

function steps({ enough, unscaled, scaled, times, verdict }: Parameters<Training['came']>[0]): string {
  const both = `缩放的模型走 ${scaled} 步就答对 ${enough}，不缩放的走了 ${unscaled} 步`;
  switch (verdict) {
    case 'slower':
      return `${both}，是前者的 ${times} 倍：慢了。`;
    case 'faster':
      return `${both}：反而快些。`;
    case 'alike':
      return `${both}：差不多快。`;
    case 'never':
      return `缩放的模型走 ${scaled} 步就答对 ${enough}，不缩放的始终没有达到：落后了。`;
    case 'alone':
      return `不缩放的模型走 ${unscaled} 步就答对 ${enough}，缩放的却始终没有达到。`;
    case 'neither':
      return `两个模型都没有达到答对 ${enough}。`;
  }
}

export const training: Training = {
  title: '缩不缩放，学起来有差别吗？',
  text: ({ small, large, enough, times, window }) => (
    <>
      <p>
        两个小模型学同一件事：给八对符号，问其中一个键，答出它的值。初始权重、每一批题目、优化器都一样，只差一处：一个把分数除以{' '}
        <RootDk />
        ，另一个不除。
      </p>
      <p>
        <b>先说预期，再看结果。</b>
        <Dk /> 不超过 {small} 时，两个学得差不多快；从 {large}{' '}
        起，不缩放的要慢，因为它从第一步起就把几乎全部权重压在一对上，而且多半压错。中间的不作预期。
      </p>
      <p>
        <b>怎么算快慢。</b>数走了多少步，才有连续 {window} 步平均答对 {enough}。步数达到对方的 {times} 倍，就算慢。
      </p>
    </>
  ),
  more: (
    <>
      <p>
        键和值各有 16 种符号，同一题里的键 a<sub>j</sub> 互不相同。x<sub>j</sub> 是一对符号，q 问的是键 a，y
        是各个答案的概率：
      </p>
      <ModelForm />
      <p>
        p 是注意力的权重，只有一个头。嵌入和值都是 32 维。损失是 y 的交叉熵；优化器是 Adam（0.9，0.999），每步 32
        道新题。初始时嵌入取自 N(0, 1)，投影取自 N(0, 1/输入维数)。
      </p>
      <p>
        注意力和它的梯度由 attention() 和 attention_backward() 算，其余是普通的循环。每个点是 20
        步的平均，题目都是模型没见过的。
      </p>
      <Tried caption="事先用种子 1 到 8 试过：不缩放所用的步数是缩放的几倍" rate="学习率" />
      <p>
        * 八次里有五次（不用 relaxed SIMD 则是七次）在 800 步内始终没有答对 90 %。relaxed SIMD
        的舍入因处理器而异，单次结果可能略有出入。这只是一个任务、一种小模型，换了别的未必如此。
      </p>
    </>
  ),
  models: { one: '不缩放', root: '缩放' },
  measures: { loss: '损失', right: '答对的比例', largest: '最大的权重（平均）' },
  stepAxis: '步数',
  stepsRow: (steps) => `第 ${steps} 步`,
  numbers: {
    steps: (enough) => `答对 ${enough} 所用步数`,
    first: '一开始的最大权重',
    loss: '最后的损失',
    right: '最后答对',
  },
  rate: '学习率（两个相同）',
  chart: '损失、答对的比例和最大的权重随步数的变化，缩放与不缩放。',
  settings: ({ d, rate, seed, steps, stoppedAt }) => (
    <>
      <Dk /> = {d}，学习率 {rate}，种子 {seed}，{steps} 步，每步 32 道题{stoppedAt && `（停在第 ${stoppedAt} 步）`}。
    </>
  ),
  checked: (difference, entries) => (
    <>
      第一步之前，两个模型的梯度与有限差分相比：{entries} 个元素，最多相差 {difference}。
    </>
  ),
  underWay: ({ d, done, steps, scaled, unscaled }) =>
    `d_k = ${d}，${steps} 步走了 ${done} 步：缩放的答对 ${scaled.right}，损失 ${scaled.loss}；不缩放的答对 ${unscaled.right}，损失 ${unscaled.loss}。`,
  came: (came) =>
    `d_k = ${came.d}。${steps(came)}${
      came.expected === undefined ? '这里事先没有预期。' : came.expected ? '与预期相符。' : '与预期不符。'
    }最后几步，缩放的答对 ${came.ends.scaled.right}，不缩放的答对 ${came.ends.unscaled.right}。`,
};
