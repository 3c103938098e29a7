// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
#include "cli/attend_outputs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <new>
#include <stdexcept>
#include <utility>

#include "cli/convert.h"
#include "cli/errors.h"
#include "io/npy.h"
#include "io/output_file.h"

namespace foveate::cli {
namespace {

using Extents = std::array<int64_t, 4>;

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

/// An output with the given extents [b, h, n, last], stored with the axes at `places` of those, in that order.
AttendOutputs::Output make_output(std::string name, std::string path, DType dtype, const Extents& extents,
                                  const std::vector<size_t>& places) {
  std::vector<int64_t> shape;
  for (const size_t place : places) shape.push_back(extents[place]);
  require_addressable(name, shape, dtype);
  io::Array array = allocate(name, shape, dtype);
  Tensor view{array.data(), dtype, {extents[0], extents[1], extents[2], extents[3]}, {0, 0, 0, 0}};
  for (size_t axis = 0; axis < places.size(); ++axis) view.stride[places[axis]] = array.stride[axis];
  return {std::move(name), std::move(path), std::move(array), view, dtype};
}

}  // namespace

AttendOutputs::AttendOutputs(const AttendArguments& arguments, const AttendInputs& inputs) {
  const AttentionShape& shape = inputs.shape;
  const auto add = [&](const char* name, const std::string& path, DType dtype, int64_t last,
                       const std::vector<size_t>& places) {
    if (path.empty()) return;
    outputs_.push_back(make_output(name, path, dtype, {shape.b, shape.h_q, shape.n_q, last}, places));
  };
  const DType of_lse = shape.dtype == DType::f64 ? DType::f64 : DType::f32;
  // All but out are [b, h, n, ...] in any layout.
  const std::vector<size_t> in_layout = axis_places(inputs.axes, arguments.layout);
  const std::vector<size_t> head_first = axis_places(inputs.axes, Layout::bhnd);
  add("out", arguments.out, shape.dtype, shape.d_v, in_layout);
  add("lse", arguments.lse, of_lse, 1, {head_first.begin(), head_first.end() - 1});
  add("weights", arguments.weights, shape.dtype, shape.n_kv, head_first);
  add("dropout-mask", arguments.dropout_mask, DType::boolean, shape.n_kv, head_first);
  for (Output& output : outputs_) {
    if (output.name == "out" || output.name == "weights") output.dtype = inputs.dtype;
  }
}

AttentionOutputs AttendOutputs::views() const {
  return {.o = view("out"), .lse = view("lse"), .weights = view("weights")};
}

Tensor AttendOutputs::dropout_mask() const { return view("dropout-mask"); }

Tensor AttendOutputs::view(std::string_view name) const {
  for (const Output& output : outputs_) {
    if (output.name == name) return output.view;
  }
  return {};
}

void AttendOutputs::write() {
  std::vector<io::OutputFile> files;
  files.reserve(outputs_.size());
  for (const Output& output : outputs_) files.emplace_back(output.path);
  for (size_t i = 0; i < files.size(); ++i) {
    Output& output = outputs_[i];
    if (output.dtype != DType::boolean) {
      output.array = convert(convert(std::move(output.array), output.dtype), output.stored_dtype());
    }
    io::write_npy(files[i], output.array);
  }
  io::commit_together(files);
}

}  // namespace foveate::cli
