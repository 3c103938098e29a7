// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// The engine's C ABI in WebAssembly: what a page's worker calls. All arithmetic of attention that a page shows is done
// behind it, by foveate::attention wherever that can be.
//
// Conventions
//   Numbers    int32_t and pointers are 32 bits; arrays are packed, row by row, float32 unless told otherwise.
//   Memory     arrays belong to the caller, who makes them with fv_alloc and frees them with fv_free. Nothing keeps a
//              pointer past the call. A call may grow the memory: views of it made before are then stale.
//   Errors     int32_t results are foveate::StatusCode, 0 = ok; fv_message() is the line about the last failure.
//   Long work  begin gives a handle (nullptr: see fv_message), step does about `count` more of it and returns how much
//              is done in all, results may be read at any time in between, end frees the handle, finished or not.
//   Host       the module imports nothing.
#ifndef FOVEATE_WEB_ENGINE_EXPORTS_H_
#define FOVEATE_WEB_ENGINE_EXPORTS_H_

#include <cstdint>

#include "call.h"
#include "foveate/status.h"

/// Exported under its own name.
#define FOVEATE_WASM(name) extern "C" __attribute__((export_name(#name)))

namespace foveate::web {

/// Keeps a status for fv_message, and gives its code.
int32_t report(const Status& status);

/// Keeps an invalid_argument.
[[gnu::format(printf, 1, 2)]] int32_t refuse(const char* format, ...);

// Memory, errors, the build.

/// `bytes` aligned to 16; nullptr where the memory cannot grow so far.
FOVEATE_WASM(fv_alloc) void* fv_alloc(int32_t bytes);
FOVEATE_WASM(fv_free) void fv_free(void* memory);
/// The last failure: one line, ended by a zero byte.
FOVEATE_WASM(fv_message) const char* fv_message();
/// The version of foveate: "0.1.0".
FOVEATE_WASM(fv_version) const char* fv_version();
/// 1 if multiply-adds are WebAssembly's relaxed ones, which the processor may fuse.
FOVEATE_WASM(fv_relaxed) int32_t fv_relaxed();

// Attention.

/// The outputs that `call` has: o, lse, weights.
FOVEATE_WASM(fv_attention) int32_t fv_attention(const Call* call);

/// The scores s_ij of `call`, after scale, softcap, bias, mask and structure: [b, h_q, n_q, n_kv] in q's dtype, -inf
/// where a key takes no part. With scale 1 and nothing else, the bare products q_i . k_j. `call`'s outputs and sinks are left
/// aside; lengths are not taken. Each score is the engine's own: the lse over that key alone.
FOVEATE_WASM(fv_scores) int32_t fv_scores(const Call* call, void* scores);

// Small arithmetic of a page's figures.

/// c [m, n] = a [m, k] . b [k, n]: projections.
FOVEATE_WASM(fv_product)
void fv_product(int32_t m, int32_t k, int32_t n, const float* a, const float* b, float* c);

/// products[i] = a[i * a_stride] * b[i * b_stride]: the terms of one element of a product of matrices.
FOVEATE_WASM(fv_terms)
void fv_terms(int32_t n, const float* a, int32_t a_stride, const float* b, int32_t b_stride, float* products);

/// softmax(scores / temperature): weights by the engine, exps[j] = exp((scores[j] - max) / temperature), and
/// summary = {max, sum of exps}. A score may be -inf. temperature > 0.
FOVEATE_WASM(fv_softmax)
int32_t fv_softmax(int32_t n, const float* scores, double temperature, float* weights, float* exps, float* summary);

/// One query q [d] against keys [n, d]: dot[n] by the engine, lengths[n + 1] (the query's last), cosines[n], and
/// degrees[n] between them; NaN beside a vector of length 0.
FOVEATE_WASM(fv_compare)
int32_t fv_compare(int32_t n, int32_t d, const float* q, const float* keys, float* dots, float* lengths, float* cosines,
                   float* degrees);

/// order[0] is the place of the largest of values, and so on; equal ones as they lie, NaN last.
FOVEATE_WASM(fv_rank) void fv_rank(int32_t n, const float* values, int32_t* order);

// Scores of random vectors, and what softmax makes of them. Components of q and k are independent standard normal
// numbers (sampling.h); one seed gives one sequence.

class Histogram;
class Saturation;
class Benchmark;

/// Histograms of `samples` scores q . k / divisors[i], each of `bins` bins over [-ranges[i], ranges[i]).
FOVEATE_WASM(fv_histogram_begin)
Histogram* fv_histogram_begin(int32_t d_k, int32_t samples, uint32_t seed, int32_t bins, int32_t n_divisors,
                              const double* divisors, const double* ranges);
FOVEATE_WASM(fv_histogram_step) int32_t fv_histogram_step(Histogram* histogram, int32_t count);
/// uint32 [bins + 2] of divisor i: below the range, the bins, above it. Valid until the end.
FOVEATE_WASM(fv_histogram_counts) const uint32_t* fv_histogram_counts(const Histogram* histogram, int32_t i);
/// moments = {mean, variance, its root, smallest, largest} for divisor i, of what is done.
FOVEATE_WASM(fv_histogram_moments) void fv_histogram_moments(const Histogram* histogram, int32_t i, double* moments);
FOVEATE_WASM(fv_histogram_end) void fv_histogram_end(Histogram* histogram);

/// `draws` queries, each over `keys` keys of its own: p = softmax(q . k / divisor) by the engine, in float64.
FOVEATE_WASM(fv_saturation_begin)
Saturation* fv_saturation_begin(int32_t d_k, int32_t keys, int32_t draws, uint32_t seed, double divisor);
FOVEATE_WASM(fv_saturation_step) int32_t fv_saturation_step(Saturation* saturation, int32_t count);
/// At each of n percentiles (0 to 100), of the draws done: the largest weight of a draw, and the Frobenius norm of the
/// softmax's Jacobian, ||diag(p) - p p^T||^2 = sum p^2 - 2 sum p^3 + (sum p^2)^2. NaN before the first draw.
FOVEATE_WASM(fv_saturation_percentiles)
void fv_saturation_percentiles(const Saturation* saturation, int32_t n, const double* percentiles, double* largest,
                               double* norms);
FOVEATE_WASM(fv_saturation_end) void fv_saturation_end(Saturation* saturation);

/// Fused attention over n queries and n keys of head dim d, one head, on this thread. The host has the clock: it times
/// runs of fv_benchmark_run, each of fv_benchmark_flops floating-point operations (4 n^2 d, exponentials not counted).
FOVEATE_WASM(fv_benchmark_begin) Benchmark* fv_benchmark_begin(int32_t n, int32_t d);
FOVEATE_WASM(fv_benchmark_run) int32_t fv_benchmark_run(Benchmark* benchmark);
FOVEATE_WASM(fv_benchmark_flops) double fv_benchmark_flops(const Benchmark* benchmark);
FOVEATE_WASM(fv_benchmark_end) void fv_benchmark_end(Benchmark* benchmark);

}  // namespace foveate::web

#endif  // FOVEATE_WEB_ENGINE_EXPORTS_H_
