# SPDX-License-Identifier: Apache-2.0
# What the library is built on. All of it is private: no public header includes any of it.

find_package(Threads REQUIRED)
find_package(ZLIB REQUIRED)
find_package(absl REQUIRED)
find_package(dnnl REQUIRED)
find_package(nlohmann_json 3.10 REQUIRED)
if(SPRUCE_OPENMP)
  find_package(OpenMP REQUIRED COMPONENTS CXX)
endif()

# For pictures in files; optional, and used by spruce_data alone.
find_package(PNG QUIET)
find_package(JPEG QUIET)

# Headers alone, for machine code on x86-64 (core/cpu/x64); optional.
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64)$" AND UNIX)
  find_path(SPRUCE_XBYAK_INCLUDE xbyak/xbyak.h)
endif()

# Linked into the library; a static spruce hands these on to whoever links it.
set(SPRUCE_LINKED_LIBRARIES
    absl::flat_hash_map
    absl::flat_hash_set
    absl::hash
    absl::inlined_vector
    absl::str_format
    absl::strings
    DNNL::dnnl
    ZLIB::ZLIB
    Threads::Threads)
if(SPRUCE_OPENMP)
  list(APPEND SPRUCE_LINKED_LIBRARIES OpenMP::OpenMP_CXX)
endif()

add_library(spruce_dependencies INTERFACE)
target_link_libraries(spruce_dependencies INTERFACE ${SPRUCE_LINKED_LIBRARIES}
                                                    nlohmann_json::nlohmann_json)
if(SPRUCE_OPENMP)
  target_compile_definitions(spruce_dependencies INTERFACE SPRUCE_HAS_OPENMP)
else()
  target_compile_options(spruce_dependencies INTERFACE -fopenmp-simd)
endif()
