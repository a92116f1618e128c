// SPDX-License-Identifier: Apache-2.0
#include "spruce/cuda/driver/tables.h"

#include <dlfcn.h>

#include <atomic>
#include <cstdlib>
#include <mutex>
#include <string>
#include <vector>

#include "spruce/core/error.h"

namespace spruce::cuda {
namespace {

std::atomic<const DriverTable*> driver_in_place{nullptr};
std::atomic<const NvrtcTable*> nvrtc_in_place{nullptr};
std::atomic<const BlasTable*> blas_in_place{nullptr};
std::atomic<const NvtxTable*> nvtx_in_place{nullptr};

// A library by the first of its names that can be opened: where the loader looks, then in the usual
// places of the toolkit.
class Library {
 public:
  Library(const std::vector<std::string>& names, bool of_toolkit) {
    std::vector<std::string> folders = {""};
    if (of_toolkit) {
      for (const char* variable : {"CUDA_HOME", "CUDA_PATH"}) {
        if (const char* folder = std::getenv(variable)) {
          folders.push_back(std::string(folder) + "/lib64/");
          folders.push_back(std::string(folder) + "/lib/");
        }
      }
      folders.emplace_back("/usr/local/cuda/lib64/");
    }
    for (const std::string& folder : folders) {
      for (const std::string& name : names) {
        handle_ = ::dlopen((folder + name).c_str(), RTLD_NOW | RTLD_LOCAL);
        if (handle_ != nullptr) {
          folder_ = folder;
          return;
        }
        if (words_.empty()) words_ = ::dlerror();
      }
    }
  }
  bool opened() const { return handle_ != nullptr; }
  const std::string& words() const { return words_; }
  // Where it was found, with a slash; empty where the loader looks.
  const std::string& folder() const { return folder_; }

  template <class F>
  void take(F& function, const char* name) {
    function = reinterpret_cast<F>(::dlsym(handle_, name));
    if (function == nullptr && missing_.empty()) missing_ = name;
  }
  const std::string& missing() const { return missing_; }

 private:
  void* handle_ = nullptr;  // stays open
  std::string folder_, words_, missing_;
};

std::string major_of(int version) { return std::to_string(version); }

#define SPRUCE_CUDA_TEXT(name) #name
#define SPRUCE_CUDA_TAKE(name) library.take(table.name, SPRUCE_CUDA_TEXT(name));

const DriverTable* open_driver() {
  Library library({"libcuda.so.1"}, false);
  if (!library.opened()) {
    throw DeviceError("cuda: there is no CUDA driver on this machine (" + library.words() +
                      "); install NVIDIA's driver, or run on spruce::cpu_device()");
  }
  static DriverTable table;
  SPRUCE_CUDA_DRIVER(SPRUCE_CUDA_TAKE)
  if (!library.missing().empty()) {
    throw DeviceError("cuda: the CUDA driver of this machine is too old: it lacks " +
                      library.missing() + "; install one for CUDA " +
                      major_of(CUDA_VERSION / 1000) + " or newer");
  }
  return &table;
}

const NvrtcTable* open_nvrtc() {
  const std::string major = major_of(CUDA_VERSION / 1000);
  Library library({"libnvrtc.so." + major, "libnvrtc.so"}, true);
  if (!library.opened()) {
    throw DeviceError("cuda: NVRTC, which compiles kernels, was not found (" + library.words() +
                      "); install the CUDA toolkit " + major + ", or name its folder in CUDA_HOME");
  }
  static NvrtcTable table;
  SPRUCE_CUDA_NVRTC(SPRUCE_CUDA_TAKE)
  if (!library.missing().empty())
    throw DeviceError("cuda: NVRTC lacks " + library.missing() + "; install the CUDA toolkit " +
                      major);
  if (!library.folder().empty()) {
    // NVRTC opens it by its name alone, which the loader takes for the one that is open.
    int whole = 0, part = 0;
    table.nvrtcVersion(&whole, &part);
    const std::string builtins = library.folder() + "libnvrtc-builtins.so." +
                                 std::to_string(whole) + "." + std::to_string(part);
    ::dlopen(builtins.c_str(), RTLD_NOW | RTLD_LOCAL);
  }
  return &table;
}

const BlasTable* open_blas() {
  const std::string major = major_of(CUBLAS_VER_MAJOR);
  Library library({"libcublasLt.so." + major, "libcublasLt.so"}, true);
  if (!library.opened()) {
    throw DeviceError("cuda: cuBLASLt, which computes products, was not found (" + library.words() +
                      "); install the CUDA toolkit " + major + ", or name its folder in CUDA_HOME");
  }
  static BlasTable table;
  SPRUCE_CUDA_BLAS(SPRUCE_CUDA_TAKE)
  if (!library.missing().empty())
    throw DeviceError("cuda: cuBLASLt lacks " + library.missing() + "; install the CUDA toolkit " +
                      major);
  return &table;
}

const NvtxTable* open_nvtx() {
  Library library({"libnvtx3interop.so.1", "libnvToolsExt.so.1"}, true);
  if (!library.opened()) {
    throw DeviceError("cuda: NVTX, which SPRUCE_CUDA_NVTX=1 asks for, was not found (" +
                      library.words() +
                      "); it comes with the CUDA toolkit, whose folder CUDA_HOME names; or unset "
                      "the variable");
  }
  static NvtxTable table;
  library.take(table.nvtxRangePushA, "nvtxRangePushA");
  library.take(table.nvtxRangePop, "nvtxRangePop");
  if (!library.missing().empty())
    throw DeviceError("cuda: NVTX lacks " + library.missing() + "; install a newer CUDA toolkit");
  return &table;
}

// A failure to open is tried again: a driver may be there later, and the error says the same.
template <class Table>
const Table& opened(std::atomic<const Table*>& place, const Table* (*open)()) {
  const Table* table = place.load(std::memory_order_acquire);
  if (table != nullptr) return *table;
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  table = place.load(std::memory_order_acquire);
  if (table == nullptr) {
    table = open();
    place.store(table, std::memory_order_release);
  }
  return *table;
}

}  // namespace

const DriverTable& driver() { return opened(driver_in_place, open_driver); }
const NvrtcTable& nvrtc() { return opened(nvrtc_in_place, open_nvrtc); }
const BlasTable& blas() { return opened(blas_in_place, open_blas); }
const NvtxTable& nvtx() { return opened(nvtx_in_place, open_nvtx); }

void replace_tables(const Tables& tables) {
  driver_in_place = tables.driver;
  nvrtc_in_place = tables.nvrtc;
  blas_in_place = tables.blas;
  nvtx_in_place = tables.nvtx;
}

}  // namespace spruce::cuda
