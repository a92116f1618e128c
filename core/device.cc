// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/device.h"

#include <array>
#include <atomic>
#include <cstring>
#include <mutex>
#include <string>
#include <vector>

#include "spruce/core/error.h"

namespace spruce {
namespace {

constexpr size_t kMost = 256;

struct Registry {
  std::array<std::atomic<Device*>, kMost> devices{};
  std::mutex mutex;  // of registration
  size_t count = 1;  // the CPU has its place
};

Registry& registry() {
  static Registry* r = new Registry;
  return *r;
}

}  // namespace

Device::Device(std::nullptr_t) : index_(0) { registry().devices[0] = this; }

Device::Device() : index_(0) {
  Registry& r = registry();
  const std::lock_guard lock(r.mutex);
  if (r.count == kMost) {
    throw DeviceError("Device: there are " + std::to_string(kMost) +
                      " devices already; make each once and keep it for the whole program");
  }
  index_ = static_cast<uint8_t>(r.count++);
  r.devices[index_] = this;
}

Device::~Device() { registry().devices[index_] = nullptr; }

int64_t Executable::donor(size_t) const { return -1; }

std::unique_ptr<const Executable> Device::compile(const Graph&) { return nullptr; }

void Device::fill(void* device_data, const void* element, int64_t n, int64_t element_bytes) {
  const auto one = static_cast<size_t>(element_bytes);
  std::vector<char> host(static_cast<size_t>(n) * one);
  for (size_t at = 0; at < host.size(); at += one) std::memcpy(host.data() + at, element, one);
  copy_from_host(device_data, host.data(), host.size());
}

Device& device_at(uint8_t index) {
  if (index == 0) return cpu_device();
  Device* device = registry().devices[index].load(std::memory_order_acquire);
  if (device == nullptr) {
    throw DeviceError("device_at: the device with the number " + std::to_string(index) +
                      " is gone; keep a device as long as arrays are on it");
  }
  return *device;
}

Device* find_device(std::string_view name) {
  if (name == cpu_device().name()) return &cpu_device();
  for (const std::atomic<Device*>& place : registry().devices) {
    Device* device = place.load(std::memory_order_acquire);
    if (device != nullptr && device->name() == name) return device;
  }
  return nullptr;
}

}  // namespace spruce
