# SPDX-License-Identifier: Apache-2.0
# Where the headers of CUDA are: SPRUCE_CUDA_INCLUDE. Nothing of CUDA is linked; its libraries are
# opened when a program first asks for a device.
set(SPRUCE_CUDA AUTO CACHE STRING "Build the CUDA back end: AUTO (where its headers are), ON, OFF")
set_property(CACHE SPRUCE_CUDA PROPERTY STRINGS AUTO ON OFF)

set(SPRUCE_HAS_CUDA OFF)
if(SPRUCE_CUDA)
  find_path(
    SPRUCE_CUDA_INCLUDE cublasLt.h
    HINTS "$ENV{CUDA_HOME}" "$ENV{CUDA_PATH}" "${CUDAToolkit_ROOT}" /usr/local/cuda
    PATH_SUFFIXES include)
  mark_as_advanced(SPRUCE_CUDA_INCLUDE)
  if(SPRUCE_CUDA_INCLUDE
     AND EXISTS "${SPRUCE_CUDA_INCLUDE}/cuda.h"
     AND EXISTS "${SPRUCE_CUDA_INCLUDE}/nvrtc.h")
    set(SPRUCE_HAS_CUDA ON)
  elseif(NOT SPRUCE_CUDA STREQUAL "AUTO")
    message(FATAL_ERROR "SPRUCE_CUDA=${SPRUCE_CUDA}, but cuda.h, nvrtc.h and cublasLt.h of the CUDA "
                        "toolkit are not there; name its folder in CUDA_HOME")
  endif()
endif()
