// SPDX-License-Identifier: Apache-2.0
// The CPU as a device.
#include <cstring>
#include <string>

#include "spruce/core/cpu/index/copy.h"
#include "spruce/core/device.h"
#include "spruce/core/error.h"
#include "spruce/core/memory.h"
#include "spruce/core/primitive.h"

namespace spruce {
namespace {

class CpuDevice final : public Device {
 public:
  CpuDevice() : Device(nullptr) {}
  std::string_view name() const override { return "cpu"; }
  void* allocate(size_t bytes) override { return internal::pool_allocate(bytes); }
  void deallocate(void* data, size_t bytes) noexcept override {
    internal::pool_release(data, bytes);
  }
  void copy_from_host(void* to, const void* from, size_t bytes) override {
    if (bytes > 0) std::memcpy(to, from, bytes);
  }
  void copy_to_host(void* to, const void* from, size_t bytes) override {
    if (bytes > 0) std::memcpy(to, from, bytes);
  }
  void fill(void* to, const void* element, int64_t n, int64_t element_bytes) override {
    cpu::fill(to, element, n, element_bytes);
  }
  void run(const Primitive& primitive, const KernelArgs& args) override {
    if (primitive.cpu == nullptr) {
      throw DeviceError(std::string(primitive.name) +
                        ": this operation has no CPU kernel; it only exists inside of a transform");
    }
    primitive.cpu(args);
  }
};

}  // namespace

Device& cpu_device() {
  static CpuDevice* device = new CpuDevice;
  return *device;
}

}  // namespace spruce
