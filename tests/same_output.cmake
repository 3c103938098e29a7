# Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
#
# Two programs print the same:
#   cmake -D EXPECTED=program -D GOT=program -P same_output.cmake
# A program in Rust is built first, from its folder, where there is cargo:
#   cmake -D EXPECTED=program -D RUST=folder -D LIBRARY=folder of libfoveate_c -D WORK=... -P same_output.cmake
if(RUST)
  find_program(CARGO cargo PATHS $ENV{HOME}/.cargo/bin)
  if(NOT CARGO)
    message(STATUS "skipped: the example in Rust (cargo missing)")
    return()
  endif()
  set(ENV{FOVEATE_LIB_DIR} ${LIBRARY})
  execute_process(COMMAND ${CARGO} build --quiet --release --locked --offline --manifest-path ${RUST}/Cargo.toml
                          --target-dir ${WORK} COMMAND_ERROR_IS_FATAL ANY)
  set(GOT ${WORK}/release/foveate-example)
endif()
execute_process(COMMAND ${EXPECTED} OUTPUT_VARIABLE expected COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${GOT} OUTPUT_VARIABLE got COMMAND_ERROR_IS_FATAL ANY)
if(expected STREQUAL "" OR NOT got STREQUAL expected)
  message(FATAL_ERROR "${GOT} printed\n${got}expected\n${expected}")
endif()
