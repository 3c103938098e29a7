// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
#include "foveate/c/inspect.h"

#include <cstddef>
#include <memory>
#include <new>
#include <type_traits>

#include "c/convert.h"
#include "c/sized.h"
#include "foveate/inspect.h"
#include "foveate/trace.h"

namespace foveate::c {
namespace {

// Records are the same in memory, so that the engine writes the caller's.
static_assert(sizeof(HeadFigures) == sizeof(foveate_head_figures) && std::is_standard_layout_v<HeadFigures> &&
              offsetof(HeadFigures, pairs) == offsetof(foveate_head_figures, pairs) &&
              offsetof(HeadFigures, largest_score) == offsetof(foveate_head_figures, largest_score) &&
              offsetof(HeadFigures, lse_mean) == offsetof(foveate_head_figures, lse_mean) &&
              offsetof(HeadFigures, sink_mass) == offsetof(foveate_head_figures, sink_mass));
static_assert(sizeof(RowFigures) == sizeof(foveate_row_figures) && std::is_standard_layout_v<RowFigures> &&
              offsetof(RowFigures, largest_key) == offsetof(foveate_row_figures, largest_key) &&
              offsetof(RowFigures, jacobian) == offsetof(foveate_row_figures, jacobian));
static_assert(sizeof(KeyWeight) == sizeof(foveate_key_weight) &&
              offsetof(KeyWeight, weight) == offsetof(foveate_key_weight, weight));

// And enumerators have their numbers.
static_assert(static_cast<int>(Origin::output) == FOVEATE_ORIGIN_OUTPUT &&
              static_cast<int>(Origin::sink) == FOVEATE_ORIGIN_SINK &&
              static_cast<int>(Outcome::sum) == FOVEATE_OUTCOME_SUM &&
              static_cast<int>(Outcome::softmax) == FOVEATE_OUTCOME_SOFTMAX);

Status inspect_as(const foveate_const_tensor* q, const foveate_const_tensor* k, const foveate_inspect_outputs* outputs,
                  const foveate_attention_options* options, const foveate_execution* execution) {
  foveate_inspect_outputs out = FOVEATE_INSPECT_OUTPUTS_INIT;
  AttentionOptions in;
  Running running;
  FOVEATE_C_RETURN_IF_ERROR(read("outputs", outputs, &out));
  FOVEATE_C_RETURN_IF_ERROR(convert(options, &in));
  FOVEATE_C_RETURN_IF_ERROR(running.read(execution));
  const InspectOutputs wanted = {
      .heads = reinterpret_cast<HeadFigures*>(out.heads),
      .rows = reinterpret_cast<RowFigures*>(out.rows),
      .received = out.received,
      .top = reinterpret_cast<KeyWeight*>(out.top),
      .top_keys = out.top_keys,
      .maps = {.rows = out.map_rows, .columns = out.map_columns, .largest = out.map_largest, .mean = out.map_mean}};
  return inspect(tensor_of(q), tensor_of(k), wanted, in, running.execution());
}

Status count_tasks(const foveate_attention_shape* shape, int64_t workers, int64_t* tasks) {
  AttentionShape of;
  FOVEATE_C_RETURN_IF_ERROR(convert(shape, &of));
  return tasks == nullptr ? missing("tasks") : inspect_tasks(of, workers, tasks);
}

foveate_not_finite record_of(const NotFinite& head) {
  return {.rows = head.rows,
          .row = head.row,
          .origin = static_cast<int32_t>(head.origin),
          .overflow = head.overflow,
          .key = head.key,
          .component = head.component,
          .value = head.value,
          .outcome = static_cast<int64_t>(head.outcome)};
}

Status trace_to(const foveate_const_tensor* q, const foveate_const_tensor* k, const foveate_const_tensor* v,
                foveate_not_finite* heads, int64_t n_heads, const foveate_attention_options* options,
                const foveate_execution* execution) {
  AttentionOptions in;
  Running running;
  FOVEATE_C_RETURN_IF_ERROR(convert(options, &in));
  FOVEATE_C_RETURN_IF_ERROR(running.read(execution));
  const ConstTensor query = tensor_of(q);
  const int64_t batches = in.q_starts.present() ? in.q_starts.size - 1 : query.shape[0];
  int64_t expected = 0;
  const bool countable = !__builtin_mul_overflow(batches, query.shape[1], &expected) && batches >= 0 && expected >= 0;
  if (!query.present() || !countable) {  // of which trace() says what is wrong, before it writes
    return trace(query, tensor_of(k), tensor_of(v), nullptr, in, running.execution());
  }
  if (n_heads != expected || (heads == nullptr && expected > 0)) {
    return Status::error(StatusCode::invalid_argument, "heads: room for %lld records; expected %lld, b * h_q",
                         static_cast<long long>(heads == nullptr ? 0 : n_heads), static_cast<long long>(expected));
  }
  const std::unique_ptr<NotFinite[]> found(new (std::nothrow) NotFinite[static_cast<size_t>(n_heads)]);
  if (found == nullptr) return Status::error(StatusCode::out_of_memory, "heads: memory could not be allocated");
  FOVEATE_C_RETURN_IF_ERROR(trace(query, tensor_of(k), tensor_of(v), found.get(), in, running.execution()));
  for (int64_t head = 0; head < n_heads; ++head) heads[head] = record_of(found[head]);
  return {};
}

}  // namespace
}  // namespace foveate::c

using namespace foveate::c;  // what follows is C

foveate_status foveate_inspect(const foveate_const_tensor* q, const foveate_const_tensor* k,
                               const foveate_inspect_outputs* outputs, const foveate_attention_options* options,
                               const foveate_execution* execution, char* message, size_t message_size) {
  return report(inspect_as(q, k, outputs, options, execution), message, message_size);
}

foveate_status foveate_inspect_tasks(const foveate_attention_shape* shape, int64_t workers, int64_t* tasks,
                                     char* message, size_t message_size) {
  return report(count_tasks(shape, workers, tasks), message, message_size);
}

foveate_status foveate_trace(const foveate_const_tensor* q, const foveate_const_tensor* k,
                             const foveate_const_tensor* v, foveate_not_finite* heads, int64_t n_heads,
                             const foveate_attention_options* options, const foveate_execution* execution,
                             char* message, size_t message_size) {
  return report(trace_to(q, k, v, heads, n_heads, options, execution), message, message_size);
}
