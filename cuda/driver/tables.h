// SPDX-License-Identifier: Apache-2.0
// The functions of the CUDA driver and of libraries that are used, as tables of pointers which are
// filled when first asked for. Nothing links to a library of CUDA, so that a program which has this
// back end also runs where there is none; tests put tables of their own in the place of these.
#pragma once

#include <cublasLt.h>
#include <cuda.h>
#include <nvrtc.h>

// Each list names what its table holds. Names of cuda.h that are macros (cuMemAlloc is
// cuMemAlloc_v2) stand for what they expand to, in the tables and in the libraries.
// clang-format would indent each entry as if it went on with the one before.
// clang-format off
#define SPRUCE_CUDA_DRIVER(X)                                                                      \
  X(cuInit) X(cuDriverGetVersion) X(cuGetErrorName) X(cuGetErrorString) X(cuDeviceGetCount)        \
  X(cuDeviceGet) X(cuDeviceGetName) X(cuDeviceGetAttribute) X(cuDeviceTotalMem)                    \
  X(cuDevicePrimaryCtxRetain) X(cuCtxGetCurrent) X(cuCtxSetCurrent) X(cuCtxSynchronize)            \
  X(cuStreamCreate) X(cuStreamSynchronize) X(cuStreamQuery) X(cuMemGetInfo) X(cuMemAllocAsync)     \
  X(cuMemFreeAsync) X(cuDeviceGetDefaultMemPool) X(cuMemPoolSetAttribute) X(cuMemPoolTrimTo)       \
  X(cuMemAlloc) X(cuMemFree) X(cuMemAllocHost) X(cuMemcpyHtoDAsync) X(cuMemcpyDtoHAsync)           \
  X(cuMemcpyDtoDAsync) X(cuMemsetD8Async) X(cuMemsetD16Async) X(cuMemsetD32Async)                  \
  X(cuModuleLoadData) X(cuModuleGetFunction) X(cuModuleUnload) X(cuFuncGetParamInfo)               \
  X(cuFuncGetAttribute) X(cuFuncSetAttribute) X(cuLaunchKernel) X(cuStreamBeginCapture)            \
  X(cuStreamEndCapture) X(cuGraphInstantiateWithFlags) X(cuGraphLaunch) X(cuGraphExecUpdate)       \
  X(cuGraphExecDestroy) X(cuGraphDestroy) X(cuStreamIsCapturing) X(cuStreamWaitEvent)              \
  X(cuEventCreate) X(cuEventDestroy) X(cuEventRecord) X(cuEventRecordWithFlags)                    \
  X(cuEventElapsedTime) X(cuPointerGetAttribute)

#define SPRUCE_CUDA_NVRTC(X)                                                                       \
  X(nvrtcVersion) X(nvrtcGetErrorString) X(nvrtcCreateProgram) X(nvrtcCompileProgram)              \
  X(nvrtcGetProgramLogSize) X(nvrtcGetProgramLog) X(nvrtcGetCUBINSize) X(nvrtcGetCUBIN)            \
  X(nvrtcDestroyProgram)

#define SPRUCE_CUDA_BLAS(X)                                                                        \
  X(cublasLtCreate) X(cublasLtDestroy) X(cublasLtGetVersion) X(cublasLtGetStatusString)            \
  X(cublasLtMatmul) X(cublasLtMatmulDescCreate) X(cublasLtMatmulDescDestroy)                       \
  X(cublasLtMatmulDescSetAttribute) X(cublasLtMatrixLayoutCreate) X(cublasLtMatrixLayoutDestroy)   \
  X(cublasLtMatrixLayoutSetAttribute) X(cublasLtMatmulPreferenceCreate)                            \
  X(cublasLtMatmulPreferenceDestroy) X(cublasLtMatmulPreferenceSetAttribute)                       \
  X(cublasLtMatmulAlgoGetHeuristic)
// clang-format on

namespace spruce::cuda {

#define SPRUCE_CUDA_ENTRY(name) decltype(&::name) name = nullptr;
/// Of libcuda, which comes with the driver.
struct DriverTable {
  SPRUCE_CUDA_DRIVER(SPRUCE_CUDA_ENTRY)
};
/// Of NVRTC, the compiler.
struct NvrtcTable {
  SPRUCE_CUDA_NVRTC(SPRUCE_CUDA_ENTRY)
};
/// Of cuBLASLt, the products.
struct BlasTable {
  SPRUCE_CUDA_BLAS(SPRUCE_CUDA_ENTRY)
};
#undef SPRUCE_CUDA_ENTRY
/// Of NVTX, the ranges that NVIDIA's profilers show. Its headers are for programs that link
/// nothing, so that the types stand here.
struct NvtxTable {
  int (*nvtxRangePushA)(const char* message) = nullptr;
  int (*nvtxRangePop)() = nullptr;
};

/// The tables. Each throws DeviceError, with the words of the loader and the next step, where its
/// library is not there or lacks a function.
const DriverTable& driver();
const NvrtcTable& nvrtc();
const BlasTable& blas();
const NvtxTable& nvtx();

/// An address of a device as the driver takes it.
inline CUdeviceptr device_address(const void* p) { return reinterpret_cast<CUdeviceptr>(p); }

/// Tables that take the place of libraries from now on; null for the library's own. For tests,
/// before the first device is asked for.
struct Tables {
  const DriverTable* driver = nullptr;
  const NvrtcTable* nvrtc = nullptr;
  const BlasTable* blas = nullptr;
  const NvtxTable* nvtx = nullptr;
};
void replace_tables(const Tables& tables);

}  // namespace spruce::cuda
