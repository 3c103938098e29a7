// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// The arrays that `attend` computes, in memory and then in files: all of them in place, or none.
#ifndef FOVEATE_CLI_ATTEND_OUTPUTS_H_
#define FOVEATE_CLI_ATTEND_OUTPUTS_H_

#include <string>
#include <string_view>
#include <vector>

#include "cli/attend_arguments.h"
#include "cli/attend_inputs.h"
#include "cli/files.h"
#include "foveate/additive.h"
#include "foveate/attention.h"
#include "io/array.h"

namespace foveate::cli {

/// A file that is no array.
struct TextFile {
  std::string path;
  std::string text;
};

class AttendOutputs {
 public:
  struct Output {
    std::string name;
    std::string path;
    io::Array array;  ///< packed, with the axes its file has
    Tensor view;      ///< the same on the axes of the library
    DType dtype;      ///< what its elements are rounded to

    /// The type its file has: .npy has no bfloat16, whose numbers are stored as float32 there.
    DType stored_dtype() const { return dtype == DType::bf16 && !names_safetensors(path) ? DType::f32 : dtype; }
  };

  /// Makes room for what was asked for; memory is taken as it is written.
  AttendOutputs(const AttendArguments& arguments, const AttendInputs& inputs);

  /// Where the library writes; absent views were not asked for.
  AttentionOutputs views() const;
  AdditiveGradients gradients() const;
  Tensor dropout_mask() const;

  /// Writes all files, `more` among them, then puts them in place together. Outputs of one .safetensors file go into it side
  /// by side.
  void write(const std::vector<TextFile>& more = {});

  const std::vector<Output>& all() const { return outputs_; }

 private:
  void add_forward(const AttendArguments& arguments, const AttendInputs& inputs);
  void add_gradients(const AttendArguments& arguments, const AttendInputs& inputs);
  Tensor view(std::string_view name) const;

  std::vector<Output> outputs_;
};

}  // namespace foveate::cli

#endif  // FOVEATE_CLI_ATTEND_OUTPUTS_H_
