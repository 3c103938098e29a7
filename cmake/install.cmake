# Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
#
# What `cmake --install` lays down: the library for find_package(foveate) and for pkg-config, and the command line with its
# man pages and completions. Components, for `cmake --install --component` and for packages:
#
#   dev      headers, the library (as a static one, or the link of a shared one), CMake's files and pkg-config's
#   runtime  shared libraries, where BUILD_SHARED_LIBS makes them
#   cli      the command foveate
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(FOVEATE_CMAKE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/foveate)

# foveate_install_library(TARGET EXPORT)
function(foveate_install_library target export)
  install(
    TARGETS ${target}
    EXPORT ${export}
    LIBRARY COMPONENT runtime NAMELINK_COMPONENT dev
    ARCHIVE COMPONENT dev
    FILE_SET HEADERS COMPONENT dev)
  install(EXPORT ${export} NAMESPACE foveate:: DESTINATION ${FOVEATE_CMAKE_DIR} COMPONENT dev)
endfunction()

# foveate_install_pc(NAME DESCRIPTION REQUIRES): NAME.pc, which finds its prefix from where it lies.
function(foveate_install_pc FOVEATE_PC_NAME FOVEATE_PC_DESCRIPTION FOVEATE_PC_REQUIRES)
  file(RELATIVE_PATH FOVEATE_PC_TO_PREFIX /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
  set(pc ${PROJECT_BINARY_DIR}/${FOVEATE_PC_NAME}.pc)
  configure_file(${PROJECT_SOURCE_DIR}/cmake/foveate.pc.in ${pc} @ONLY)
  install(FILES ${pc} DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT dev)
endfunction()

# A static library leaves its own libraries to whoever links it.
get_target_property(FOVEATE_TYPE foveate TYPE)
set(highway "")
set(tbb "foveate = ${PROJECT_VERSION}")
if(FOVEATE_TYPE STREQUAL STATIC_LIBRARY)
  set(FOVEATE_STATIC ON)
  set(highway "libhwy >= 1.0.3")
  string(APPEND tbb ", tbb")
endif()

foveate_install_library(foveate foveateTargets)
foveate_install_pc(foveate "${PROJECT_DESCRIPTION}" "${highway}")
# An export of its own: whoever does not ask for the component needs no oneTBB.
if(TARGET foveate_tbb)
  set_target_properties(foveate_tbb PROPERTIES INSTALL_RPATH $ORIGIN)
  foveate_install_library(foveate_tbb foveateTbbTargets)
  foveate_install_pc(foveate_tbb "An executor on oneTBB for foveate" "${tbb}")
endif()
# So has the C interface: it brings the engine along, and needs neither Highway nor a C++ compiler.
if(TARGET foveate_c)
  foveate_install_library(foveate_c foveateCTargets)
  foveate_install_pc(foveate_c "${PROJECT_DESCRIPTION} (C interface)" "")
endif()

configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/foveateConfig.cmake.in
                              ${PROJECT_BINARY_DIR}/foveateConfig.cmake INSTALL_DESTINATION ${FOVEATE_CMAKE_DIR})
write_basic_package_version_file(
  ${PROJECT_BINARY_DIR}/foveateConfigVersion.cmake
  VERSION ${PROJECT_VERSION}
  COMPATIBILITY SameMinorVersion)
install(
  FILES ${PROJECT_BINARY_DIR}/foveateConfig.cmake ${PROJECT_BINARY_DIR}/foveateConfigVersion.cmake
  DESTINATION ${FOVEATE_CMAKE_DIR}
  COMPONENT dev)

if(TARGET foveate_cli)
  # With shared libraries the command line finds them beside it, wherever the prefix is.
  set_target_properties(foveate_cli PROPERTIES INSTALL_RPATH $ORIGIN/../${CMAKE_INSTALL_LIBDIR})
  install(TARGETS foveate_cli COMPONENT cli)
endif()
if(TARGET foveate_manual)
  # Where zsh looks differs: Debian keeps site-functions for what is not packaged.
  set(FOVEATE_ZSH_DIR ${CMAKE_INSTALL_DATADIR}/zsh/site-functions CACHE STRING "Where the completion of zsh is installed")
  set(manual ${PROJECT_BINARY_DIR}/cli/manual)
  install(DIRECTORY ${manual}/man1 DESTINATION ${CMAKE_INSTALL_MANDIR} COMPONENT cli)
  install(FILES ${manual}/bash/foveate DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions COMPONENT cli)
  install(FILES ${manual}/zsh/_foveate DESTINATION ${FOVEATE_ZSH_DIR} COMPONENT cli)
  install(FILES ${manual}/fish/foveate.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d COMPONENT cli)
endif()
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT dev)

if(PROJECT_IS_TOP_LEVEL AND FOVEATE_STATIC)
  include(${PROJECT_SOURCE_DIR}/packaging/debian.cmake)
endif()
