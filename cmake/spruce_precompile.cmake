# SPDX-License-Identifier: Apache-2.0

# spruce_precompiled_headers(<name> OPTIONS <option> ... LIBRARIES <library> ... HEADERS <header> ...)
#
# Compiles <spruce/spruce.h> and these headers once, with these options and libraries, for the many
# small programs of ours that read them: they are most of what such a program is compiled for. A
# program takes them by
#
#   target_precompile_headers(<program> REUSE_FROM <name>)
#
# and has to be compiled with the same options; it may have more definitions and include folders.
function(spruce_precompiled_headers name)
  cmake_parse_arguments(PARSE_ARGV 1 with "" "" "OPTIONS;LIBRARIES;HEADERS")
  set(source "${PROJECT_BINARY_DIR}/generated/${name}.cc")
  file(CONFIGURE OUTPUT "${source}" CONTENT "// What a precompiled header belongs to.\n")
  add_library(${name} OBJECT EXCLUDE_FROM_ALL "${source}")
  set_target_properties(${name} PROPERTIES CXX_EXTENSIONS OFF)
  target_compile_options(${name} PRIVATE ${with_OPTIONS})
  target_link_libraries(${name} PRIVATE spruce ${with_LIBRARIES})
  target_precompile_headers(${name} PRIVATE <spruce/spruce.h> ${with_HEADERS})
endfunction()
