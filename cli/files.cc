// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
#include "cli/files.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <map>
#include <string_view>

#include "cli/errors.h"
#include "io/output_file.h"
#include "io/source.h"

namespace foveate::cli {
namespace {

[[noreturn]] void refuse(const NamedFile& file, std::string_view problem) {
  throw WrongUse(fmt::format("{}: {}: {}", file.option, file.path, problem));
}

std::string check_input(const NamedFile& file) {
  struct stat status;
  const bool standard = io::is_standard_input(file.path);
  if (standard) io::FileSource(file.path);  // says so where it is closed
  if ((standard ? fstat(STDIN_FILENO, &status) : stat(file.path.c_str(), &status)) != 0) {
    refuse(file, std::strerror(errno));
  }
  if (S_ISDIR(status.st_mode)) refuse(file, "is a folder, not a file");
  return io::file_identity(status);
}

/// Standard output by its name, or the file or pipe that it leads to by another.
bool writes_standard_output(const std::string& path) {
  struct stat named, standard;
  if (io::is_standard_output(path)) return true;
  return stat(path.c_str(), &named) == 0 && fstat(STDOUT_FILENO, &standard) == 0 && !S_ISCHR(named.st_mode) &&
         named.st_dev == standard.st_dev && named.st_ino == standard.st_ino;
}

/// Tries it: what can fail before the first byte is written fails here.
std::string check_output(const NamedFile& file) { return io::OutputFile(file.path).identity(); }

/// The check, with the option that named the file in its message.
std::string identity(const NamedFile& file, std::string (*check)(const NamedFile&)) try {
  return check(file);
} catch (const io::Error& error) {
  throw WrongUse(fmt::format("{}: {}", file.option, error.what()));
}

}  // namespace

bool names_safetensors(std::string_view path) { return path.ends_with(".safetensors"); }

void require_file_name(std::string_view option, std::string_view value) {
  if (!value.starts_with("--")) return;
  throw WrongUse(fmt::format("{}: no file named before {}", option, value));
}

void check_files(const std::vector<NamedFile>& inputs, const std::vector<NamedFile>& outputs, Sharing sharing) {
  std::map<std::string, std::string> input_options;  // identity -> option
  std::string reads_standard;
  for (const NamedFile& file : inputs) {
    const std::string id = identity(file, check_input);
    if (!id.empty()) input_options.emplace(id, file.option);
    if (!io::is_standard_input(file.path)) continue;
    if (!reads_standard.empty()) {
      throw WrongUse(fmt::format("{}: - is {}'s already; standard input holds one array", file.option, reads_standard));
    }
    reads_standard = file.option;
  }

  std::map<std::string, const NamedFile*> output_files;
  std::string writes_standard;
  for (const NamedFile& file : outputs) {
    const std::string id = identity(file, check_output);
    if (writes_standard_output(file.path)) {
      if (!writes_standard.empty()) {
        throw WrongUse(fmt::format("{}: standard output is {}'s already; name a file", file.option, writes_standard));
      }
      writes_standard = file.option;
    }
    if (id.empty()) continue;
    if (const auto input = input_options.find(id); input != input_options.end()) {
      refuse(file, fmt::format("is {}'s file too; an output needs a file of its own", input->second));
    }
    const auto [other, added] = output_files.emplace(id, &file);
    const bool together = sharing == Sharing::safetensors && names_safetensors(file.path);
    if (!added && !(together && names_safetensors(other->second->path))) {
      refuse(file, fmt::format("is {}'s file too; an output needs a file of its own", other->second->option));
    }
  }
}

void write_whole(const std::string& path, const std::string& bytes) {
  io::OutputFile file(path);
  file.write(bytes.data(), bytes.size());
  file.commit();
}

}  // namespace foveate::cli
