// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0

import type { Words } from '../en';

export const flow: Words['parts']['flow'] = {
  title: '全流程：每个数字都看得见',
  text: (
    <>
      <p>
        每个查询给所有的键打分（<b>S</b>），分数除以一个数，变成权重（<b>A</b>
        ），再按权重把值加起来，一个查询得到一行输出（<b>Z</b>
        ）。全部过程就是这样。
      </p>
      <p>
        指着任何一个数：它从哪里来，就亮起哪里，算式写在下方。每个数都能改：输入（带下划线）改了就是新的输入；算出来的数改了就按你写的算（虚线框）。后面的一切立即重算，全由浏览器里的
        C++ 引擎完成。
      </p>
    </>
  ),
  more: (
    <>
      <p>
        输入换成一句话，Q、K、V 就是同一批词的三个投影：<b>Q</b> = X
        W_Q，其余类推。每个词既是需求，又是标题，也是本事。这里的三个矩阵是手工写的，为的是每个数都说得出道理；模型里的矩阵是学出来的，各个分量没有名字。
      </p>
      <p>多头就是把 Q、K、V 的列切成几份，各算各的，输出并排放进 Z。这时的 d_k 是一份的宽度。</p>
      <p>
        因果掩码从末尾对齐：最后一个查询能看到所有的键，前面的依次少看。被掩掉的分数是 −∞，权重恰好是
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
  stageSwitch: '跳到某个环节',
  stages: {
    inputs: '输入',
    project: '投影',
    scores: '打分',
    scale: '缩放',
    mask: '掩码',
    softmax: 'softmax',
    sum: '加权求和',
  },
  shownHead: '看哪个头',
  headName: (n) => `头 ${n}`,
  worked: '手上这个数怎么来的',
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
  cellIs: (letter, row, column) => `${letter}（${row}，${column}）：`,
  pointAtACell: '指着一个数，或用方向键走过去，算式就写在这里。',
  byHand: '这个数是手动改的，后面的都照它来算。按 Delete 恢复算出来的数。',
  anInput: '这是输入。单击或按 Enter 修改，再按上下键每次变 0.1。',
  maskedOut: '掩码不让这个键参与：分数是 −∞，权重恰好是 0。',
  undivided: '没有除：分数原样送进 softmax。',
  noKey: '这个查询一个键也看不到：权重全是 0，输出也是 0。',
  say: ({ query, key, share, scaled, head, masked }) =>
    `${scaled ? '分数缩放之后' : '分数不缩放'}${masked ? '，加上掩码' : ''}，${head ? `在头 ${head} 里，` : ''}${query}把 ${share} 的注意力给了${key}。`,
  sayNoKey: (query) => `${query}一个键也看不到，权重和输出都是 0。`,
  sayNaN: (query) => `${query}的权重不是数：有分数是无穷大。`,
};
