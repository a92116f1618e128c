# SPDX-License-Identifier: Apache-2.0
# How our own sources are compiled. Nothing here reaches a project that uses spruce.

if(PROJECT_IS_TOP_LEVEL)
  set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
  get_property(multi_config GLOBAL PROPERTY GENERATOR_IS_MULTI_CONFIG)
  if(NOT CMAKE_BUILD_TYPE AND NOT multi_config)
    set(CMAKE_BUILD_TYPE Release CACHE STRING "Kind of build" FORCE)
  endif()
  find_program(SPRUCE_CCACHE ccache)
  mark_as_advanced(SPRUCE_CCACHE)
  if(SPRUCE_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
    # Without this it caches nothing that reads a precompiled header.
    set(CMAKE_CXX_COMPILER_LAUNCHER "${CMAKE_COMMAND}" -E env
                                    CCACHE_SLOPPINESS=pch_defines,time_macros "${SPRUCE_CCACHE}")
  endif()
endif()

# What every target of ours is compiled with, and what the library adds to it.
add_library(spruce_warnings INTERFACE)
target_compile_options(spruce_warnings INTERFACE -Wall -Wextra -Wpedantic
                                                 $<$<BOOL:${SPRUCE_WERROR}>:-Werror>)
# g++ 12 sees overlaps where strings are added up that are not there (GCC bug 105651).
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  target_compile_options(spruce_warnings INTERFACE -Wno-restrict)
endif()

# Results may not depend on how a compiler contracts; errno and traps are not part of the contract.
add_library(spruce_flags INTERFACE)
target_compile_options(
  spruce_flags
  INTERFACE $<$<CONFIG:Release,RelWithDebInfo>:-O$<TARGET_PROPERTY:SPRUCE_OPTIMIZATION>>
            -fno-math-errno
            -fno-trapping-math
            -ffp-contract=off
            -fno-semantic-interposition)
target_link_libraries(spruce_flags INTERFACE spruce_warnings)
