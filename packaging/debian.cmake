# Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
#
# Debian packages, one of each component that cmake/install.cmake lays down: `make package`. A further component NAME joins
# with its line in CPACK_COMPONENTS_ALL and its CPACK_DEBIAN_NAME_... variables (in capitals).
#
# The library is packaged as a static one: while the major version is 0, its C++ interface is no promise from one package to
# the next.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME foveate)
set(CPACK_PACKAGE_VENDOR "The foveate authors")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(FOVEATE_MAINTAINER "The foveate authors <foveate@localhost>" CACHE STRING "Who answers for the packages")
set(CPACK_PACKAGE_CONTACT "${FOVEATE_MAINTAINER}")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_PACKAGE_DIRECTORY ${PROJECT_BINARY_DIR}/packages)
set(CPACK_STRIP_FILES ON)
# Copyright, changelog, compressed man pages: what policy asks of each package.
set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_CURRENT_LIST_DIR}/finish.cmake)
set(CPACK_FOVEATE_SOURCE_DIR ${PROJECT_SOURCE_DIR})
# Folders have these modes whatever the umask.
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ
                                                WORLD_EXECUTE)

set(CPACK_COMPONENTS_ALL dev)
if(TARGET foveate_cli)
  list(APPEND CPACK_COMPONENTS_ALL cli)
endif()
if(TARGET foveate_c)
  list(APPEND CPACK_COMPONENTS_ALL runtime)
endif()
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_ENABLE_COMPONENT_DEPENDS OFF)

set(CPACK_DEBIAN_DEV_PACKAGE_NAME libfoveate-dev)
set(CPACK_DEBIAN_DEV_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEV_PACKAGE_DEPENDS "libhwy-dev (>= 1.0.3), libstdc++-12-dev | libstdc++-dev")
set(CPACK_DEBIAN_DEV_PACKAGE_RECOMMENDS "libtbb-dev")
set(CPACK_DEBIAN_DEV_DESCRIPTION
    "Exact attention, forward and backward, on strided arrays: masks, windows,\n\
grouped heads, caches in pages, narrow types. A row's bits depend neither on\n\
threads nor on the batch, and errors have a derived bound.\n\
.\n\
This package holds the headers, the static library, an executor on oneTBB,\n\
and what CMake and pkg-config look for.")

if(TARGET foveate_c)
  get_target_property(abi foveate_c SOVERSION)
  set(CPACK_DEBIAN_RUNTIME_PACKAGE_NAME libfoveate-c${abi})
  set(CPACK_DEBIAN_RUNTIME_PACKAGE_SECTION libs)
  set(CPACK_DEBIAN_RUNTIME_PACKAGE_SHLIBDEPS ON)
  # What CPack would write itself calls ldconfig by scripts, where policy asks for a trigger.
  set(control ${PROJECT_BINARY_DIR}/debian)
  file(WRITE ${control}/shlibs "libfoveate_c ${abi} libfoveate-c${abi} (>= ${PROJECT_VERSION})\n")
  file(WRITE ${control}/triggers "activate-noawait ldconfig\n")
  set(CPACK_DEBIAN_RUNTIME_PACKAGE_CONTROL_EXTRA ${control}/shlibs ${control}/triggers)
  set(CPACK_DEBIAN_RUNTIME_DESCRIPTION
      "Exact attention, forward and backward, on strided arrays: masks, windows,\n\
grouped heads, caches in pages, narrow types.\n\
.\n\
This package holds the engine as a shared library with a C interface.")
  string(APPEND CPACK_DEBIAN_DEV_PACKAGE_DEPENDS
         ", libfoveate-c${abi} (= ${PROJECT_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE})")
endif()

set(CPACK_DEBIAN_CLI_PACKAGE_NAME foveate)
set(CPACK_DEBIAN_CLI_PACKAGE_SECTION science)
set(CPACK_DEBIAN_CLI_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_CLI_DESCRIPTION
    "Computes attention on arrays in .npy and .safetensors files, shows what each\n\
head looks at, finds the mistake in somebody's result, and puts to the test\n\
what is said of attention.\n\
.\n\
It holds an interactive page about attention, which `foveate serve` shows to\n\
a browser on the same machine.")
include(CPack)
