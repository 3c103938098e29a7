// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
#include "cli/files.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <map>
#include <system_error>

#include "cli/errors.h"

namespace foveate::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kStandard = "-";

[[noreturn]] void refuse(const NamedFile& file, std::string_view problem) {
  throw WrongUse(fmt::format("{}: {}: {}", file.option, file.path, problem));
}

/// What tells one regular file from another, whatever its names; "" for pipes and devices, which many may share.
std::string identity(const struct stat& status) {
  return S_ISREG(status.st_mode) ? fmt::format("inode {}:{}", status.st_dev, status.st_ino) : std::string();
}

std::string check_input(const NamedFile& file) {
  struct stat status;
  const bool standard = file.path == kStandard;
  if ((standard ? fstat(STDIN_FILENO, &status) : stat(file.path.c_str(), &status)) != 0) {
    refuse(file, std::strerror(errno));
  }
  if (S_ISDIR(status.st_mode)) refuse(file, "is a folder, not a file");
  return identity(status);
}

/// The folder that holds `path`, for messages and checks: "." where none is written.
fs::path folder_of(const fs::path& path) { return path.has_parent_path() ? path.parent_path() : fs::path("."); }

/// `path` with a symbolic link that leads to nothing yet followed to where the file will be.
fs::path followed(const fs::path& path) {
  std::error_code error;
  const fs::path link = fs::read_symlink(path, error);
  return error ? path : link.is_absolute() ? link : folder_of(path) / link;
}

std::string check_output(const NamedFile& file) {
  struct stat status;
  if (file.path == kStandard) return fstat(STDOUT_FILENO, &status) == 0 ? identity(status) : std::string();
  const bool exists = stat(file.path.c_str(), &status) == 0;
  if (exists && S_ISDIR(status.st_mode)) refuse(file, "is a folder, not a file");
  if (exists && access(file.path.c_str(), W_OK) != 0) refuse(file, std::strerror(errno));
  if (exists && !S_ISREG(status.st_mode)) return {};

  const fs::path target = followed(file.path);
  const fs::path folder = folder_of(target);
  std::error_code error;
  if (!fs::is_directory(folder, error)) refuse(file, fmt::format("no folder {}; create it first", folder.string()));
  if (!target.has_filename()) refuse(file, "is a folder, not a file");
  if (access(folder.c_str(), W_OK | X_OK) != 0) {
    refuse(file, fmt::format("cannot write in {}: {}", folder.string(), std::strerror(errno)));
  }
  return exists ? identity(status) : fmt::format("path {}", (fs::canonical(folder) / target.filename()).string());
}

}  // namespace

void check_files(const std::vector<NamedFile>& inputs, const std::vector<NamedFile>& outputs) {
  std::map<std::string, std::string> input_options;  // identity -> option
  std::string reads_standard;
  for (const NamedFile& file : inputs) {
    const std::string id = check_input(file);
    if (!id.empty()) input_options.emplace(id, file.option);
    if (file.path != kStandard) continue;
    if (!reads_standard.empty()) {
      throw WrongUse(fmt::format("{}: - is {}'s already; standard input holds one array", file.option, reads_standard));
    }
    reads_standard = file.option;
  }

  std::map<std::string, std::string> output_options;
  std::string writes_standard;
  for (const NamedFile& file : outputs) {
    const std::string id = check_output(file);
    if (file.path == kStandard) {
      if (!writes_standard.empty()) {
        throw WrongUse(fmt::format("{}: standard output is {}'s already; name a file", file.option, writes_standard));
      }
      writes_standard = file.option;
    }
    if (id.empty()) continue;
    if (const auto input = input_options.find(id); input != input_options.end()) {
      refuse(file, fmt::format("is {}'s file too; an output needs a file of its own", input->second));
    }
    if (const auto [other, added] = output_options.emplace(id, file.option); !added) {
      refuse(file, fmt::format("is {}'s file too; an output needs a file of its own", other->second));
    }
  }
}

}  // namespace foveate::cli
