// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0

import { M, Name } from '../../ui/formula';
import type { Words } from '../en';

/// A name before a Chinese character: with a space after a digit, without one after a quotation mark.
function spaced(name: string): string {
  return /\d$/.test(name) ? `${name} ` : name;
}

export const flow: Words['parts']['flow'] = {
  title: '全流程：每个数字都看得见',
  text: (
    <>
      <p>
        每个查询给所有的键打分（<b>S</b>），分数除以一个数，经 softmax 变成权重（<b>A</b>
        ），再按权重把值加起来，一个查询得到一行输出（<b>Z</b>
        ）。全部就这几步。
      </p>
      <p>
        指着任何一个数，它的来处就亮起来，算式写在下方。哪个数都能改：输入（带下划线），或者算出来的数（改过的有虚线框，从此按你填的算）。后面的一切立即重算，全由浏览器里的
        C++ 引擎完成。
      </p>
    </>
  ),
  more: (
    <>
      <p>
        输入换成一句话，Q、K、V 就是同一批词的三个投影：
        <M>
          <Name of="Q" />
          <mo>=</mo>
          <Name of="X" />
          <Name of="W_Q" />
        </M>
        ，其余类推。每个词既是需求，又是标题，也是本事。这里的三个矩阵是手工写的，为的是每个数都说得出道理；模型里的矩阵是学出来的，各个分量没有名字。
      </p>
      <p>
        多头就是把 Q、K、V 的列切成几份，各算各的，输出并排放进 Z。这时的{' '}
        <M>
          <Name of="d_k" />
        </M>{' '}
        是一份的宽度。
      </p>
      <p>
        因果掩码从末尾对齐：最后一个查询能看到所有的键，往前每个依次少看一个。被掩掉的分数是 −∞，权重恰好是
        0，不管那个键里是什么。
      </p>
      <p>
        招聘的比喻到此为止：没有谁被“录用”，每个值都按权重出一份力；权重只说明这次求和里某个值占多少，并不说明模型为什么这样决定。
      </p>
    </>
  ),
  player: '播放',
  play: '播放',
  pause: '暂停',
  back: '上一步',
  on: '下一步',
  all: '全部',
  stageSwitch: '跳到哪一步',
  stages: {
    project: '投影',
    scores: '打分',
    scale: '缩放',
    mask: '掩码',
    softmax: 'softmax',
    sum: '加权求和',
  },
  shownHead: '看哪个头',
  headName: (n) => `头 ${n}`,
  worked: '这个数怎么来的',
  listing: '写成代码',
  letters: {
    x: 'X',
    wq: 'W_Q',
    wk: 'W_K',
    wv: 'W_V',
    q: 'q',
    k: 'k',
    v: 'v',
    s: 'q · k',
    p: '缩放后的分数',
    a: '权重',
    z: 'z',
  },
  cellIs: (letter, row, column) => `${letter}（${row}，${column}）=`,
  pointAtACell: '指着一个数，或用方向键走过去，算式就写在这里。',
  byHand: '这个数是手动改的，后面的都照它来算。按 Delete 恢复成算出来的数。',
  anInput: '这是输入。单击或按 Enter 修改，再按上下键每次变 0.1（加 Shift 变 1，加 Alt 变 0.01）。',
  maskedOut: '掩码不让这个键参与：分数是 −∞，权重恰好是 0。',
  undivided: '没有除：分数原样送进 softmax。',
  noKey: '这个查询一个键也看不到：权重全是 0，输出也是 0。',
  say: ({ query, key, share, scaled, head, masked }) =>
    `${scaled ? '分数缩放之后' : '分数不缩放'}${masked ? '，加上掩码' : ''}，${head ? `在头 ${head} 里，` : ''}${spaced(query)}把 ${share} 的注意力给了${key}。`,
  sayByHand: (query) => `${query}的权重手动改过：加起来不一定是 1，输出也可能跑出值的凸包。`,
  sayNoKey: (query) => `${spaced(query)}一个键也看不到，权重和输出都是 0。`,
  sayNaN: (query) => `${spaced(query)}的权重不是数：有分数是无穷大。`,
};
