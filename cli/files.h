// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// The files a command names, checked before anything is read, computed or written.
#ifndef FOVEATE_CLI_FILES_H_
#define FOVEATE_CLI_FILES_H_

#include <string>
#include <vector>

namespace foveate::cli {

/// A file and the option that named it; "-" is standard input or output.
struct NamedFile {
  std::string option;
  std::string path;
};

/// Throws WrongUse where an input is missing or a folder, the folder of an output is missing or closed to us, an output is
/// a folder, standard input or output is wanted twice, or one regular file is named for two outputs or for an output and
/// an input: by whatever name, through whatever link.
void check_files(const std::vector<NamedFile>& inputs, const std::vector<NamedFile>& outputs);

}  // namespace foveate::cli

#endif  // FOVEATE_CLI_FILES_H_
