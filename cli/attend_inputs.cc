// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
#include "cli/attend_inputs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "cli/attend_read.h"
#include "cli/axes.h"
#include "cli/convert.h"
#include "cli/errors.h"
#include "io/npy.h"
#include "io/safetensors.h"

namespace foveate::cli {
namespace {

constexpr size_t kAxes = 4;

bool is_float(DType dtype) {
  return dtype == DType::f16 || dtype == DType::bf16 || dtype == DType::f32 || dtype == DType::f64;
}

void require_float(std::string_view name, const io::Array& array) {
  if (is_float(array.dtype)) return;
  throw WrongUse(fmt::format("{}: {} elements, not floats; save it with astype('float32')", name, array.stored_as));
}

std::string axes_text(const io::Array& array) {
  const size_t axes = array.shape.size();
  return fmt::format("{} {}, shape {}", axes, axes == 1 ? "axis" : "axes", array.shape);
}

void require_axes(std::string_view name, const io::Array& array, size_t least, size_t most, std::string_view remedy) {
  if (array.shape.size() >= least && array.shape.size() <= most) return;
  throw WrongUse(fmt::format("{}: {}; {}", name, axes_text(array), remedy));
}

/// The one tensor of a .safetensors file.
io::Array read_only_tensor(std::string_view name, const std::string& path) {
  const io::Safetensors file(path);
  if (file.tensors().size() == 1) return file.read(file.tensors().front().name);
  if (file.tensors().empty()) {
    throw WrongUse(fmt::format("{}{}: {}: holds no tensor", name.starts_with("--") ? "" : "--", name, path));
  }
  throw WrongUse(fmt::format("{}{}: {}: holds {}, expected one tensor; give --in {} and name it",
                             name.starts_with("--") ? "" : "--", name, path, file.names(), path));
}

/// Reads what options name: tensors of --in, and files.
class Reader {
 public:
  explicit Reader(const ProblemArguments& arguments) : arguments_(arguments) {}

  /// The array an option names, or none where it was left out.
  io::Array array(std::string_view name, const std::string& value) const {
    if (value.empty()) return {};
    return read_named(name, [&] {
      if (arguments_.names_tensor(value)) return arguments_.tensors->read(value);
      return names_safetensors(value) ? read_only_tensor(name, value) : io::read_npy(value);
    });
  }

  /// Floats that the library takes as they are; those of 16 bits become float32, exactly.
  io::Array floats(std::string_view name, const std::string& value, size_t most_axes, std::string_view remedy) const {
    io::Array floats = array(name, value);
    if (floats.dtype == DType::none) return floats;
    require_float(name, floats);
    require_axes(name, floats, most_axes == 1, most_axes, remedy);
    return size_of(floats.dtype) == 2 ? convert(std::move(floats), DType::f32) : std::move(floats);
  }

  /// A projection of additive attention.
  io::Array matrix(std::string_view name, const std::string& value) const {
    io::Array matrix = floats(name, value, 2, "give [d_a, d_k]");
    if (matrix.dtype != DType::none) require_axes(name, matrix, 2, 2, "give [d_a, d_k]");
    return matrix;
  }

  io::Array lengths(std::string_view name, const std::string& value) const {
    io::Array lengths = array(name, value);
    if (lengths.dtype != DType::none) require_axes(name, lengths, 1, 1, "give [b], one length a sequence");
    return lengths;
  }

 private:
  const ProblemArguments& arguments_;
};

void require_matching_axes(const AttendInputs& inputs) {
  require_axes("q", inputs.q, 2, kAxes, "give [n, d], [h, n, d] or [b, h, n, d]");
  for (const auto& [name, array] : {std::pair("k", &inputs.k), std::pair("v", &inputs.v)}) {
    if (array->dtype == DType::none || array->shape.size() == inputs.q.shape.size()) continue;
    throw WrongUse(fmt::format("{}: {}, where q has {}, shape {}; give q, k and v equally many", name,
                               axes_text(*array), inputs.q.shape.size(), inputs.q.shape));
  }
}

/// The gradient by out, which has its axes and extents.
io::Array in_shape_of_out(io::Array grad, const AttendInputs& inputs, DType dtype) {
  if (grad.dtype == DType::none) return grad;
  require_float("grad", grad);
  std::vector<int64_t> out = inputs.q.shape;
  out.back() = inputs.v.shape.back();
  if (grad.shape != out) throw WrongUse(fmt::format("grad: shape {} does not equal out's {}", grad.shape, out));
  return convert(std::move(grad), dtype);
}

AttentionShape shape_of(const AttendInputs& inputs, Layout layout, bool weights) {
  const ConstTensor q = view_on_bhnd(inputs.q, layout);
  const bool has_v = inputs.v.dtype != DType::none;
  const ConstTensor v = view_on_bhnd(has_v ? inputs.v : inputs.k, layout);
  return {.b = q.shape[0],
          .h_q = q.shape[1],
          .h_kv = v.shape[1],
          .n_q = q.shape[2],
          .n_kv = v.shape[2],
          .d_k = q.shape[3],
          .d_v = has_v ? v.shape[3] : 0,
          .dtype = q.dtype,
          .weights = weights};
}

/// Views a mask or a bias.
ConstTensor view_broadcast(const io::Array& array) { return view_at(array, broadcast_places(array.shape.size())); }

/// Which axis of k and v counts keys.
size_t key_axis(size_t axes, Layout layout) {
  const std::vector<size_t> places = axis_places(axes, layout);
  return static_cast<size_t>(std::find(places.begin(), places.end(), size_t{2}) - places.begin());
}

/// Whether q's heads go into k's and v's only with the axes h and n swapped.
bool other_layout_fits(const AttentionShape& shape) {
  const auto divides = [](int64_t kv, int64_t q) { return kv > 0 && q % kv == 0; };
  return !divides(shape.h_kv, shape.h_q) && divides(shape.n_kv, shape.n_q);
}

}  // namespace

io::Array load_floats(const ProblemArguments& arguments, std::string_view name, const std::string& value) {
  io::Array array = Reader(arguments).array(name, value);
  if (array.dtype != DType::none) require_float(name, array);
  return array;
}

AttendInputs load_inputs(const AttendArguments& arguments, const PieceLimits& limits) {
  constexpr std::string_view kBroadcast = "give at most 4, broadcast to [b, h_q, n_q, n_kv]";
  constexpr std::string_view kPerHead = "give [h_q], one number a query head";
  constexpr std::string_view kPerFeature = "give [d_a], one number a feature";
  const Reader reader(arguments);
  AttendInputs inputs;
  inputs.q = reader.array("q", arguments.q);
  // Weights are n_q x n_kv: who has room for them has room for the keys. Gradients, blocks, figures and other scores want all
  // keys at hand, and tensors of --in are read whole.
  const bool whole = !arguments.weights.empty() || !arguments.grad.empty() || !arguments.blocks.empty() ||
                     arguments.score != ScoreKind::product || !arguments.stats.empty() ||
                     arguments.names_tensor(arguments.k) || arguments.names_tensor(arguments.v);
  if (!whole && KeyPieces::wanted(arguments.k, arguments.v, limits)) {
    inputs.pieces = std::make_unique<KeyPieces>(arguments.k, arguments.v);
    inputs.k = inputs.pieces->outline_of_k();
    inputs.v = inputs.pieces->outline_of_v();
  } else {
    inputs.k = reader.array("k", arguments.k);
    inputs.v = reader.array("v", arguments.v);
  }
  require_matching_axes(inputs);
  for (const auto& [name, array] : {std::pair("q", &inputs.q), std::pair("k", &inputs.k), std::pair("v", &inputs.v)}) {
    if (array->dtype != DType::none) require_float(name, *array);
  }
  const DType dtype = inputs.dtype = arguments.dtype.value_or(inputs.q.dtype);
  inputs.q = convert(std::move(inputs.q), dtype);
  if (inputs.pieces != nullptr) {
    // What the pieces give is merged in float32 and rounded once, at the end.
    if (dtype != DType::f64) inputs.q = convert(std::move(inputs.q), DType::f32);
    inputs.pieces->cut(key_axis(inputs.q.shape.size(), arguments.layout), dtype, limits);
    inputs.k.dtype = inputs.v.dtype = dtype;
  } else {
    inputs.k = convert(std::move(inputs.k), dtype);
    if (inputs.v.dtype != DType::none) inputs.v = convert(std::move(inputs.v), dtype);
  }
  inputs.grad = in_shape_of_out(reader.array("grad", arguments.grad), inputs, dtype);

  inputs.mask = reader.array("mask", arguments.mask);
  require_axes("mask", inputs.mask, 0, kAxes, kBroadcast);
  inputs.blocks = reader.array("blocks", arguments.blocks);
  require_axes("blocks", inputs.blocks, 0, kAxes, "give at most 4, broadcast to [b, h_q, row, column] of blocks");
  inputs.bias = reader.floats("bias", arguments.bias, kAxes, kBroadcast);
  inputs.alibi = reader.floats("--alibi", arguments.alibi, 1, kPerHead);
  inputs.sinks = reader.floats("sinks", arguments.sinks, 1, kPerHead);
  inputs.q_lengths = reader.lengths("--q-lengths", arguments.q_lengths);
  inputs.kv_lengths = reader.lengths("--kv-lengths", arguments.kv_lengths);
  inputs.wq = reader.matrix("--wq", arguments.wq);
  inputs.wk = reader.matrix("--wk", arguments.wk);
  inputs.w = reader.floats("--w", arguments.w, 1, kPerFeature);
  inputs.b = reader.floats("--b", arguments.b, 1, kPerFeature);
  inputs.axes = inputs.q.shape.size();
  inputs.shape = shape_of(inputs, arguments.layout, !arguments.weights.empty());
  return inputs;
}

std::string in_words_of_the_command_line(std::string_view message, const AttendInputs& inputs, Layout layout) {
  struct Argument {
    std::string_view in_library, in_words;
    const io::Array* array;
  };
  const io::Array none;
  const Argument arguments[] = {{"mask", "mask", &inputs.mask},
                                {"bias", "bias", &inputs.bias},
                                {"blocks", "blocks", &inputs.blocks},
                                {"alibi_slopes", "--alibi", &inputs.alibi},
                                {"q_lengths", "--q-lengths", &inputs.q_lengths},
                                {"kv_lengths", "--kv-lengths", &inputs.kv_lengths},
                                {"w_q", "--wq", &inputs.wq},
                                {"w_k", "--wk", &inputs.wk},
                                {"w", "--w", &inputs.w},
                                {"b", "--b", &inputs.b},
                                {"window_left", "--window", &none},
                                {"window_right", "--window", &none}};
  const std::string_view name = message.substr(0, message.find(':'));
  const std::string_view rest = message.substr(name.size());
  for (const auto& [in_library, in_words, array] : arguments) {
    if (name != in_library) continue;
    // The library sees four axes and the types it knows, whatever the file has.
    if (rest.starts_with(": shape [")) {
      return fmt::format("{}: shape {}{}", in_words, array->shape, rest.substr(rest.find(']') + 1));
    }
    if (constexpr std::string_view kDtype = ": dtype "; rest.starts_with(kDtype)) {
      return fmt::format("{}{}{}{}", in_words, kDtype, array->stored_as, rest.substr(rest.find(' ', kDtype.size())));
    }
    return fmt::format("{}{}", in_words, rest);
  }
  if (name == "q" && rest.find(" heads ") != rest.npos && other_layout_fits(inputs.shape)) {
    return fmt::format("{}; is this --layout {}?", message, layout == Layout::bhnd ? "bnhd" : "bhnd");
  }
  return std::string(message);
}

AttentionOptions options_with_arrays(const AttentionOptions& options, const AttendInputs& inputs) {
  AttentionOptions all = options;
  if (inputs.mask.dtype != DType::none) all.mask = view_broadcast(inputs.mask);
  if (inputs.blocks.dtype != DType::none) all.blocks = view_broadcast(inputs.blocks);
  if (inputs.bias.dtype != DType::none) all.bias = view_broadcast(inputs.bias);
  if (inputs.alibi.dtype != DType::none) all.alibi_slopes = view_vector(inputs.alibi);
  if (inputs.sinks.dtype != DType::none) all.sinks = view_vector(inputs.sinks);
  if (inputs.q_lengths.dtype != DType::none) all.q_lengths = view_vector(inputs.q_lengths);
  if (inputs.kv_lengths.dtype != DType::none) all.kv_lengths = view_vector(inputs.kv_lengths);
  return all;
}

}  // namespace foveate::cli
