// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
#include "cli/attend_outputs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <new>
#include <stdexcept>
#include <utility>

#include "cli/axes.h"
#include "cli/convert.h"
#include "cli/errors.h"
#include "cli/held_state.h"
#include "io/npy.h"
#include "io/output_file.h"
#include "io/safetensors.h"

namespace foveate::cli {
namespace {

constexpr size_t kHeads = 1;                      // where [h_q] goes among [b, h, n, d]
constexpr size_t kFeatures = 2, kComponents = 3;  // and where [d_a, d_k] go

void require_addressable(std::string_view name, const std::vector<int64_t>& shape, DType dtype) {
  int64_t bytes = size_of(dtype);
  for (const int64_t extent : shape) {
    if (extent == 0) return;
    if (__builtin_mul_overflow(bytes, extent, &bytes)) {
      throw WrongUse(fmt::format("{}: shape {} is larger than any memory", name, shape));
    }
  }
}

io::Array allocate(std::string_view name, const std::vector<int64_t>& shape, DType dtype) try {
  return io::make_array(dtype, shape);
} catch (const std::bad_alloc&) {
  double bytes = static_cast<double>(size_of(dtype));
  for (const int64_t extent : shape) bytes *= static_cast<double>(extent);
  throw std::runtime_error(fmt::format("{}: not enough memory for shape {}, {:.3g} GB", name, shape, bytes / 1e9));
}

/// An output of the given shape, whose axes go to `places` among [b, h, n, d].
AttendOutputs::Output make_output(std::string name, std::string path, DType dtype, const std::vector<int64_t>& shape,
                                  const std::vector<size_t>& places) {
  require_addressable(name, shape, dtype);
  io::Array array = allocate(name, shape, dtype);
  const Tensor view = view_at(array, places);
  return {std::move(name), std::move(path), std::move(array), view, dtype};
}

bool is_same_file(const io::OutputFile& a, const io::OutputFile& b) {
  return !a.identity().empty() && a.identity() == b.identity();
}

void write_file(io::OutputFile& file, const std::vector<AttendOutputs::Output*>& outputs) {
  if (!names_safetensors(outputs.front()->path)) return io::write_npy(file, outputs.front()->array);
  std::vector<io::NamedArray> tensors;
  for (const AttendOutputs::Output* output : outputs) tensors.push_back({output->name, output->array});
  io::write_safetensors(file, tensors);
}

}  // namespace

AttendOutputs::AttendOutputs(const AttendArguments& arguments, const AttendInputs& inputs) {
  add_forward(arguments, inputs);
  add_gradients(arguments, inputs);
}

void AttendOutputs::add_forward(const AttendArguments& arguments, const AttendInputs& inputs) {
  const AttentionShape& s = inputs.shape;
  const auto add = [&](const char* name, const std::string& path, DType dtype, int64_t last,
                       const std::vector<size_t>& places) {
    if (path.empty()) return;
    const int64_t extents[] = {s.b, s.h_q, s.n_q, last};
    std::vector<int64_t> shape;
    for (const size_t place : places) shape.push_back(extents[place]);
    outputs_.push_back(make_output(name, path, dtype, shape, places));
  };
  // All but out are [b, h, n, ...] in any layout.
  const std::vector<size_t> in_layout = axis_places(inputs.axes, arguments.layout);
  const std::vector<size_t> head_first = axis_places(inputs.axes, Layout::bhnd);
  add("out", arguments.out, s.dtype, s.d_v, in_layout);
  add("lse", arguments.lse, computing_dtype(s), 1, {head_first.begin(), head_first.end() - 1});
  add("weights", arguments.weights, s.dtype, s.n_kv, head_first);
  add("dropout-mask", arguments.dropout_mask, DType::boolean, s.n_kv, head_first);
  for (Output& output : outputs_) {
    if (output.name == "out" || output.name == "weights") output.dtype = inputs.dtype;
  }
}

/// A gradient has the axes of the file that it is by.
void AttendOutputs::add_gradients(const AttendArguments& arguments, const AttendInputs& inputs) {
  const auto add = [&](const char* name, const std::string& path, DType dtype, const io::Array& by,
                       const std::vector<size_t>& places) {
    if (!path.empty()) outputs_.push_back(make_output(name, path, dtype, by.shape, places));
  };
  const std::vector<size_t> in_layout = axis_places(inputs.axes, arguments.layout);
  add("dq", arguments.dq, inputs.dtype, inputs.q, in_layout);
  add("dk", arguments.dk, inputs.dtype, inputs.k, in_layout);
  add("dv", arguments.dv, inputs.dtype, inputs.v, in_layout);
  add("dbias", arguments.dbias, inputs.dtype, inputs.bias, broadcast_places(inputs.bias.shape.size()));
  add("dsinks", arguments.dsinks, computing_dtype(inputs.shape), inputs.sinks, {kHeads});
  add("dwq", arguments.dwq, inputs.dtype, inputs.wq, {kFeatures, kComponents});
  add("dwk", arguments.dwk, inputs.dtype, inputs.wk, {kFeatures, kComponents});
  add("dw", arguments.dw, inputs.dtype, inputs.w, {kFeatures});
  add("db", arguments.db, inputs.dtype, inputs.b, {kFeatures});
}

AttentionOutputs AttendOutputs::views() const {
  return {.o = view("out"), .lse = view("lse"), .weights = view("weights")};
}

AdditiveGradients AttendOutputs::gradients() const {
  const auto vector = [this](std::string_view name, size_t axis) {
    const Tensor at = view(name);
    return Vector{at.data, at.dtype, at.shape[axis], at.stride[axis]};
  };
  const auto matrix = [this](std::string_view name) {
    const Tensor at = view(name);
    return Matrix{at.data,
                  at.dtype,
                  {at.shape[kFeatures], at.shape[kComponents]},
                  {at.stride[kFeatures], at.stride[kComponents]}};
  };
  AdditiveGradients gradients;
  gradients.dq = view("dq");
  gradients.dk = view("dk");
  gradients.dv = view("dv");
  gradients.dbias = view("dbias");
  gradients.dsinks = vector("dsinks", kHeads);
  gradients.dw_q = matrix("dwq");
  gradients.dw_k = matrix("dwk");
  gradients.dw = vector("dw", kFeatures);
  gradients.db = vector("db", kFeatures);
  return gradients;
}

Tensor AttendOutputs::dropout_mask() const { return view("dropout-mask"); }

Tensor AttendOutputs::view(std::string_view name) const {
  for (const Output& output : outputs_) {
    if (output.name == name) return output.view;
  }
  return {};
}

void AttendOutputs::write(const std::vector<TextFile>& more) {
  std::vector<io::OutputFile> files;
  files.reserve(outputs_.size() + more.size());
  std::vector<std::vector<Output*>> held;  // by each file
  for (Output& output : outputs_) {
    io::OutputFile file(output.path);
    const auto same = std::find_if(files.begin(), files.end(), [&](const io::OutputFile& other) {
      return names_safetensors(output.path) && (other.name() == file.name() || is_same_file(other, file));
    });
    if (same != files.end()) {
      held[static_cast<size_t>(same - files.begin())].push_back(&output);
    } else {
      files.push_back(std::move(file));
      held.push_back({&output});
    }
  }
  for (Output& output : outputs_) {
    if (output.dtype == DType::boolean) continue;
    output.array = convert(convert(std::move(output.array), output.dtype), output.stored_dtype());
  }
  for (size_t i = 0; i < files.size(); ++i) write_file(files[i], held[i]);
  for (const TextFile& one : more) files.emplace_back(one.path).write(one.text.data(), one.text.size());
  io::commit_together(files);
}

}  // namespace foveate::cli
