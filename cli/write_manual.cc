// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Writes the man pages and the completions of the shells, as they are installed:
//
//   write_manual FOLDER DATE    FOLDER/man1/foveate*.1, FOLDER/{bash,zsh,fish}/*
#include <exception>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <string>

#include "cli/completions.h"
#include "cli/man_page.h"
#include "cli/program.h"

namespace foveate::cli {
namespace {

namespace fs = std::filesystem;

void write(const fs::path& path, const std::string& text) {
  fs::create_directories(path.parent_path());
  std::ofstream file;
  file.exceptions(std::ios::failbit | std::ios::badbit);
  file.open(path, std::ios::binary);
  file << text;
  file.close();
}

void write_all(const fs::path& folder, const std::string& date) {
  int exit_status = 0;
  const std::unique_ptr<Command> program = make_program(exit_status);
  const auto write_page = [&](const Command& command) {
    write(folder / "man1" / (man_page_name(command) + ".1"), man_page(command, date));
  };
  write_page(*program);
  for (const Command* command : commands_of(*program)) write_page(*command);
  write(folder / "bash" / "foveate", bash_completion(*program));
  write(folder / "zsh" / "_foveate", zsh_completion(*program));
  write(folder / "fish" / "foveate.fish", fish_completion(*program));
}

}  // namespace
}  // namespace foveate::cli

int main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "usage: write_manual FOLDER DATE\n";
    return 2;
  }
  try {
    foveate::cli::write_all(argv[1], argv[2]);
    return 0;
  } catch (const std::exception& error) {
    std::cerr << "write_manual: " << error.what() << '\n';
    return 1;
  }
}
