// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// npy_seeds FOLDER: writes small .npy files, one for each dtype, order and version, for npy_fuzz to start from.
#include <cstdio>
#include <exception>
#include <filesystem>
#include <string>

#include "io/output_file.h"

namespace {

std::string npy(char major, const std::string& dict, size_t data_bytes) {
  std::string file("\x93NUMPY");
  file += major;
  file += '\0';
  file += static_cast<char>(dict.size());
  file.append(major == 1 ? 1 : 3, '\0');
  file += dict;
  for (size_t i = 0; i < data_bytes; ++i) file += static_cast<char>(i);
  return file;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: npy_seeds FOLDER\n", stderr);
    return 2;
  }
  try {
    std::filesystem::create_directories(argv[1]);
    int count = 0;
    for (const char* descr :
         {"<f2", ">f4", "<f8", "|b1", "|i1", ">i2", "<i4", ">i8", "|u1", "<u2", ">u4", "<u8", "<c8", "|O"}) {
      for (const char* rest :
           {"'fortran_order': False, 'shape': (2, 3)}", "'shape': (2, 1, 3), 'fortran_order': True, }",
            "'fortran_order': False, 'shape': ()}", "'fortran_order': False, 'shape': (0, 5, )}"}) {
        const std::string file =
            npy(static_cast<char>(1 + count % 3), std::string("{'descr': '") + descr + "', " + rest + "\n", 48);
        foveate::io::OutputFile out(std::string(argv[1]) + "/" + std::to_string(count++) + ".npy");
        out.write(file.data(), file.size());
        out.commit();
      }
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "npy_seeds: %s\n", error.what());
    return 1;
  }
  return 0;
}
