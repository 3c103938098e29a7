# Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
#
# foveate_embed_page(TARGET FOLDER): what the folder holds becomes the embedded_page() of cli/page.h. A file that is
# changed, new or gone is seen at the next build; without an index.html there is no page.
function(foveate_embed_page target folder)
  file(GLOB_RECURSE files CONFIGURE_DEPENDS RELATIVE ${folder} ${folder}/*)
  if(NOT "index.html" IN_LIST files)
    set(files "")
  endif()

  # Each file ends where the next one begins.
  set(count 0)
  foreach(file IN LISTS files)
    math(EXPR next "${count} + 1")
    string(APPEND FOVEATE_PAGE_BYTES "page_${count}: .incbin \"${folder}/${file}\"\n")
    string(APPEND FOVEATE_PAGE_LABELS "extern const char page_${count}[] asm(\"page_${count}\");\n")
    string(APPEND FOVEATE_PAGE_FILES "    PageFile{\"/${file}\", {page_${count}, page_${next}}},\n")
    set(count ${next})
  endforeach()
  string(APPEND FOVEATE_PAGE_BYTES "page_${count}:")
  string(APPEND FOVEATE_PAGE_LABELS "extern const char page_${count}[] asm(\"page_${count}\");")
  set(FOVEATE_PAGE_COUNT ${count})

  set(source ${CMAKE_CURRENT_BINARY_DIR}/page.cc)
  configure_file(${PROJECT_SOURCE_DIR}/cmake/page.cc.in ${source} @ONLY)
  list(TRANSFORM files PREPEND ${folder}/)
  set_source_files_properties(${source} PROPERTIES OBJECT_DEPENDS "${files}")
  target_sources(${target} PRIVATE ${source})
endfunction()
