# Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
#
# A toolchain file: Debian's clang-22 with wasi-libc and libc++. The headers know the target as wasm32-wasi, a name that
# clang calls deprecated. --no-wasm-opt: the driver would run whatever wasm-opt is on the path, which may not know
# relaxed SIMD.
set(CMAKE_SYSTEM_NAME Generic)
set(CMAKE_SYSTEM_PROCESSOR wasm32)
set(CMAKE_CXX_COMPILER clang++-22)
set(CMAKE_CXX_COMPILER_TARGET wasm32-wasi)
set(CMAKE_CXX_FLAGS_INIT "-Wno-deprecated")
set(CMAKE_EXE_LINKER_FLAGS_INIT "--no-wasm-opt")
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
