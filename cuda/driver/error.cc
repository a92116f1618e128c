// SPDX-License-Identifier: Apache-2.0
#include "spruce/cuda/driver/error.h"

#include "spruce/core/error.h"

namespace spruce::cuda {
namespace {

std::string message(std::string_view what, std::string_view words, std::string_view next) {
  std::string s = "cuda: ";
  s.append(what).append(": ").append(words);
  if (!next.empty()) s.append("; ").append(next);
  return s;
}

std::string_view next_step(CUresult result) {
  switch (result) {
    case CUDA_ERROR_NO_DEVICE:
      return "run on spruce::cpu_device(), or look whether CUDA_VISIBLE_DEVICES hides the devices";
    case CUDA_ERROR_INVALID_DEVICE:
      return "spruce::cuda::devices() names those that are there";
    case CUDA_ERROR_SYSTEM_DRIVER_MISMATCH:
    case CUDA_ERROR_UNSUPPORTED_PTX_VERSION:
      return "install the driver that belongs to this version of CUDA";
    case CUDA_ERROR_OUT_OF_MEMORY:
      return "free arrays, or take smaller batches";
    default:
      return is_lost(result) ? "this operation has failed or one before it, and the device is lost "
                               "for this program: start it again; with SPRUCE_CUDA_SYNC=1 the "
                               "error names the operation"
                             : "";
  }
}

}  // namespace

std::string words(CUresult result) {
  const char *name = nullptr, *text = nullptr;
  driver().cuGetErrorName(result, &name);
  driver().cuGetErrorString(result, &text);
  return std::string(text != nullptr ? text : "unknown error") + " (" +
         (name != nullptr ? std::string(name) : std::to_string(static_cast<int>(result))) + ")";
}

bool is_lost(CUresult result) {
  switch (result) {
    case CUDA_ERROR_ILLEGAL_ADDRESS:
    case CUDA_ERROR_LAUNCH_FAILED:
    case CUDA_ERROR_LAUNCH_TIMEOUT:
    case CUDA_ERROR_ASSERT:
    case CUDA_ERROR_HARDWARE_STACK_ERROR:
    case CUDA_ERROR_ILLEGAL_INSTRUCTION:
    case CUDA_ERROR_MISALIGNED_ADDRESS:
    case CUDA_ERROR_INVALID_ADDRESS_SPACE:
    case CUDA_ERROR_INVALID_PC:
    case CUDA_ERROR_ECC_UNCORRECTABLE:
    case CUDA_ERROR_CONTEXT_IS_DESTROYED:
    case CUDA_ERROR_CONTAINED:
    case CUDA_ERROR_NVLINK_UNCORRECTABLE:
    case CUDA_ERROR_TENSOR_MEMORY_LEAK:
    case CUDA_ERROR_UNKNOWN:
      return true;
    default:
      return false;
  }
}

void check(CUresult result, std::string_view what) {
  if (result != CUDA_SUCCESS) throw DeviceError(message(what, words(result), next_step(result)));
}

void check(nvrtcResult result, std::string_view what) {
  if (result != NVRTC_SUCCESS)
    throw DeviceError(message(what, nvrtc().nvrtcGetErrorString(result), ""));
}

void check(cublasStatus_t result, std::string_view what) {
  if (result != CUBLAS_STATUS_SUCCESS)
    throw DeviceError(message(what, blas().cublasLtGetStatusString(result), ""));
}

}  // namespace spruce::cuda
