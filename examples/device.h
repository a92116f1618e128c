// SPDX-License-Identifier: Apache-2.0
// The device that an example runs on.
#pragma once

#include <spruce/spruce.h>

#ifdef SPRUCE_EXAMPLE_CUDA
#include <spruce/cuda.h>
#endif

#include <charconv>
#include <string>

/// The device of that name: "cpu", or "cuda:0" where Spruce was built for CUDA. Throws
/// spruce::DeviceError for another one, and where the machine has no such device.
inline spruce::Device& device_named(const std::string& name) {
  if (name == "cpu") return spruce::cpu_device();
#ifdef SPRUCE_EXAMPLE_CUDA
  int index = 0;
  const char* end = name.data() + name.size();
  if (name.starts_with("cuda:") && std::from_chars(name.data() + 5, end, index).ptr == end)
    return spruce::cuda::device(index);
  throw spruce::DeviceError("there is no device '" + name + "'; say cpu, or cuda:0");
#else
  throw spruce::DeviceError("there is no device '" + name +
                            "'; this program knows cpu: Spruce was built without CUDA");
#endif
}
