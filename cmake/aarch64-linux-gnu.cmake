# Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
#
# A toolchain file: Debian's cross compiler for 64-bit ARM, the libraries that scripts/test-arm unpacks into
# build/aarch64-root, and qemu to run what is built, as the processor that QEMU_CPU names.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64 -L /usr/aarch64-linux-gnu)
set(foveate_root ${CMAKE_CURRENT_LIST_DIR}/../build/aarch64-root)
set(CMAKE_FIND_ROOT_PATH ${foveate_root})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(ENV{PKG_CONFIG_SYSROOT_DIR} ${foveate_root})
set(ENV{PKG_CONFIG_LIBDIR} ${foveate_root}/usr/lib/aarch64-linux-gnu/pkgconfig)
