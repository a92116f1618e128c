# SPDX-License-Identifier: Apache-2.0
# The one library that users link, made of the objects of all parts.

# An inline function that several objects have is taken from the first of them: small ones first.
get_property(small GLOBAL PROPERTY SPRUCE_OBJECTS_s)
get_property(fast GLOBAL PROPERTY SPRUCE_OBJECTS_3)

# spruce_link_objects(<target> [<hidden namespace> ...])
#
# Links them into that library, which on Linux exports the names of Spruce but for those of these
# namespaces.
function(spruce_link_objects target)
  foreach(objects IN LISTS small fast)
    target_sources(${target} PRIVATE $<TARGET_OBJECTS:${objects}>)
  endforeach()
  target_link_libraries(${target} PRIVATE ${SPRUCE_LINKED_LIBRARIES})
  spruce_link_options(${target})
  set_target_properties(
    ${target}
    PROPERTIES CXX_EXTENSIONS OFF
               POSITION_INDEPENDENT_CODE ON
               VERSION ${PROJECT_VERSION}
               SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
  if(CMAKE_SYSTEM_NAME STREQUAL "Linux")
    set(SPRUCE_HIDDEN "")
    foreach(namespace IN LISTS ARGN)
      string(APPEND SPRUCE_HIDDEN "      *${namespace}::*;\n")
    endforeach()
    set(exported "${PROJECT_BINARY_DIR}/generated/${target}.map")
    configure_file("${PROJECT_SOURCE_DIR}/cmake/exported_symbols.map.in" "${exported}" @ONLY)
    target_link_options(${target} PRIVATE "LINKER:--version-script=${exported}")
    set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS "${exported}")
  endif()
endfunction()

add_library(spruce)
add_library(spruce::spruce ALIAS spruce)
target_compile_features(spruce PUBLIC cxx_std_20)
target_include_directories(spruce PUBLIC "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>"
                                         "$<INSTALL_INTERFACE:include>")
spruce_link_objects(spruce)

# Tests call kernels and passes by themselves. Programs do not: the library that is installed, which
# is linked when it is, does not show them.
if(BUILD_SHARED_LIBS AND CMAKE_SYSTEM_NAME STREQUAL "Linux")
  add_library(spruce_installed SHARED EXCLUDE_FROM_ALL)
  spruce_link_objects(spruce_installed spruce::cpu spruce::fusion spruce::passes)
  set_target_properties(
    spruce_installed PROPERTIES OUTPUT_NAME spruce LIBRARY_OUTPUT_DIRECTORY
                                                   "${PROJECT_BINARY_DIR}/installed")
endif()
