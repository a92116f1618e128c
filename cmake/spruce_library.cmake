# SPDX-License-Identifier: Apache-2.0
# The one library that users link, made of the objects of all parts.

# An inline function that several objects have is taken from the first of them: small ones first.
get_property(small GLOBAL PROPERTY SPRUCE_OBJECTS_s)
get_property(fast GLOBAL PROPERTY SPRUCE_OBJECTS_3)

add_library(spruce)
add_library(spruce::spruce ALIAS spruce)
target_compile_features(spruce PUBLIC cxx_std_20)
set_target_properties(
  spruce
  PROPERTIES CXX_EXTENSIONS OFF
             POSITION_INDEPENDENT_CODE ON
             VERSION ${PROJECT_VERSION}
             SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
target_include_directories(spruce PUBLIC "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>"
                                         "$<INSTALL_INTERFACE:include>")
foreach(objects IN LISTS small fast)
  target_sources(spruce PRIVATE $<TARGET_OBJECTS:${objects}>)
endforeach()
target_link_libraries(spruce PRIVATE ${SPRUCE_LINKED_LIBRARIES})
spruce_link_options(spruce)

if(CMAKE_SYSTEM_NAME STREQUAL "Linux")
  set(exported "${CMAKE_CURRENT_LIST_DIR}/exported_symbols.map")
  target_link_options(spruce PRIVATE "LINKER:--version-script=${exported}")
  set_property(TARGET spruce APPEND PROPERTY LINK_DEPENDS "${exported}")
endif()
