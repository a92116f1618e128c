# SPDX-License-Identifier: Apache-2.0

# spruce_add_objects(<target> <name> [<part below> ...])
#
# Makes an object library of every .cc file in the folder that calls it, the part <name>. Its headers
# are reached as "spruce/<name>/..." through the link to the part in include/spruce;
# tests/house/layers.sh sees to it that a part includes only what is below it.
function(spruce_add_objects target name)
  file(GLOB_RECURSE headers CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/*.h")
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/*.cc")
  if(NOT sources)  # a part of headers alone
    set(sources "${PROJECT_BINARY_DIR}/generated/${name}.cc")
    file(CONFIGURE OUTPUT "${sources}" CONTENT "// No sources.\n")
  endif()

  add_library(${target} OBJECT ${sources} ${headers})
  target_compile_features(${target} PUBLIC cxx_std_20)
  set_target_properties(${target} PROPERTIES CXX_EXTENSIONS OFF POSITION_INDEPENDENT_CODE ON)
  target_include_directories(${target} PUBLIC "${PROJECT_SOURCE_DIR}/include")
  target_link_libraries(${target} PRIVATE spruce_flags spruce_dependencies)
  foreach(below IN LISTS ARGN)
    target_link_libraries(${target} PUBLIC spruce_${below})
  endforeach()
endfunction()

# spruce_add_part(<name> [<part below> ...])
#
# Makes the folder that calls it a part of the library spruce: its objects are spruce_<name>.
function(spruce_add_part name)
  spruce_add_objects(spruce_${name} ${name} ${ARGN})
  set_property(GLOBAL APPEND PROPERTY SPRUCE_PARTS ${name})
endfunction()
