// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0

import type { Common } from '../en';

export const frame: Common['frame'] = {
  title: '看见注意力',
  skip: '直接看图',
  modeSwitch: '怎么看',
  modes: { steps: '一步一步', flow: '全流程', matrices: '矩阵' },
  partNav: '目录',
  names: {
    dot: '点积',
    scaling: '缩放',
    weights: '权重',
    sum: '加权求和',
    training: '训练',
    flow: '全流程',
    matrices: '矩阵',
  },
  next: (name) => `接着看：${name}`,
  undo: '撤销（Ctrl+Z）',
  redo: '重做（Ctrl+Shift+Z）',
  language: '语言',
  theme: '配色',
  light: '浅色',
  dark: '深色',
  share: '分享',
  copied: '网址已复制，你改过的一切都在里面。',
  copyFromBar: '浏览器不让页面复制；地址栏里的网址就包含你改过的一切。',
  speedHere: (gflops) => `本机 ${gflops} GFLOP/s`,
  badgeMeans: 'C++ 引擎编译成的 WebAssembly。速度：融合注意力，512 个 token，每个头 64 维，单线程。',
  engineFailed: '引擎没有启动',
  noEngine: (why) => `引擎没能启动，所以没有数字可看：${why}。换一个允许 WebAssembly 的新版浏览器即可。`,
  notUnderstood: (keys) => `网址里有看不懂的内容：${keys}。其余的已经照办。`,
};
