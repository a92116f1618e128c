# SPDX-License-Identifier: Apache-2.0

# Whether the build has speed or size as its aim.
set(SPRUCE_OPTIMISED ON)
if(CMAKE_BUILD_TYPE AND NOT CMAKE_BUILD_TYPE MATCHES "^(Release|RelWithDebInfo)$")
  set(SPRUCE_OPTIMISED OFF)
endif()

# spruce_group_sources(<target>)
#
# With SPRUCE_GROUP_SOURCES, compiles sources of a folder eight at a time: what they include and
# instantiate takes a third to a half of the time that they take apart, and a tenth less of the
# library. No two sources of a folder may then define the same name. Apart stay kernels, which are
# large, and what each small operation or call goes through, since g++ expands less in large units.
function(spruce_group_sources target)
  if(NOT SPRUCE_GROUP_SOURCES)
    return()
  endif()
  set(apart "^core_cpu")
  if(SPRUCE_OPTIMISED AND NOT target MATCHES "_small$")
    string(APPEND apart "|^core(_ops)?$|^transforms_compile$")
  endif()
  get_target_property(sources ${target} SOURCES)
  list(FILTER sources INCLUDE REGEX "[.]cc$")
  foreach(source IN LISTS sources)
    cmake_path(RELATIVE_PATH source BASE_DIRECTORY "${PROJECT_SOURCE_DIR}" OUTPUT_VARIABLE folder)
    cmake_path(GET folder PARENT_PATH folder)
    string(MAKE_C_IDENTIFIER "${folder}" folder)
    if(folder MATCHES "${apart}")
      continue()
    endif()
    list(APPEND members_${folder} "${source}")
    list(LENGTH members_${folder} count)
    math(EXPR group "(${count} - 1) / 8")
    set_source_files_properties("${source}" PROPERTIES UNITY_GROUP "${folder}_${group}")
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
endfunction()

# spruce_compile_objects(<target> <optimization> [<part below> ...])
#
# Sets how an object library of ours is compiled: for <optimization>, which is s, 2 or 3, where a
# build is optimised.
function(spruce_compile_objects target optimization)
  target_compile_features(${target} PUBLIC cxx_std_20)
  set_target_properties(${target} PROPERTIES CXX_EXTENSIONS OFF POSITION_INDEPENDENT_CODE ON
                                             SPRUCE_OPTIMIZATION ${optimization})
  target_include_directories(${target} PUBLIC "${PROJECT_SOURCE_DIR}/include")
  target_link_libraries(${target} PRIVATE spruce_flags spruce_dependencies)
  foreach(below IN LISTS ARGN)
    target_link_libraries(${target} PUBLIC spruce_${below})
  endforeach()

  spruce_group_sources(${target})

  # Headers of the standard library are nine tenths of what most sources read. They are compiled
  # once for each set of flags; our own are not among them, so that what is compiled again after a
  # change stays little.
  if(NOT SPRUCE_OPTIMISED)
    set(optimization none)  # one set of flags for all
  endif()
  get_property(precompiled GLOBAL PROPERTY SPRUCE_PRECOMPILED_${optimization})
  if(precompiled)
    target_precompile_headers(${target} REUSE_FROM ${precompiled})
  else()
    target_precompile_headers(
      ${target}
      PRIVATE
      <algorithm>
      <array>
      <atomic>
      <charconv>
      <cmath>
      <cstring>
      <functional>
      <limits>
      <map>
      <memory>
      <mutex>
      <numeric>
      <optional>
      <set>
      <span>
      <sstream>
      <string>
      <string_view>
      <unordered_map>
      <variant>
      <vector>)
    set_property(GLOBAL PROPERTY SPRUCE_PRECOMPILED_${optimization} ${target})
  endif()
endfunction()

# spruce_add_objects(<target> <name> <optimization> [<part below> ...])
#
# Makes an object library of every .cc file in the folder that calls it, the part <name>. Its headers
# are reached as "spruce/<name>/..." through the link to the part in include/spruce;
# tests/house/layers.sh sees to it that a part includes only what is below it.
function(spruce_add_objects target name optimization)
  file(GLOB_RECURSE headers CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/*.h")
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/*.cc")
  if(NOT sources)  # a part of headers alone
    set(sources "${PROJECT_BINARY_DIR}/generated/${name}.cc")
    file(CONFIGURE OUTPUT "${sources}" CONTENT "// No sources.\n")
  endif()

  add_library(${target} OBJECT ${sources} ${headers})
  spruce_compile_objects(${target} ${optimization} ${ARGN})
endfunction()

# spruce_add_part(<name> <optimization> [<part below> ...])
#
# Makes the folder that calls it a part of the library spruce: its objects are spruce_<name>.
function(spruce_add_part name optimization)
  spruce_add_objects(spruce_${name} ${name} ${optimization} ${ARGN})
  set_property(GLOBAL APPEND PROPERTY SPRUCE_OBJECTS_${optimization} spruce_${name})
endfunction()

# spruce_compile_small(<name> <source> ...)
#
# Compiles these sources of the part <name> for size.
function(spruce_compile_small name)
  set(small "")
  foreach(source IN LISTS ARGN)
    cmake_path(ABSOLUTE_PATH source)
    list(APPEND small "${source}")
  endforeach()
  get_target_property(sources spruce_${name} SOURCES)
  list(REMOVE_ITEM sources ${small})
  set_target_properties(spruce_${name} PROPERTIES SOURCES "${sources}")
  add_library(spruce_${name}_small OBJECT ${small})
  spruce_compile_objects(spruce_${name}_small s ${name})
  set_property(GLOBAL APPEND PROPERTY SPRUCE_OBJECTS_s spruce_${name}_small)
endfunction()

include(CheckCXXSourceCompiles)

# spruce_link_options(<library>)
#
# Sets how a library of ours is linked: its functions call each other directly, not through the
# table in which a program could replace them. Relocations relative to the address of the library
# are packed where glibc reads that, since 2.36. Release leaves out the names of local functions,
# which only debuggers read: a tenth of the file.
function(spruce_link_options library)
  set(CMAKE_REQUIRED_LINK_OPTIONS LINKER:-z,pack-relative-relocs)
  check_cxx_source_compiles(
    "#include <features.h>
    #if !__GLIBC_PREREQ(2, 36)
    #error
    #endif
    int main() {}"
    SPRUCE_HAS_PACKED_RELOCATIONS)
  target_link_options(
    ${library}
    PRIVATE
    LINKER:--as-needed
    $<$<PLATFORM_ID:Linux>:LINKER:-Bsymbolic-functions>
    $<$<BOOL:${SPRUCE_HAS_PACKED_RELOCATIONS}>:LINKER:-z,pack-relative-relocs>
    $<$<CONFIG:Release>:LINKER:--strip-all>
    $<$<CXX_COMPILER_ID:GNU>:LINKER:--no-undefined>)
endfunction()
