# Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
#
# Builds and runs the consumer anew, in WORK:
#   cmake -D MODE=... -D SOURCE=... -D BUILD=... -D CC=... -D CXX=... -D WORK=... -P run.cmake
#
#   package     the installed library, by find_package, from a prefix that was moved after it was installed
#   pkg-config  the same, by pkg-config
#   c           the installed C interface, by both, in a project without C++
#   fetch       the source, by FetchContent
#   shared      the source, by add_subdirectory, as shared libraries; then what that installs, by both of the above
function(run)
  execute_process(COMMAND ${ARGN} COMMAND_ECHO STDOUT COMMAND_ERROR_IS_FATAL ANY)
endfunction()

function(expect text in)
  string(FIND "${in}" "${text}" at)
  if(at EQUAL -1)
    message(FATAL_ERROR "no '${text}' in:\n${in}")
  endif()
endfunction()

# Installs what is built in a folder, and moves all of it: `prefix` is where it lies then.
function(install_and_move build)
  run(${CMAKE_COMMAND} --install ${build} --prefix ${WORK}/installed)
  file(RENAME ${WORK}/installed ${WORK}/moved)
  set(prefix ${WORK}/moved PARENT_SCOPE)
endfunction()

# Builds the consumer in a folder beside this file by CMake, with these options.
function(use_cmake name folder)
  run(${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR}/${folder} -B ${WORK}/${name} -G Ninja -D CMAKE_C_COMPILER=${CC} -D
      CMAKE_CXX_COMPILER=${CXX} ${ARGN})
  run(${CMAKE_COMMAND} --build ${WORK}/${name})
  run(${WORK}/${name}/consumer)
endfunction()

# What find_package says of a component that there is not.
function(ask_for_an_unknown_component)
  file(WRITE ${WORK}/unknown/CMakeLists.txt
       "cmake_minimum_required(VERSION 3.25)\nproject(unknown LANGUAGES NONE)\nfind_package(foveate REQUIRED COMPONENTS cuda)\n")
  execute_process(COMMAND ${CMAKE_COMMAND} -S ${WORK}/unknown -B ${WORK}/unknown/build -D CMAKE_PREFIX_PATH=${prefix}
                  RESULT_VARIABLE status OUTPUT_QUIET ERROR_VARIABLE said)
  if(status EQUAL 0)
    message(FATAL_ERROR "the unknown component cuda is found")
  endif()
  string(REGEX REPLACE "[ \n]+" " " said "${said}")  # which CMake folds
  expect("foveate has no component 'cuda'; expected c (the C interface) or tbb" "${said}")
endfunction()

# Builds a source file by pkg-config: the compiler and its own flags follow the package's name.
function(use_pkg_config name)
  file(GLOB_RECURSE pc ${prefix}/${name}.pc)
  cmake_path(GET pc PARENT_PATH pc_dir)
  set(ENV{PKG_CONFIG_PATH} ${pc_dir})
  execute_process(COMMAND pkg-config --cflags --libs ${name} OUTPUT_VARIABLE flags COMMAND_ERROR_IS_FATAL ANY)
  separate_arguments(flags UNIX_COMMAND "${flags}")
  run(${ARGN} ${flags} -Wl,-rpath,${pc_dir}/.. -o ${WORK}/by_${name})
  run(${WORK}/by_${name})
endfunction()

# The library alone, and with its executor.
function(use_pkg_config_in_cxx)
  set(compile ${CXX} -std=c++20 ${CMAKE_CURRENT_LIST_DIR}/main.cc)
  use_pkg_config(foveate ${compile})
  use_pkg_config(foveate_tbb ${compile} -DWITH_TBB)
endfunction()

# The engine is compiled again to see how it is packed, not what it computes: one instruction set, nothing optimised.
set(cheap -D CMAKE_BUILD_TYPE=Debug -D CMAKE_CXX_FLAGS_DEBUG=-O0 -D CMAKE_CXX_FLAGS=-DHWY_COMPILE_ONLY_SCALAR)

file(REMOVE_RECURSE ${WORK})
if(MODE STREQUAL package)
  install_and_move(${BUILD})
  use_cmake(build . -D CMAKE_PREFIX_PATH=${prefix})
elseif(MODE STREQUAL pkg-config)
  install_and_move(${BUILD})
  use_pkg_config_in_cxx()
elseif(MODE STREQUAL c)
  install_and_move(${BUILD})
  use_cmake(build c -D CMAKE_PREFIX_PATH=${prefix})
  ask_for_an_unknown_component()
  use_pkg_config(foveate_c ${CC} -std=c11 -pedantic -Wall -Wextra -Werror ${CMAKE_CURRENT_LIST_DIR}/c/main.c)
elseif(MODE STREQUAL fetch)
  use_cmake(build . ${cheap} -D FOVEATE_FETCH=${SOURCE})
elseif(MODE STREQUAL shared)
  use_cmake(embedded . ${cheap} -D FOVEATE_SUBDIRECTORY=${SOURCE} -D BUILD_SHARED_LIBS=ON -D FOVEATE_TBB=ON -D
            FOVEATE_INSTALL=ON)
  install_and_move(${WORK}/embedded)
  use_cmake(installed_by_cmake . -D CMAKE_PREFIX_PATH=${prefix})
  use_pkg_config_in_cxx()
  # What a program was linked with is found by its soname alone, whatever the patch version.
  file(GLOB_RECURSE library ${prefix}/libfoveate.so.0.1.*)
  execute_process(COMMAND readelf -d ${library} OUTPUT_VARIABLE dynamic COMMAND_ERROR_IS_FATAL ANY)
  expect("[libfoveate.so.0.1]" "${dynamic}")
  execute_process(COMMAND readelf -d ${WORK}/by_foveate OUTPUT_VARIABLE dynamic COMMAND_ERROR_IS_FATAL ANY)
  expect("[libfoveate.so.0.1]" "${dynamic}")
else()
  message(FATAL_ERROR "MODE: ${MODE}; expected package, pkg-config, c, fetch or shared")
endif()
