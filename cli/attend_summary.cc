// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
#include "cli/attend_summary.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "foveate/target.h"

namespace foveate::cli {
namespace {

using Json = nlohmann::ordered_json;

Json or_null(const std::string& path) { return path.empty() ? Json() : Json(path); }

Json shape_of(const AttentionShape& shape) {
  return {{"b", shape.b},       {"h_q", shape.h_q}, {"h_kv", shape.h_kv}, {"n_q", shape.n_q},
          {"n_kv", shape.n_kv}, {"d_k", shape.d_k}, {"d_v", shape.d_v}};
}

/// Operations of the products if no key were masked, an addition and a multiplication counted as two: of q with k and
/// of the weights with v; for gradients of q with k again and of do with v, and one for each of dq, dk and dv.
double dense_flops(const AttentionShape& shape, const AttentionGradients& gradients) {
  const bool dq = gradients.dq.present(), dk = gradients.dk.present(), dv = gradients.dv.present();
  const bool by_scores = dq || dk || gradients.dbias.present();
  const int64_t of_d_k = 1 + (by_scores || dv) + dq + dk, of_d_v = 1 + by_scores + dv;
  return 2.0 * static_cast<double>(shape.b) * static_cast<double>(shape.h_q) * static_cast<double>(shape.n_q) *
         static_cast<double>(shape.n_kv) * static_cast<double>(of_d_k * shape.d_k + of_d_v * shape.d_v);
}

const char* name_of(ScoreKind score) {
  return score == ScoreKind::additive ? "additive" : score == ScoreKind::linear ? "linear" : "dot";
}

Json options_of(const AttendArguments& arguments, const AttentionShape& shape) {
  const AttentionOptions& options = arguments.options;
  return {{"layout", arguments.layout == Layout::bhnd ? "bhnd" : "bnhd"},
          {"score", name_of(arguments.score)},
          {"scale", options.scale.value_or(
                        arguments.score == ScoreKind::product ? 1 / std::sqrt(static_cast<double>(shape.d_k)) : 1)},
          {"causal", options.causal},
          {"align", options.align == Align::bottom_right ? "bottom-right" : "top-left"},
          {"window", {options.window_left, options.window_right}},
          {"softcap", options.softcap},
          {"in", or_null(arguments.in)},
          {"mask", or_null(arguments.mask)},
          {"bias", or_null(arguments.bias)},
          {"blocks", or_null(arguments.blocks)},
          {"block_size", options.block_size},
          {"alibi", or_null(arguments.alibi)},
          {"sinks", or_null(arguments.sinks)},
          {"dropout", options.dropout},
          {"seed", options.seed},
          {"q_lengths", or_null(arguments.q_lengths)},
          {"kv_lengths", or_null(arguments.kv_lengths)}};
}

Json outputs_of(const AttendOutputs& outputs) {
  Json all = Json::object();
  for (const AttendOutputs::Output& output : outputs.all()) {
    all[output.name] = {
        {"file", output.path}, {"dtype", name_of(output.stored_dtype())}, {"shape", output.array.shape}};
  }
  return all;
}

}  // namespace

void print_summary(const AttendArguments& arguments, const AttendInputs& inputs, const AttendOutputs& outputs,
                   const Effort& effort) {
  const Json summary = {
      {"foveate", FOVEATE_VERSION},
      {"shape", shape_of(inputs.shape)},
      {"dtype", name_of(inputs.dtype)},
      {"target", active_target()},
      {"threads", effort.threads},
      {"pieces", effort.pieces},
      {"seconds", effort.seconds},
      {"dense_flops",
       arguments.score == ScoreKind::product ? Json(dense_flops(inputs.shape, outputs.gradients())) : Json()},
      {"options", options_of(arguments, inputs.shape)},
      {"outputs", outputs_of(outputs)}};
  // File names need not be UTF-8; JSON must be.
  fmt::print("{}\n", summary.dump(2, ' ', false, Json::error_handler_t::replace));
}

}  // namespace foveate::cli
