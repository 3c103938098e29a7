// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0

import { WeightedSumFormula } from '../../parts/weights/formulas';
import { M, Name } from '../../ui/formula';
import type { Words } from '../en';

export const sum: Words['parts']['sum'] = {
  title: '按权重，把值加起来',
  weights: '权重',
  values: '每份简历的本事',
  output: '输出',
  contributions: '各份的贡献',
  level: '水平',
  stack: {
    title: '输出就是加权平均',
    text: (
      <>
        <p>
          每份简历的值 <b class="v">v</b>{' '}
          乘上自己的权重，再加到一起。好比按权重抽签，抽中谁就用谁：输出就是平均能指望的水平，也就是期望。
        </p>
        <WeightedSumFormula />
        <p>每根长条里，一段是一份简历的贡献；下面的绿条是总和，也就是输出。改一个值试试，看它能传过去多少。</p>
      </>
    ),
    more: (
      <p>
        输出对值是线性的：
        <M>
          <Name of="v_j" />
        </M>{' '}
        的某一项加 1，输出的那一项正好加{' '}
        <M>
          <Name of="a_j" />
        </M>
        。对查询和键却不是，中间隔着 softmax。所有查询一起算，就是一次矩阵乘法：
        <M>
          <Name of="Z" />
          <mo>=</mo>
          <Name of="A" />
          <Name of="V" />
        </M>
        。
      </p>
    ),
    label: '每项本事中各份简历的贡献，以及输出',
    written: '写出算式',
    sentence: (skill, z, name, term, weight) =>
      `输出的“${skill}”是 ${z}，其中${name} 贡献最多：权重 ${weight}，贡献 ${term}。`,
  },
  hull: {
    title: '输出总在凸包里',
    text: (
      <>
        <p>
          取两项本事作坐标轴，八份简历就是八个点，权重越大，点越大；绿色菱形是输出 <b class="v">z</b>
          。权重不为负、合起来是 1，所以输出总落在这些点围成的凸包里，好比拿橡皮筋箍住这八个点，输出出不了圈。
        </p>
        <p>
          虚线是温度从 0.1 升到 10
          时输出走过的路：从第一名近旁出发，慢慢走向八个点的平均。注意力只是把已有的东西混合起来，混不出圈外的东西。
        </p>
      </>
    ),
    label: '各份简历的值画成点，输出在它们的凸包之内',
    across: '横轴',
    up: '纵轴',
    sentence: (how, x, y, best, share) =>
      `${how}，输出在${x}、${y} 处，仍在凸包里；${best} 占 ${share} 的权重，把它拉向自己。`,
  },
  swap: {
    title: '键管挑选，值管回答',
    text: (
      <>
        <p>
          权重只看需求和标题，也就是 <b class="q">q</b> 和 <b class="k">k</b>；简历里的真本事 <b class="v">v</b>{' '}
          说了不算。
        </p>
        <p>
          不妨让两份简历互换本事，标题不动。权重一个也不变，连最后一位都一样；输出却变了，因为同样的注意力，换来了别人的本事。标题写得响，就先被看到，不管背后是什么。
        </p>
      </>
    ),
    label: '互换前后，输出的每项本事',
    one: '这一份',
    other: '和这一份',
    swap: '互换本事',
    back: '换回来',
    before: '换之前',
    after: '现在',
    notYet: (a, b) => `还没有换。让${a} 和${b} 互换本事，看看哪些数会动。`,
    done: (a, b, same, moves) =>
      `${a} 和${b} 互换了本事。8 个权重里有 ${same} 个一位不差；输出变了：${moves.join('，')}。`,
  },
};
