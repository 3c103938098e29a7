// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Reads the .npy files of tests/cases: little-endian, version 1.
const ARRAYS = { '<f4': Float32Array, '<f8': Float64Array, '<i8': BigInt64Array, '<i4': Int32Array, '|b1': Uint8Array };

export function readNpy(bytes) {
  const end = 10 + bytes[8] + 256 * bytes[9];
  const header = new TextDecoder('latin1').decode(bytes.subarray(10, end));
  const descr = /'descr': '(.*?)'/.exec(header)[1];
  const fortran = /'fortran_order': True/.test(header);
  const shape = /'shape': \((.*?)\)/
    .exec(header)[1]
    .split(',')
    .filter((n) => n.trim())
    .map(Number);
  const type = ARRAYS[descr];
  if (type === undefined) throw new Error(`no case here holds ${descr}`);
  const data = new type(Uint8Array.from(bytes.subarray(end)).buffer);
  return { data, shape, stride: strides(shape, fortran) };
}

function strides(shape, fortran) {
  const stride = [];
  const axes = shape.map((_, axis) => axis);
  let step = 1;
  for (const axis of fortran ? axes : axes.reverse()) {
    stride[axis] = step;
    step *= shape[axis];
  }
  return stride;
}
