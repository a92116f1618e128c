// SPDX-License-Identifier: Apache-2.0
#include "tests/cuda/emulated_device.h"

#include <cstdlib>
#include <string_view>

#include "spruce/core/default_device.h"
#include "spruce/cuda.h"
#include "tests/cuda/emulator/emulator.h"

namespace spruce::test_device {
namespace {

// A whole program on the device, from its first line on.
[[maybe_unused]] const bool started = [] {
  const char* wanted = std::getenv("SPRUCE_TEST_DEVICE");
  const bool emulated = wanted != nullptr && std::string_view(wanted) == "cuda";
  if (emulated) static const DefaultDevice scope(emulated_device());
  return emulated;
}();

}  // namespace

Device& emulated_device() {
  static Device& device = [&]() -> Device& {
    if (const char* real = std::getenv("SPRUCE_TEST_GPU"); real != nullptr && *real == '1')
      return cuda::device(0);
    // Blocks of their very size, so that an access outside of them is found; and nothing that an
    // earlier run has compiled is taken for granted but by the emulator itself.
    ::setenv("SPRUCE_CUDA_POOL", "off", 0);
    ::setenv("SPRUCE_CUDA_CACHE", "", 0);
    cuda_emulator::install();
    return cuda::device(0);
  }();
  return device;
}

}  // namespace spruce::test_device
