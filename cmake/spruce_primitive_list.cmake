# SPDX-License-Identifier: Apache-2.0

# spruce_primitive_list(<target> <folder>)
#
# The folder is the registry: writes "spruce/core/primitive_list.inc" with one line
# SPRUCE_PRIMITIVE(name) for each name.cc in the folder, in the order of the names.
function(spruce_primitive_list target folder)
  file(GLOB sources CONFIGURE_DEPENDS "${folder}/*.cc")
  set(lines "")
  foreach(source IN LISTS sources)
    cmake_path(GET source STEM name)
    list(APPEND lines "SPRUCE_PRIMITIVE(${name})\n")
  endforeach()
  list(SORT lines)
  list(JOIN lines "" text)
  # CONFIGURE leaves the file alone where nothing changed, so nothing is compiled again.
  file(CONFIGURE OUTPUT "${PROJECT_BINARY_DIR}/generated/spruce/core/primitive_list.inc"
       CONTENT "${text}")
  target_include_directories(${target} PRIVATE "${PROJECT_BINARY_DIR}/generated")
endfunction()
