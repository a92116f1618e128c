# SPDX-License-Identifier: Apache-2.0

# spruce_add_part(<name> [<part below> ...])
#
# Makes the folder that calls it a part of the library: the object library spruce_<name> of every
# .cc file in it. Its headers are reached as "spruce/<name>/..." through the link to the part in
# include/spruce; tests/house/layers.sh sees to it that a part includes only what is below it.
function(spruce_add_part name)
  file(GLOB_RECURSE headers CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/*.h")
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/*.cc")
  if(NOT sources)  # a part of headers alone
    set(sources "${PROJECT_BINARY_DIR}/generated/${name}.cc")
    file(CONFIGURE OUTPUT "${sources}" CONTENT "// No sources.\n")
  endif()

  add_library(spruce_${name} OBJECT ${sources} ${headers})
  target_compile_features(spruce_${name} PUBLIC cxx_std_20)
  set_target_properties(spruce_${name} PROPERTIES CXX_EXTENSIONS OFF POSITION_INDEPENDENT_CODE ON)
  target_include_directories(spruce_${name} PUBLIC "${PROJECT_SOURCE_DIR}/include")
  target_link_libraries(spruce_${name} PRIVATE spruce_flags spruce_dependencies)
  foreach(below IN LISTS ARGN)
    target_link_libraries(spruce_${name} PUBLIC spruce_${below})
  endforeach()
  set_property(GLOBAL APPEND PROPERTY SPRUCE_PARTS ${name})
endfunction()
