// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// What the modules with gradients export, beside memory and errors: the conventions are those of exports.h.
#ifndef FOVEATE_WEB_ENGINE_GRADIENTS_H_
#define FOVEATE_WEB_ENGINE_GRADIENTS_H_

#include <cstdint>

#include "exports.h"

namespace foveate::web {

class Sensitivity;
class Training;

/// The gradients that `backward` has, of the call whose outputs o and lse are given in `call`.
FOVEATE_WASM(fv_attention_backward)
int32_t fv_attention_backward(const Call* call, const BackwardCall* backward);

/// `draws` queries, each over `keys` keys of its own, the sequence of fv_saturation_begin: how the weights
/// p = softmax(q . k / divisor) answer to the query, d p / d q [keys, d_k], by attention_backward().
FOVEATE_WASM(fv_sensitivity_begin)
Sensitivity* fv_sensitivity_begin(int32_t d_k, int32_t keys, int32_t draws, uint32_t seed, double divisor);
FOVEATE_WASM(fv_sensitivity_step) int32_t fv_sensitivity_step(Sensitivity* sensitivity, int32_t count);
/// At each of n percentiles (0 to 100) of the draws done, the Frobenius norm of d p / d q. NaN before the first draw.
FOVEATE_WASM(fv_sensitivity_percentiles)
void fv_sensitivity_percentiles(const Sensitivity* sensitivity, int32_t n, const double* percentiles, double* norms);
/// check = {largest, entries}: entries of d p / d q of every tenth draw were compared with central differences of
/// attention() in float64, and differed by `largest` of the largest one that was compared in the same draw, at most.
FOVEATE_WASM(fv_sensitivity_check) void fv_sensitivity_check(const Sensitivity* sensitivity, double* check);
FOVEATE_WASM(fv_sensitivity_end) void fv_sensitivity_end(Sensitivity* sensitivity);

/// Two models of claims/recall.h learn side by side for `steps` steps by Adam (Kingma and Ba, arXiv:1412.6980: 0.9, 0.999,
/// 1e-8), from the same initial parameters, on the same fresh batch at each step; only the divisors of their scores
/// differ. d_k up to 1024.
FOVEATE_WASM(fv_training_begin)
Training* fv_training_begin(int32_t d_k, int32_t steps, uint32_t seed, double rate, const double* divisors);
FOVEATE_WASM(fv_training_step) int32_t fv_training_step(Training* training, int32_t count);
/// points [steps done / window][3] of model i: the loss, the share of right answers and the largest weight, means over
/// each window of that many steps, on batches that the model had not learnt from yet. Gives the number of points, kept
/// or not: points may be nullptr.
FOVEATE_WASM(fv_training_points)
int32_t fv_training_points(const Training* training, int32_t i, int32_t window, double* points);
/// check = {largest, entries}: the gradient of the model's loss on a fresh batch, at its present parameters, against
/// central differences of the loss in float64: some `count` entries of each parameter, evenly spread, differ by
/// `largest` of the largest one that was compared of the same parameter, at most.
FOVEATE_WASM(fv_training_check)
int32_t fv_training_check(const Training* training, int32_t i, int32_t count, double* check);
FOVEATE_WASM(fv_training_end) void fv_training_end(Training* training);

}  // namespace foveate::web

#endif  // FOVEATE_WEB_ENGINE_GRADIENTS_H_
