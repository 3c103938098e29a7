# Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
#
# Run by CPack when the files of its packages are in place: gives each what Debian's policy asks for.
function(run)
  execute_process(COMMAND ${ARGN} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

set(source ${CPACK_FOVEATE_SOURCE_DIR})
string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC)
string(
  CONFIGURE
    "@CPACK_PACKAGE_NAME@ (@CPACK_PACKAGE_VERSION@-@CPACK_DEBIAN_PACKAGE_RELEASE@) unstable; urgency=medium

  * Version @CPACK_PACKAGE_VERSION@: see changelog.gz.

 -- @CPACK_PACKAGE_CONTACT@  @date@
"
    changelog
  @ONLY)
foreach(component IN LISTS CPACK_COMPONENTS_ALL)
  string(TOUPPER ${component} name)
  set(package ${CPACK_DEBIAN_${name}_PACKAGE_NAME})
  set(root ${CPACK_TEMPORARY_DIRECTORY}/${component}/usr)
  set(doc ${root}/share/doc/${package})
  file(MAKE_DIRECTORY ${doc})

  # The licence that `cmake --install` lays down is part of the copyright file here.
  file(REMOVE_RECURSE ${root}/share/doc/foveate/LICENSE)
  if(NOT component STREQUAL cli)
    file(REMOVE_RECURSE ${root}/share/doc/foveate)
  endif()
  run(${source}/scripts/notices ${component} OUTPUT_FILE ${doc}/copyright)
  run(gzip -9nc ${source}/CHANGELOG.md OUTPUT_FILE ${doc}/changelog.gz)
  file(WRITE ${doc}/changelog.Debian "${changelog}")
  run(gzip -9n ${doc}/changelog.Debian)
  file(GLOB pages ${root}/share/man/man1/*.1)
  if(pages)
    run(gzip -9n ${pages})
  endif()
  # Of a static library CPack strips nothing.
  file(GLOB archives ${root}/lib/*/*.a)
  if(archives)
    run(strip --strip-unneeded --remove-section=.comment --remove-section=.note ${archives})
  endif()
endforeach()
