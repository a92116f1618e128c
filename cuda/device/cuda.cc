// SPDX-License-Identifier: Apache-2.0
#include "spruce/cuda/cuda.h"

#include <algorithm>
#include <array>
#include <memory>
#include <mutex>

#include "spruce/core/error.h"
#include "spruce/cuda/device/device.h"
#include "spruce/cuda/driver/error.h"

namespace spruce::cuda {
namespace {

// Devices are made when first asked for, and stay until the program ends: arrays may die later than
// anything that could destroy them.
struct Registry {
  std::mutex mutex;
  std::vector<CudaDevice*> devices;  // by place; null where none was asked for
};

Registry& registry() {
  static Registry* r = new Registry;
  return *r;
}

// How many devices there are. Throws DeviceError where there is no driver, or one that is too old.
int count_devices() {
  const DriverTable& d = driver();
  int version = 0;
  check(d.cuDriverGetVersion(&version), "cuDriverGetVersion");
  if (version / 1000 < CUDA_VERSION / 1000) {
    const auto text = [](int v) {
      return std::to_string(v / 1000) + "." + std::to_string(v % 1000 / 10);
    };
    throw DeviceError("cuda: the driver of this machine is for CUDA " + text(version) +
                      ", and Spruce was built with " + text(CUDA_VERSION) +
                      "; install a newer driver, or build Spruce with an older toolkit");
  }
  check(d.cuInit(0), "cuInit");
  int count = 0;
  check(d.cuDeviceGetCount(&count), "cuDeviceGetCount");
  return count;
}

}  // namespace

CudaDevice& of_cuda(const Device& device, const char* op) {
  Registry& r = registry();
  const std::lock_guard lock(r.mutex);
  for (CudaDevice* d : r.devices) {
    if (d == &device) return *d;
  }
  throw DeviceError(std::string(op) + ": " + std::string(device.name()) +
                    " is no CUDA device; spruce::cuda::devices() names those that are there");
}

Device& device(int index) {
  const int count = count_devices();
  if (index < 0 || index >= count) {
    throw DeviceError("cuda: there is no device " + std::to_string(index) + ": the driver shows " +
                      std::to_string(count) +
                      ", numbered from 0; look whether CUDA_VISIBLE_DEVICES hides some");
  }
  nvrtc();  // without a compiler no operation would run
  Registry& r = registry();
  const std::lock_guard lock(r.mutex);
  r.devices.resize(std::max(r.devices.size(), static_cast<size_t>(count)));
  CudaDevice*& place = r.devices[static_cast<size_t>(index)];
  if (place == nullptr) place = new CudaDevice(index);
  return *place;
}

bool is_available() {
  try {
    nvrtc();
    return count_devices() > 0;
  } catch (const DeviceError&) {
    return false;
  }
}

std::vector<Device*> devices() {
  std::vector<Device*> all;
  if (!is_available()) return all;
  for (int i = 0, n = count_devices(); i < n; ++i) all.push_back(&device(i));
  return all;
}

void synchronize(Device& device) { of_cuda(device, "synchronize").context().wait("synchronize"); }

void synchronize() {
  std::vector<CudaDevice*> all;
  {
    const std::lock_guard lock(registry().mutex);
    all = registry().devices;
  }
  for (CudaDevice* d : all) {
    if (d != nullptr) d->context().wait("synchronize");
  }
}

Properties properties(const Device& device) {
  const Context& c = of_cuda(device, "properties").context();
  std::array<char, 256> name{};
  check(driver().cuDeviceGetName(name.data(), static_cast<int>(name.size()), c.device()),
        "cuDeviceGetName");
  size_t bytes = 0;
  check(driver().cuDeviceTotalMem(&bytes, c.device()), "cuDeviceTotalMem");
  return {name.data(), c.architecture(), c.multiprocessors(), static_cast<int64_t>(bytes)};
}

MemoryUse memory(const Device& device) { return of_cuda(device, "memory").pool().use(); }

void clear_cache(Device& device) { of_cuda(device, "clear_cache").pool().clear_cache(); }

}  // namespace spruce::cuda
