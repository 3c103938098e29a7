// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0

import type { Common } from '../en';

export const ui: Common['ui'] = {
  more: '细说',
  reset: '复原',
  take: '导出',
  asTable: '显示为表格',
  hideTable: '收起表格',
  embed: '嵌入网页',
  exactly: '准确值',
  newValue: '新的值',
  notANumber: (limit) => `请填 −${limit} 到 ${limit} 之间的数。`,
  outOfRange: (min, max, whole) => `请填 ${min} 到 ${max} 之间的${whole ? '整数' : '数'}。`,
  byHand: '手动改过',
  notYet: '还没算到',
  stop: '停',
  again: '再来一次',
  stopped: '还没算完就停了。',
  waiting: '引擎正在算。',
};
