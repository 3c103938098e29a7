// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// NAME_replay FILE|FOLDER...: gives a fuzzer each file once, without libFuzzer, so that what was found once is tested by
// any compiler ever after.
#include <cstdint>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t n);

namespace {

void replay(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) throw std::filesystem::filesystem_error("cannot be read", file, std::make_error_code(std::errc::io_error));
  const std::vector<char> bytes{std::istreambuf_iterator<char>(in), {}};
  std::printf("%s\n", file.c_str());
  std::fflush(stdout);  // the last line names the file that a failure is of
  LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
}

}  // namespace

int main(int argc, char** argv) {
  int files = 0;
  try {
    for (int i = 1; i < argc; ++i) {
      if (!std::filesystem::is_directory(argv[i])) {
        replay(argv[i]), ++files;
        continue;
      }
      for (const auto& entry : std::filesystem::recursive_directory_iterator(argv[i])) {
        if (entry.is_regular_file()) replay(entry.path()), ++files;
      }
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "replay: %s\n", error.what());
    return 1;
  }
  if (files > 0) return 0;
  std::fputs("replay: no file to replay; expected files or folders that hold some\n", stderr);
  return 2;
}
