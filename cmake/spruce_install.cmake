# SPDX-License-Identifier: Apache-2.0
# Installs the library, its headers, and what find_package and pkg-config read.

include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/spruce")

install(TARGETS spruce spruce_data EXPORT spruce_targets)
if(TARGET spruce_installed)
  install(CODE "execute_process(
  COMMAND \"${CMAKE_COMMAND}\" --build \"${CMAKE_BINARY_DIR}\" --target spruce_installed
          --config \"\${CMAKE_INSTALL_CONFIG_NAME}\"
  OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)")
  install(PROGRAMS $<TARGET_FILE:spruce_installed> DESTINATION "${CMAKE_INSTALL_LIBDIR}")
endif()
# Headers that users name; what these include is installed with them.
set(roots spruce/spruce.h spruce/data.h spruce/core/eigen.h)
if(TARGET spruce_cuda)
  install(TARGETS spruce_cuda EXPORT spruce_targets)
  list(APPEND roots spruce/cuda.h)
endif()
install(
  CODE "set(roots ${roots})
set(include_dir [=[${PROJECT_SOURCE_DIR}/include]=])
cmake_path(ABSOLUTE_PATH CMAKE_INSTALL_PREFIX OUTPUT_VARIABLE prefix)
set(destination \"\$ENV{DESTDIR}\${prefix}/${CMAKE_INSTALL_INCLUDEDIR}\")
include([=[${PROJECT_SOURCE_DIR}/cmake/install_headers.cmake]=])")
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
