// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0

import type { Common } from '../en';

export const scene: Common['scene'] = {
  example: '输入',
  examples: { cvs: '一摞简历', sentence: '一句话' },
  features: ['Transformer', '推荐系统', 'C++', '科研', '沟通', '运维'],
  featuresShort: ['Tra', '推荐', 'C++', '科研', '沟通', '运维'],
  briefs: ['需求 1：高级 AI 工程师', '需求 2：推理引擎工程师', '需求 3：产品负责人'],
  briefsShort: ['需求 1', '需求 2', '需求 3'],
  titles: [
    '简历 1：搜索工程师',
    '简历 2：Transformer 工程师',
    '简历 3：推荐工程师',
    '简历 4：C++ 工程师',
    '简历 5：研究员',
    '简历 6：运维工程师',
    '简历 7：产品经理',
    '简历 8：关键词全写上',
  ],
  titlesShort: ['简历 1', '简历 2', '简历 3', '简历 4', '简历 5', '简历 6', '简历 7', '简历 8'],
  skills: ['建模', '做产品', '写快代码', '带团队'],
  skillsShort: ['建模', '产品', '快码', '带队'],
  words: ['猫', '睡了', '因为', '它', '困'],
  kinds: ['事物', '动作', '指代', '状态'],
  kindsShort: ['事物', '动作', '指代', '状态'],
  query: '查询 i',
  key: '键 j',
  word: '词 i',
  component: '分量 c',
  into: '入',
  outOf: '出',
  quoted: (word) => `“${word}”`,
  meanings: {
    x: '词向量',
    wq: '产生查询',
    wk: '产生键',
    wv: '产生值',
    q: '查询',
    k: '键',
    v: '值',
    s: '分数',
    p: '送进 softmax',
    a: '权重',
    z: '输出',
  },
  ownMask: '打勾：这个查询看得到这个键。',
  heads: '头数',
  headCount: { '1': '一个', '2': '两个' },
  scaling: '分数除以',
  scalings: { sqrt: '√d_k', off: '不除', factor: '一个数' },
  factor: '除数',
  temperature: '温度 T',
  /// How the scores came to be, as a sentence begins.
  divided: (divisor, t) => {
    const scaled = divisor === '' ? '不做缩放' : `分数除以 ${divisor} `;
    return t === '' ? `${scaled}时` : `${scaled.trim()}、T = ${t} 时`;
  },
  mask: '掩码',
  masks: { none: '不用', causal: '因果', window: '窗口', own: '自己点' },
  windowLeft: '往左看几个键',
  windowRight: '往右看几个键',
};
