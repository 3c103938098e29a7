# Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
#
# What `cmake --install` lays down: the library for find_package(foveate) and for pkg-config, and the command line.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(FOVEATE_CMAKE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/foveate)

install(TARGETS foveate EXPORT foveateTargets FILE_SET HEADERS)
install(EXPORT foveateTargets NAMESPACE foveate:: DESTINATION ${FOVEATE_CMAKE_DIR})

# An export of its own: whoever does not ask for the component needs no oneTBB.
if(TARGET foveate_tbb)
  install(TARGETS foveate_tbb EXPORT foveateTbbTargets FILE_SET HEADERS)
  install(EXPORT foveateTbbTargets NAMESPACE foveate:: DESTINATION ${FOVEATE_CMAKE_DIR})
endif()

# So has the C interface: it brings the engine along, and needs neither Highway nor a C++ compiler.
if(TARGET foveate_c)
  install(TARGETS foveate_c EXPORT foveateCTargets FILE_SET HEADERS)
  install(EXPORT foveateCTargets NAMESPACE foveate:: DESTINATION ${FOVEATE_CMAKE_DIR})
endif()

# A static library leaves its own libraries to whoever links it.
get_target_property(FOVEATE_TYPE foveate TYPE)
if(FOVEATE_TYPE STREQUAL STATIC_LIBRARY)
  set(FOVEATE_STATIC ON)
  set(FOVEATE_PC_REQUIRES "libhwy >= 1.0.3")
endif()

configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/foveateConfig.cmake.in
                              ${PROJECT_BINARY_DIR}/foveateConfig.cmake INSTALL_DESTINATION ${FOVEATE_CMAKE_DIR})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/foveateConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/foveateConfig.cmake ${PROJECT_BINARY_DIR}/foveateConfigVersion.cmake
        DESTINATION ${FOVEATE_CMAKE_DIR})

file(RELATIVE_PATH FOVEATE_PC_TO_PREFIX /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
configure_file(${CMAKE_CURRENT_LIST_DIR}/foveate.pc.in ${PROJECT_BINARY_DIR}/foveate.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/foveate.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
if(TARGET foveate_c)
  configure_file(${CMAKE_CURRENT_LIST_DIR}/foveate_c.pc.in ${PROJECT_BINARY_DIR}/foveate_c.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/foveate_c.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endif()

if(TARGET foveate_cli)
  # With shared libraries the command line finds them beside it, wherever the prefix is.
  set_target_properties(foveate_cli PROPERTIES INSTALL_RPATH $ORIGIN/../${CMAKE_INSTALL_LIBDIR})
  install(TARGETS foveate_cli)
endif()
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
