// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// MKL asks this function of its own whether the processor is Intel's, and takes AVX2 without bfloat16 where it is not. Loaded
// first, this answer lets it use what the processor has: PyTorch is then twice as fast in float32, four times in bfloat16. Many
// users of AMD's processors do so, so it is how PyTorch is met there at its best.
extern "C" int mkl_serv_intel_cpu_true() { return 1; }
