// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0

import type { Words } from '../en';
import * as formulas from '../../parts/dot/formulas';

export const dot: Words['parts']['dot'] = {
  title: '点积：先抓重点',
  plane: '两个特征张成的平面，上面有箭头 q 和 k',
  tip: (letter) => `${letter} 的箭尖`,
  arrows: {
    title: '一份需求，八份简历',
    text: (
      <>
        <p>
          桌上有一份需求：“高级 AI 工程师，要懂
          Transformer，做过推荐系统更好”，旁边是八份简历。来不及份份细读，只好先抓重点，这就是注意力。需求说的是要找什么，叫
          <b class="q">查询&nbsp;q</b>；简历的标题供它比对，叫<b class="k">键&nbsp;k</b>；一个人真正的本事是
          <b class="v">值&nbsp;v</b>，后面才用到。
        </p>
        <p>
          先只看两个特征，需求 1 和简历 1
          的标题就成了两支箭头。同一特征的两个数相乘，再全部加起来，就是点积，也就是匹配的分数。拖一拖箭尖，或者按方向键。
        </p>
      </>
    ),
    more: (
      <>
        <p>逐项相乘再相加，为什么会和余弦有关？q、k 和 q − k 围成一个三角形。余弦定理说：</p>
        {formulas.lawOfCosines}
        <p>勾股定理按分量展开，又有：</p>
        {formulas.byComponents}
        {formulas.multipliedOut}
        <p>两式一比：</p>
        {formulas.twoForms}
        <p>
          两支箭头总落在同一个平面里，所以不管有多少个特征，这个结论都成立。图中 k 旁边量出的 |q| cos θ，是 q 在 k
          方向上的投影。
        </p>
      </>
    ),
    presets: '让 k：',
    same: '同向',
    perpendicular: '垂直',
    opposite: '反向',
    twice: '加长一倍',
    qLength: 'q 的长度',
    kLength: 'k 的长度',
    angle: '夹角',
    cosine: '余弦',
    along: 'q 在 k 上的投影',
    product: '点积',
    arrows: '箭头',
    measured: '长度、夹角和点积',
    sentence: {
      none: '有一支箭头长度为 0，谈不上夹角，点积为 0。',
      same: (product) => `q 和 k 方向相同。长度不变的话，k 转到哪里得分都不会超过 ${product}。`,
      acute: (angle, product) => `q 和 k 夹角 ${angle}，是锐角：q 有一部分顺着 k，点积为正，等于 ${product}。`,
      right: 'q 和 k 互相垂直：不论多长，点积都是 0。',
      obtuse: (angle, product) => `q 和 k 夹角 ${angle}，是钝角：q 有一部分逆着 k，点积为负，等于 ${product}。`,
      opposite: (product) => `q 和 k 方向相反。长度不变的话，k 转到哪里得分都不会低于 ${product}。`,
    },
  },
  rankings: {
    title: '嗓门大就能赢吗',
    text: (
      <>
        <p>现在六个特征一起看。八个标题按需求 1 排两次名：一次按点积，一次按余弦。余弦只看方向，不管长度。</p>
        <p>
          简历 8
          把关键词全写上了。把它的标题拉长：每个数按同样的倍数变大，方向一点没变。点积既算方向，也算长度；注意力直接用点积，长度也就一起算了进去：键越长，嗓门越大。
        </p>
      </>
    ),
    more: (
      <>
        <p>点积除以两个长度，就是余弦：</p>
        {formulas.cosineOf}
        <p>把 k 拉长到 c 倍（c 大于 0），分子分母都多出一个 c，正好约掉：</p>
        {formulas.stretchedForms}
      </>
    ),
    which: '拉长谁的标题',
    times: (cv) => `${cv} 的标题拉长到几倍`,
    asWritten: '原样',
    label: '八个标题按需求 1 的排名：按点积，按余弦',
    byDot: '点积',
    byCosine: '余弦',
    rank: '名次',
    sentence: {
      noDirection: (cv) => `${cv}的标题全是 0：没有方向，也就没有余弦，和谁的点积都是 0。`,
      plain: ({ cv, dot, dotRank, cosine, cosineRank }) =>
        `${cv} 按点积排第 ${dotRank}（${dot}），按余弦${dotRank === cosineRank ? '也' : '却'}排第 ${cosineRank}（${cosine}）。`,
      stretched: ({ cv, times, dot, dotRank, plainDot, plainDotRank, cosine, cosineRank }) =>
        `${cv} 的长度变成 ${times} 倍，点积从 ${plainDot} 变成 ${dot}，名次` +
        (dotRank === plainDotRank
          ? `仍是第 ${dotRank}`
          : `从第 ${plainDotRank} ${dotRank < plainDotRank ? '升' : '落'}到第 ${dotRank}`) +
        `；余弦纹丝不动，还是 ${cosine}，排第 ${cosineRank}。`,
    },
  },
  pairs: {
    title: '一次算完所有配对',
    text: (
      <>
        <p>
          三份需求是 <b class="q">Q</b> 的三行，八个标题是 <b class="k">Kᵀ</b> 的八列。一次矩阵乘法 {formulas.product}
          ，24 对的分数就全有了：Q 的第 i 行与 Kᵀ 的第 j 列交汇处，就是 {formulas.score}
          。指着一个分数，看它怎么加出来；Q 和 K 里的数都可以改。
        </p>
        <p>
          比喻到此为止。模型里没有人在读简历：这些数是学出来的，特征没有名字；在一句话里，每个词同时是需求、标题和本事。
        </p>
      </>
    ),
    aboutQ: '一行一份需求',
    aboutK: '一列一个标题',
    aboutS: '分数',
    labelQ: 'Q：三份需求，六个特征',
    labelK: 'K 的转置：六个特征，八个标题',
    labelS: 'S：三份需求对八个标题的分数',
    sentence: (brief, cv, score, best) =>
      `${brief} 对${cv}：六个乘积相加，得 ${score}。各自最匹配的是：${best.map(([brief, cv, score]) => `${brief} 对${cv}（${score}）`).join('，')}。`,
  },
};
