// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// The arrays that `attend` computes, in memory and then in files: all of them in place, or none.
#ifndef FOVEATE_CLI_ATTEND_OUTPUTS_H_
#define FOVEATE_CLI_ATTEND_OUTPUTS_H_

#include <string>
#include <vector>

#include "cli/attend_arguments.h"
#include "cli/attend_inputs.h"
#include "foveate/attention.h"
#include "io/array.h"

namespace foveate::cli {

class AttendOutputs {
 public:
  struct Output {
    std::string name;
    std::string path;
    io::Array array;  ///< packed, with the axes its file has
    Tensor view;      ///< the same on the axes of the library
  };

  /// Makes room for what was asked for; memory is taken as it is written.
  AttendOutputs(const AttendArguments& arguments, const AttendInputs& inputs);

  /// Where the library writes.
  AttentionOutputs views() const;

  /// Writes all files, then puts them in place together.
  void write() const;

  const std::vector<Output>& all() const { return outputs_; }

 private:
  std::vector<Output> outputs_;
};

}  // namespace foveate::cli

#endif  // FOVEATE_CLI_ATTEND_OUTPUTS_H_
