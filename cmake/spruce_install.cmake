# SPDX-License-Identifier: Apache-2.0
# Installs the library, its headers, and what find_package and pkg-config read.

include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/spruce")
get_property(parts GLOBAL PROPERTY SPRUCE_PARTS)

install(TARGETS spruce spruce_data EXPORT spruce_targets)
install(FILES "${PROJECT_SOURCE_DIR}/include/spruce/spruce.h"
              "${PROJECT_SOURCE_DIR}/include/spruce/data.h"
        DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/spruce")
foreach(part IN LISTS parts ITEMS data)
  install(
    DIRECTORY "${PROJECT_SOURCE_DIR}/${part}"
    DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/spruce"
    FILES_MATCHING
    PATTERN "*.h"
    PATTERN "x64" EXCLUDE)
endforeach()
# Of the CUDA back end only what users include: the rest needs the headers of the toolkit.
if(TARGET spruce_cuda)
  install(TARGETS spruce_cuda EXPORT spruce_targets)
  install(FILES "${PROJECT_SOURCE_DIR}/include/spruce/cuda.h"
          DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/spruce")
  install(FILES "${PROJECT_SOURCE_DIR}/cuda/cuda.h"
          DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/spruce/cuda")
endif()
install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" DESTINATION "${CMAKE_INSTALL_DOCDIR}")

install(
  EXPORT spruce_targets
  NAMESPACE spruce::
  FILE spruce-targets.cmake
  DESTINATION "${package_dir}")
configure_package_config_file("${PROJECT_SOURCE_DIR}/cmake/spruce-config.cmake.in"
                              "${PROJECT_BINARY_DIR}/generated/spruce-config.cmake"
                              INSTALL_DESTINATION "${package_dir}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/generated/spruce-config-version.cmake"
                                 COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/generated/spruce-config.cmake"
              "${PROJECT_BINARY_DIR}/generated/spruce-config-version.cmake"
        DESTINATION "${package_dir}")

# As in the package for CMake: only a static spruce leaves something to be linked by its user.
set(SPRUCE_PC_REQUIRES "")
set(SPRUCE_PC_LIBS "")
set(SPRUCE_DATA_PC_LIBS "")
get_property(SPRUCE_DATA_LINK_FLAGS GLOBAL PROPERTY SPRUCE_DATA_LINK_FLAGS)
if(NOT BUILD_SHARED_LIBS)
  set(SPRUCE_PC_LIBS "-ldnnl -lpthread ${OpenMP_CXX_FLAGS}")
  set(SPRUCE_PC_REQUIRES "zlib")
  set(SPRUCE_DATA_PC_LIBS "${SPRUCE_DATA_LINK_FLAGS}")
  foreach(library IN LISTS SPRUCE_LINKED_LIBRARIES)
    if(library MATCHES "^absl::(.*)")
      string(APPEND SPRUCE_PC_REQUIRES " absl_${CMAKE_MATCH_1}")
    endif()
  endforeach()
endif()
# The prefix is taken from where spruce.pc lies, so that an installed tree can be moved.
file(RELATIVE_PATH SPRUCE_PC_PREFIX "${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig"
     "${CMAKE_INSTALL_PREFIX}")
configure_file("${PROJECT_SOURCE_DIR}/cmake/spruce.pc.in"
               "${PROJECT_BINARY_DIR}/generated/spruce.pc" @ONLY)
configure_file("${PROJECT_SOURCE_DIR}/cmake/spruce_data.pc.in"
               "${PROJECT_BINARY_DIR}/generated/spruce_data.pc" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/generated/spruce.pc"
              "${PROJECT_BINARY_DIR}/generated/spruce_data.pc"
        DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
