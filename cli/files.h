// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// The files a command names, checked before anything is read, computed or written.
#ifndef FOVEATE_CLI_FILES_H_
#define FOVEATE_CLI_FILES_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace foveate::cli {

/// A file and the option that named it, or what else will be written; "-" is standard input or output.
struct NamedFile {
  std::string option;
  std::string path;
};

/// Whether a file of this name is .safetensors, to be read or written; any other is .npy.
bool names_safetensors(std::string_view path);

/// Whether several outputs may go into one .safetensors file, each under its name.
enum class Sharing : uint8_t { none, safetensors };

/// Throws WrongUse where the value of an option that names a file is the next option: its own was forgotten.
void require_file_name(std::string_view option, std::string_view value);

/// Throws WrongUse where an input is missing or a folder, an output cannot be made (its folder is missing or closed to
/// us, it is a folder, ...: it is tried), standard input or output is wanted twice, or one regular file is named for two
/// outputs (that cannot share it) or for an output and an input: by whatever name, through whatever link.
void check_files(const std::vector<NamedFile>& inputs, const std::vector<NamedFile>& outputs,
                 Sharing sharing = Sharing::none);

/// Writes a file by a temporary one and a rename, so that half of it is never seen. Throws io::Error.
void write_whole(const std::string& path, const std::string& bytes);

}  // namespace foveate::cli

#endif  // FOVEATE_CLI_FILES_H_
