# SPDX-License-Identifier: Apache-2.0

# spruce_add_primitives(<folder>)
#
# Makes the folder a part of the registry: each name.cc in it or in a folder of it is the primitive
# `name`, but for one with a name.h, which holds what several primitives share. Any part of the
# library may have such a folder.
function(spruce_add_primitives folder)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${folder}/*.cc")
  foreach(source IN LISTS sources)
    cmake_path(GET source STEM name)
    cmake_path(REPLACE_EXTENSION source LAST_ONLY .h OUTPUT_VARIABLE header)
    if(EXISTS "${header}")
      continue()
    endif()
    set_property(GLOBAL APPEND PROPERTY SPRUCE_PRIMITIVES ${name})
  endforeach()
endfunction()

# spruce_primitive_list()
#
# Writes "spruce/core/primitive_list.inc", with one line SPRUCE_PRIMITIVE(name) for each primitive
# of all parts, in the order of the names.
function(spruce_primitive_list)
  get_property(names GLOBAL PROPERTY SPRUCE_PRIMITIVES)
  list(SORT names)
  list(TRANSFORM names REPLACE "(.+)" "SPRUCE_PRIMITIVE(\\1)\n")
  list(JOIN names "" text)
  # CONFIGURE leaves the file alone where nothing changed, so nothing is compiled again.
  file(CONFIGURE OUTPUT "${PROJECT_BINARY_DIR}/generated/spruce/core/primitive_list.inc"
       CONTENT "${text}")
endfunction()
