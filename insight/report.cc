// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
#include "insight/report.h"

#include <algorithm>
#include <cmath>

namespace foveate::insight {
namespace {

/// Pairs of heads further apart than this are not told of.
constexpr double kMostApart = 0.02;

int64_t length_of(const ConstVector& lengths, int64_t b, int64_t all) {
  if (!lengths.present()) return all;
  return lengths.dtype == DType::i64 ? static_cast<const int64_t*>(lengths.data)[b * lengths.stride]
                                     : static_cast<const int32_t*>(lengths.data)[b * lengths.stride];
}

bool is_zero(const ConstTensor& k, int64_t b, int64_t h, int64_t j) {
  for (int64_t d = 0; d < k.shape[3]; ++d) {
    const int64_t at = b * k.stride[0] + h * k.stride[1] + j * k.stride[2] + d * k.stride[3];
    const bool zero = k.dtype == DType::f64   ? static_cast<const double*>(k.data)[at] == 0
                      : k.dtype == DType::f32 ? static_cast<const float*>(k.data)[at] == 0
                                              : (static_cast<const uint16_t*>(k.data)[at] & 0x7fffU) == 0;
    if (!zero) return false;
  }
  return true;
}

/// The last keys of a sequence that are 0 in every head.
std::pair<int64_t, int64_t> zero_keys(const ConstTensor& k, int64_t b, int64_t length) {
  int64_t first = length;
  const auto all_zero = [&](int64_t j) {
    for (int64_t h = 0; h < k.shape[1]; ++h) {
      if (!is_zero(k, b, h, j)) return false;
    }
    return true;
  };
  while (first > 0 && all_zero(first - 1)) --first;
  return {first, length};
}

void place_sequences(const ConstTensor& k, const AttentionOptions& options, Report* report) {
  const AttentionShape& s = report->shape;
  for (int64_t b = 0; b < s.b; ++b) {
    const int64_t n_q = length_of(options.q_lengths, b, s.n_q), n_kv = length_of(options.kv_lengths, b, s.n_kv);
    const int64_t first = options.q_offset.value_or(options.align == Align::bottom_right ? n_kv - n_q : 0);
    report->first_positions.push_back(first - options.kv_offset.value_or(0));
    report->q_lengths.push_back(n_q);
    report->zero_keys.push_back(zero_keys(k, b, n_kv));
  }
}

/// Arrays have an element more than they need, so that none of them is nullptr, which says "not wanted".
size_t room(int64_t n) { return static_cast<size_t>(n) + 1; }

InspectOutputs make_room(const Wanted& wanted, Report* report) {
  const AttentionShape& s = report->shape;
  const int64_t heads = report->n_heads();
  report->heads.resize(room(heads));
  report->rows.resize(room(heads * s.n_q));
  report->received.resize(room(heads * s.n_kv));
  InspectOutputs outputs = {report->heads.data(), report->rows.data(), report->received.data()};
  if (wanted.top_keys > 0) {
    report->top_keys = outputs.top_keys = wanted.top_keys;
    report->top.resize(room(heads * s.n_q * wanted.top_keys));
    outputs.top = report->top.data();
  }
  if (wanted.map_side > 0 && s.n_q > 0 && s.n_kv > 0) {
    report->map_rows = std::min(s.n_q, wanted.map_side);
    report->map_columns = std::min(s.n_kv, wanted.map_side);
    report->map_largest.resize(room(heads * report->map_rows * report->map_columns));
    report->map_mean.resize(report->map_largest.size());
    outputs.maps = {report->map_rows, report->map_columns, report->map_largest.data(), report->map_mean.data()};
  }
  return outputs;
}

}  // namespace

Status make_report(const ConstTensor& q, const ConstTensor& k, const ConstTensor& v, const AttentionOptions& options,
                   const Wanted& wanted, const Execution& execution, Report* report) {
  *report = {};
  report->shape = {.b = q.shape[0],
                   .h_q = q.shape[1],
                   .h_kv = k.shape[1],
                   .n_q = q.shape[2],
                   .n_kv = k.shape[2],
                   .d_k = q.shape[3],
                   .d_v = v.present() ? v.shape[3] : 0,
                   .dtype = q.dtype};
  report->scale = options.scale.value_or(1 / std::sqrt(static_cast<double>(q.shape[3])));
  if (q.dtype != DType::f64) report->scale = static_cast<double>(static_cast<float>(report->scale));
  report->traces.resize(room(report->n_heads()));
  // The first call checks everything.
  if (Status status = trace(q, k, v, report->traces.data(), options, execution); !status.ok()) return status;
  Status status = inspect(q, k, make_room(wanted, report), options, execution);
  if (!status.ok()) return status;
  place_sequences(k, options, report);
  return similar_heads(q, k, options, report->rows.data(), kMostApart, execution, &report->similar);
}

Status report_tasks(const AttentionShape& shape, bool with_v, int64_t workers, int64_t* tasks) {
  AttentionPlan plan;
  AttentionShape of_trace = shape;
  if (!with_v) of_trace.d_v = 1;
  if (Status status = attention_plan(of_trace, workers, &plan); !status.ok()) return status;
  AttentionShape of_signs = shape;
  of_signs.d_v = kSigns;
  AttentionPlan sketch;
  if (Status status = attention_plan(of_signs, workers, &sketch); !status.ok()) return status;
  int64_t inspected = 0;
  if (Status status = inspect_tasks(shape, workers, &inspected); !status.ok()) return status;
  *tasks = plan.tasks + inspected + (shape.h_q > 1 ? sketch.tasks : 0);
  return {};
}

}  // namespace foveate::insight
