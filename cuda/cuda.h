// SPDX-License-Identifier: Apache-2.0
// What programs see of the CUDA back end. All else is in the operations that they know: arrays that
// were moved to a device with to_device() are computed with there.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "spruce/core/device.h"

/// GPUs as devices: `sp::to_device(x, sp::cuda::device(0))`.
namespace spruce::cuda {

/// True where a driver, a device and the compiler of kernels (NVRTC) are there. Where it is false,
/// device() says why.
bool is_available();

/// All devices that the driver shows, in its order (CUDA_VISIBLE_DEVICES hides and orders them);
/// empty where there is no driver. Each is named "cuda:<its place>".
std::vector<Device*> devices();

/// The device of that place. Throws DeviceError, with the driver's words, where there is no driver,
/// where it is too old for the version of CUDA that Spruce was built with, or where no such device
/// is.
Device& device(int index = 0);

/// Waits until all that was enqueued on the device has run. Operations return before they have run;
/// reading (item, to_vector, printing) waits by itself, so this is for measuring time and for other
/// users of the device. Throws DeviceError where a kernel has failed, or where `device` is no CUDA
/// device.
void synchronize(Device& device);
/// The same for all CUDA devices that the program has used.
void synchronize();

/// What a GPU is.
struct Properties {
  std::string name;            ///< "NVIDIA H100 80GB HBM3"
  int compute_capability = 0;  ///< 90 for 9.0
  int multiprocessors = 0;     ///< of which each runs blocks of threads
  int64_t memory = 0;          ///< bytes
};
/// Of a CUDA device. Throws DeviceError for another.
Properties properties(const Device& device);

/// The memory of a GPU, in bytes.
struct MemoryUse {
  int64_t in_use = 0;  ///< arrays, and what compiled functions work in
  int64_t peak = 0;    ///< the most of it since the start
  int64_t cached = 0;  ///< kept for later arrays; clear_cache() gives it back
  int64_t blocks = 0;  ///< how many pieces are in use
  int64_t free = 0;    ///< not used by any program
  int64_t total = 0;   ///< all of the device
};
/// Of a CUDA device. Throws DeviceError for another.
MemoryUse memory(const Device& device);
/// Gives memory that is kept for later arrays back to the driver, for other programs.
void clear_cache(Device& device);

/// How products of f32 arrays are computed, those in convolutions and attention among them.
enum class MatmulPrecision : uint8_t {
  kFloat32,  ///< in f32
  kTf32,     ///< on tensor cores, which take 10 bits of the fraction of each factor and add in f32
};
/// Of all products that run from now on, in compiled functions too; kFloat32 unless it is set.
/// Products of other dtypes do not change.
void set_matmul_precision(MatmulPrecision precision);
/// What was set.
MatmulPrecision matmul_precision();

}  // namespace spruce::cuda
