// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0

import {
  Dk,
  Gradient,
  GradientOfQuery,
  Jacobian,
  JacobianForm,
  NormForm,
  NormOfGradient,
  NormOfJ,
  RootDk,
  Score,
  VarianceDivided,
  VarianceOfScore,
  VarianceOfTerm,
} from '../../parts/scaling/formulas';
import type { Words } from '../en';

/// No space between two Chinese characters, where a number begins with a word.
function close(sentence: string): string {
  return sentence.replace(/ (?=不到|超过)/g, '');
}

export const scaling: Words['parts']['scaling'] = {
  title: (
    <>
      分数为什么要除以 <RootDk />
    </>
  ),
  mostModels: '大多数模型',
  divideBy: '分数除以',
  divisor: '除数',
  one: '1（不除）',
  before: '除之前',
  after: '除之后',
  deviation: '标准差',
  median: '中位数',
  percentile: '百分位',
  onCvs: '到简历上看看不缩放会怎样',

  scoresTitle: '维数越高，分数越分散',
  scoresText: (
    <>
      <p>
        一个分数是 <Dk /> 个乘积的和。随机取向量，各分量互相独立，均值 0，方差 1：每多一个乘积，方差就多 1，所以{' '}
        <Score /> 的标准差是 <RootDk then="。" />
      </p>
      <p>
        softmax 看的是分数之差：高出 8，权重就是对方的 3000 倍左右。除以 <RootDk /> 之后，不管 <Dk />{' '}
        多大，分数的分散程度都一样。
      </p>
      <p>训练好的向量并不独立，方差也不是 1；这里只看维数本身的影响。</p>
    </>
  ),
  scoresMore: (
    <>
      <p>各分量互相独立，均值 0，方差 1，所以乘积的均值是 0，方差就是平方的均值：</p>
      <VarianceOfTerm />
      <p>
        这 <Dk /> 个乘积彼此独立，方差可以直接相加：
      </p>
      <VarianceOfScore />
      <p>一个数除以 a，方差要除以 a 的平方：</p>
      <VarianceDivided />
      <p>
        所以除以 <RootDk then="，" />
        方差正好是 1。要是除以 <Dk then="，" />
        方差就成了 1/
        <Dk then="：" />
        维数越高，各个权重越接近，注意力也就快成了简单平均。
      </p>
    </>
  ),
  scoresChart: '同一根轴上的两张直方图：随机分数在除之前和除之后。',
  scoreAxis: '分数',
  largestOf: (keys) => `${keys} 个权重中最大的`,
  largestMedian: (keys, draws) => `${keys} 个权重中最大的（${draws} 次的中位数）`,
  medianOf: (draws) => `${draws} 次的中位数`,
  scoresSettings: (d, done, of, seed) => (
    <>
      <Dk /> = {d}，{of && `${of} 个中的 `}
      {done} 个分数，种子 {seed}；两张直方图各自画满高度。实测：
    </>
  ),
  mean: '均值',
  variance: '方差',
  measuredOf: (name) => name,
  comma: '，',
  between: '；',
  end: '。',
  scoresSentence: ({ by, d, divisor, before, after, keys, largestBefore, largestAfter, even }) =>
    close(
      by === 'one'
        ? `d_k = ${d}，不缩放：分数的标准差是 ${before}；有一半的时候，${keys} 个权重中最大的那个不低于 ${largestBefore}。`
        : `d_k = ${d} 时，分数的标准差是 ${before}，${keys} 个权重中最大的占 ${largestBefore}（中位数）。除以 ${by === 'root' ? '√d_k' : 'd_k'}\u00a0=\u00a0${divisor} 之后，标准差是 ${after}，最大的权重占 ${largestAfter}${by === 'dk' ? `，人人均分则是 ${even}` : ''}。`,
    ),
  scoresTable: (d) => `分数，d_k = ${d}`,
  scoresColumns: ['除数', '均值', '方差', '标准差', '最小', '最大', '落在轴外的个数'],
  largestColumn: (p) => `最大权重，${p} %`,
  countsTable: (name) => `直方图，${name}`,
  counts: '个数',

  ribbonTitle: 'softmax 的反应：多数行迟钝，少数行强烈',
  ribbonText: (
    <>
      <p>
        分数动一点，权重跟着动多少？这就是 softmax 自己的导数 <Jacobian then="；" />
        图中是它的大小 <NormOfJ then="，" />
        随机抽 400 行，每行 64 个键。
      </p>
      <p>
        不缩放，
        <Dk /> 不大时，反应反而比缩放时强；再往后中位数一路下降，到 1024，多数行几乎没有反应。但只要有两个键不相上下，
        <NormOfJ /> 就仍接近 0.5，这已是上限。缩放之后，不论 <Dk />{' '}
        多大，各行都差不多。不过这还不是模型学习时用的梯度，那里还要算上键。
      </p>
    </>
  ),
  ribbonMore: (
    <>
      <p>设一行的权重是 p，送进 softmax 的分数是 s：</p>
      <JacobianForm />
      <p>它的弗罗贝尼乌斯范数，即所有元素的平方和再开方，只需几个幂和就能算出：</p>
      <NormForm />
      <p>
        一个权重为 1、其余为 0，得 1 − 2 + 1 = 0；两个权重各占 ½，得 ½ − ½ + ¼，于是 <NormOfJ /> = ½。
      </p>
      <p>
        图要这样看：100 行里，有 90 行落在浅色带中，50 行落在深色带中。各分量互相独立，均值 0，方差
        1；训练好的模型并非如此。
      </p>
    </>
  ),
  ribbonChart: 'd_k 从 1 到 1024 的百分位数，不缩放与缩放各一张。',
  measure: '看什么',
  measures: { norm: '导数的大小', largest: '最大的权重' },
  measureAxis: { norm: '导数的大小 ‖J‖', largest: '最大的权重', gradient: '传到查询的梯度 ‖∂p/∂q‖' },
  unscaled: '不缩放',
  scaled: '缩放，除以',
  ribbonSettings: (keys, draws, stoppedAt, seed) => (
    <>
      {keys} 个键，两张图在每个 <Dk /> 上各抽 {draws} 次{stoppedAt && `（停在 ${stoppedAt}）`}，种子 {seed}
      ；各分量独立，均值 0，方差 1。
    </>
  ),
  inWords: (number) => number.replace('< ', '不到 ').replace('> ', '超过 '),
  ribbonSentence: {
    norm: ({ d, bare, scaled }) =>
      close(
        `d_k = ${d} 时，‖J‖ 的中位数不缩放是 ${bare[2]}，缩放后是 ${scaled[2]}。不缩放，中间一半的行在 ${bare[1]} 到 ${bare[3]} 之间，二十行里有一行高于 ${bare[4]}；缩放后，中间一半的行在 ${scaled[1]} 到 ${scaled[3]} 之间。`,
      ),
    largest: ({ d, bare, scaled }) =>
      close(
        `d_k = ${d} 时，最大的权重不缩放占 ${bare[2]}，缩放后占 ${scaled[2]}（中位数）。不缩放，中间一半的行在 ${bare[1]} 到 ${bare[3]} 之间；缩放后，中间一半的行在 ${scaled[1]} 到 ${scaled[3]} 之间。`,
      ),
  },

  gradientTitle: '不缩放梯度就消失？只对一半',
  gradientText: (
    <>
      <p>
        模型靠传到查询的梯度学习：q 动一点，权重跟着动多少，即 <Gradient then="。" />
        图中是它的大小 <NormOfGradient then="，" />
        由引擎的反向传播算出，纵轴是对数的。
      </p>
      <p>
        “缩放让梯度稳定”，说得对：缩放之后，不论 <Dk />{' '}
        多大，各行都差不多。“不缩放梯度就消失”，只对了一半：每个键的长度约为 <RootDk then="，" />
        softmax 的导数要乘上它。
        <Dk /> 越大，几乎收不到梯度的行越多；而少数不相上下的行，收到的反而越来越大。
      </p>
    </>
  ),
  gradientMore: (little, much) => (
    <>
      <p>分数先除以 a，按链式法则：</p>
      <GradientOfQuery />
      <p>
        <NormOfGradient /> 是弗罗贝尼乌斯范数：64 · <Dk /> 个元素的平方和再开方。换一种范数，数值也会不同。
      </p>
      <p>
        把值取成单位矩阵，注意力的输出就是 p；再把单位矩阵的一行当作输出的梯度，得到的就是 <Gradient />{' '}
        的一行。所以调用一次 attention_backward()（float32）就够了。
      </p>
      <p>
        核对的办法：每十行取一行，把 q 的四个分量各往两边挪一点，用 float64 的前向看 p
        变了多少。相差多少，按同一行中比对过的最大元素来算。
      </p>
      <p>
        图下那句话的标准：第 5 百分位不到缩放后的 1/{little}，就说“几乎收不到”；第 95 百分位超过缩放后的 {much}{' '}
        倍，就说“大得多”。
      </p>
    </>
  ),
  checked: (difference, entries) => (
    <>
      反向传播与前向的有限差分相比：{entries} 个元素，最多相差 {difference}。
    </>
  ),
  gradientSentence: ({ d, bare, scaled, little, much }) =>
    `d_k = ${d}，不缩放：二十行里有一行的 ‖∂p/∂q‖ 低于 ${bare[0]}，中位数是 ${bare[2]}，二十行里有一行高于 ${bare[4]}；缩放后，这三个数是 ${scaled[0]}、${scaled[2]} 和 ${scaled[4]}。${
      little && much
        ? '不缩放，最弱的二十分之一几乎收不到梯度，最强的二十分之一收到的则比缩放时大得多。'
        : little
          ? '不缩放，最弱的二十分之一几乎收不到梯度，最强的二十分之一也没有比缩放时大多少。'
          : much
            ? '不缩放，最强的二十分之一收到的比缩放时大得多，最弱的也还收得到。'
            : '在这里，缩不缩放，两头都相差不大。'
    }`,
};
