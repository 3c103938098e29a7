# Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
#
# Builds and runs the consumer anew, in WORK:
#   cmake -D MODE=package | embed | pkg-config -D SOURCE=... -D BUILD=... -D CXX=... -D WORK=... -P run.cmake
function(run)
  execute_process(COMMAND ${ARGN} COMMAND_ECHO STDOUT COMMAND_ERROR_IS_FATAL ANY)
endfunction()

file(REMOVE_RECURSE ${WORK})
if(NOT MODE STREQUAL embed)
  run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/prefix)
endif()

if(MODE STREQUAL pkg-config)
  file(GLOB_RECURSE pc ${WORK}/prefix/foveate.pc)
  cmake_path(GET pc PARENT_PATH pc_dir)
  set(ENV{PKG_CONFIG_PATH} ${pc_dir})
  execute_process(COMMAND pkg-config --cflags --libs foveate OUTPUT_VARIABLE flags COMMAND_ERROR_IS_FATAL ANY)
  separate_arguments(flags UNIX_COMMAND "${flags}")
  run(${CXX} -std=c++20 ${CMAKE_CURRENT_LIST_DIR}/main.cc ${flags} -Wl,-rpath,${pc_dir}/.. -o ${WORK}/consumer)
  run(${WORK}/consumer)
  return()
endif()

set(options -G Ninja -D CMAKE_CXX_COMPILER=${CXX})
if(MODE STREQUAL embed)
  list(APPEND options -D FOVEATE_EMBED=${SOURCE})
else()
  list(APPEND options -D CMAKE_PREFIX_PATH=${WORK}/prefix)
endif()
run(${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR} -B ${WORK}/build ${options})
run(${CMAKE_COMMAND} --build ${WORK}/build)
run(${WORK}/build/consumer)
