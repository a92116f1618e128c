// SPDX-License-Identifier: Apache-2.0
// The driver of the emulator: one device per number, and one lock.
#include <array>
#include <cstdio>
#include <cstring>
#include <memory>
#include <mutex>
#include <random>
#include <utility>

#include "spruce/cuda/driver/tables.h"
#include "tests/cuda/emulator/blas.h"
#include "tests/cuda/emulator/compiler.h"
#include "tests/cuda/emulator/emulator.h"
#include "tests/cuda/emulator/memory.h"
#include "tests/cuda/emulator/nvtx.h"
#include "tests/cuda/emulator/stream.h"

struct CUfunc_st {
  spruce::cuda_emulator::HostFunction function;
};
struct CUmod_st {
  void* handle = nullptr;
  std::vector<std::unique_ptr<CUfunc_st>> functions;
};

namespace spruce::cuda_emulator {
namespace {

struct State {
  std::recursive_mutex mutex;
  DeviceMemory memory;
  CUresult lost = CUDA_SUCCESS;       // of a failed kernel, until the program ends
  CUresult fail_next = CUDA_SUCCESS;  // of the next kernel
  int version = CUDA_VERSION;
  int devices = 1;
  std::mt19937_64 random{1};
  Counts counts;
};

State& state() {
  static State* s = new State;
  return *s;
}

const void* pointer(CUdeviceptr p) { return reinterpret_cast<const void*>(p); }
void* writable(CUdeviceptr p) { return reinterpret_cast<void*>(p); }

CUresult run_kernel(const HostFunction& f, Size3 grid, Size3 block, unsigned shared,
                    std::vector<std::array<unsigned char, 16>> values) {
  State& s = state();
  ++s.counts.kernels;
  std::vector<void*> arguments;
  for (size_t i = 0; i < f.sizes.size(); ++i) {
    arguments.push_back(values[i].data());
    if (f.sizes[i] != 8) continue;
    void* p = nullptr;
    std::memcpy(&p, values[i].data(), 8);
    p = s.memory.open(p);
    std::memcpy(values[i].data(), &p, 8);
  }
  if (s.fail_next != CUDA_SUCCESS) {
    s.lost = std::exchange(s.fail_next, CUDA_SUCCESS);
    return CUDA_SUCCESS;
  }
  const std::string why = run_grid(f.kernel, grid, block, shared, arguments.data(), s.random());
  if (!why.empty()) {
    s.lost = why.find("memory") != std::string::npos ? CUDA_ERROR_ILLEGAL_ADDRESS
                                                     : CUDA_ERROR_LAUNCH_FAILED;
    std::fprintf(stderr, "emulator: the kernel %s failed: %s\n", f.name.c_str(), why.c_str());
  }
  return CUDA_SUCCESS;
}

CUresult init(unsigned) { return state().devices == 0 ? CUDA_ERROR_NO_DEVICE : CUDA_SUCCESS; }
CUresult driver_version(int* version) {
  *version = state().version;
  return CUDA_SUCCESS;
}

struct ErrorText {
  CUresult result;
  const char *name, *words;
};
constexpr ErrorText kErrors[] = {
    {CUDA_SUCCESS, "CUDA_SUCCESS", "no error"},
    {CUDA_ERROR_INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {CUDA_ERROR_OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {CUDA_ERROR_NO_DEVICE, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"},
    {CUDA_ERROR_INVALID_DEVICE, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"},
    {CUDA_ERROR_INVALID_IMAGE, "CUDA_ERROR_INVALID_IMAGE", "device kernel image is invalid"},
    {CUDA_ERROR_NOT_FOUND, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
    {CUDA_ERROR_ILLEGAL_ADDRESS, "CUDA_ERROR_ILLEGAL_ADDRESS",
     "an illegal memory access was encountered"},
    {CUDA_ERROR_ILLEGAL_INSTRUCTION, "CUDA_ERROR_ILLEGAL_INSTRUCTION",
     "an illegal instruction was encountered"},
    {CUDA_ERROR_CONTEXT_IS_DESTROYED, "CUDA_ERROR_CONTEXT_IS_DESTROYED", "context is destroyed"},
    {CUDA_ERROR_LAUNCH_FAILED, "CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure"},
};
const ErrorText& error_text(CUresult r) {
  for (const ErrorText& e : kErrors) {
    if (e.result == r) return e;
  }
  static constexpr ErrorText unknown = {CUDA_ERROR_UNKNOWN, "CUDA_ERROR_UNKNOWN", "unknown error"};
  return unknown;
}
CUresult error_name(CUresult r, const char** text) {
  *text = error_text(r).name;
  return CUDA_SUCCESS;
}
CUresult error_string(CUresult r, const char** text) {
  *text = error_text(r).words;
  return CUDA_SUCCESS;
}

CUresult device_count(int* n) {
  *n = state().devices;
  return CUDA_SUCCESS;
}
CUresult device_get(CUdevice* device, int i) {
  if (i < 0 || i >= state().devices) return CUDA_ERROR_INVALID_DEVICE;
  *device = i;
  return CUDA_SUCCESS;
}
CUresult device_name(char* name, int n, CUdevice) {
  std::snprintf(name, static_cast<size_t>(n), "emulated");
  return CUDA_SUCCESS;
}
CUresult attribute(int* value, CUdevice_attribute which, CUdevice) {
  switch (which) {
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
      *value = 9;
      break;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR:
      *value = 0;
      break;
    case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT:
      *value = 132;
      break;
    case CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED:
      *value = 1;
      break;
    default:
      *value = 0;
  }
  return CUDA_SUCCESS;
}
CUresult total_memory(size_t* bytes, CUdevice) {
  *bytes = state().memory.limit();
  return CUDA_SUCCESS;
}
CUresult retain(CUcontext* context, CUdevice device) {
  *context = reinterpret_cast<CUcontext>(static_cast<uintptr_t>(device) + 1);
  return CUDA_SUCCESS;
}
thread_local CUcontext current = nullptr;
CUresult get_current(CUcontext* context) {
  *context = current;
  return CUDA_SUCCESS;
}
CUresult set_current(CUcontext context) {
  current = context;
  return CUDA_SUCCESS;
}
CUresult memory_info(size_t* free, size_t* total) {
  const Lock lock(state().mutex);
  *total = state().memory.limit();
  *free = *total - std::min(*total, state().memory.used());
  return CUDA_SUCCESS;
}
CUresult allocate(CUdeviceptr* p, size_t bytes) {
  const Lock lock(state().mutex);
  if (state().lost != CUDA_SUCCESS) return state().lost;
  if (bytes == 0) return CUDA_ERROR_INVALID_VALUE;
  void* block = state().memory.allocate(bytes);
  if (block == nullptr) {  // what was given back on a stream may be there by now
    run_streams();
    block = state().memory.allocate(bytes);
  }
  if (block == nullptr) return CUDA_ERROR_OUT_OF_MEMORY;
  *p = reinterpret_cast<CUdeviceptr>(block);
  return CUDA_SUCCESS;
}
CUresult allocate_async(CUdeviceptr* p, size_t bytes, CUstream) { return allocate(p, bytes); }
CUresult release_now(CUdeviceptr p) {
  const std::string why = state().memory.release(writable(p));
  if (why.empty()) return CUDA_SUCCESS;
  std::fprintf(stderr, "emulator: %s\n", why.c_str());
  state().lost = CUDA_ERROR_ILLEGAL_ADDRESS;
  return CUDA_ERROR_INVALID_VALUE;
}
CUresult release(CUdeviceptr p) {
  const Lock lock(state().mutex);
  run_streams();
  return release_now(p);
}
CUresult release_async(CUdeviceptr p, CUstream stream) {
  const Lock lock(state().mutex);
  if (state().lost != CUDA_SUCCESS) return release_now(p);
  return enqueue_on(stream, {"release", [p] { return release_now(p); }});
}
CUresult pointer_attribute(void* value, CUpointer_attribute which, CUdeviceptr p) {
  const Lock lock(state().mutex);
  if (!state().memory.contains(pointer(p), 1)) return CUDA_ERROR_INVALID_VALUE;
  const unsigned answer =
      which == CU_POINTER_ATTRIBUTE_MEMORY_TYPE ? unsigned{CU_MEMORYTYPE_DEVICE} : 0;
  std::memcpy(value, &answer, sizeof answer);  // the ordinal of the device is 0
  return CUDA_SUCCESS;
}
CUresult allocate_host(void** p, size_t bytes) {
  *p = ::operator new(bytes);
  return CUDA_SUCCESS;
}
CUresult default_pool(CUmemoryPool* pool, CUdevice) {
  *pool = nullptr;
  return CUDA_SUCCESS;
}
CUresult pool_attribute(CUmemoryPool, CUmemPool_attribute, void*) { return CUDA_SUCCESS; }
CUresult pool_trim(CUmemoryPool, size_t) { return CUDA_SUCCESS; }

CUresult checked_copy(void* to, const void* from, size_t bytes, bool to_device, bool from_device) {
  State& s = state();
  if ((to_device && !s.memory.contains(to, bytes)) ||
      (from_device && !s.memory.contains(from, bytes)))
    return CUDA_ERROR_INVALID_VALUE;
  std::memcpy(to_device ? s.memory.open(to) : to, from_device ? s.memory.open(from) : from, bytes);
  return CUDA_SUCCESS;
}
CUresult to_device(CUdeviceptr to, const void* from, size_t bytes, CUstream stream) {
  ++state().counts.copies;
  return enqueue_on(
      stream, {"to_device", [=] { return checked_copy(writable(to), from, bytes, true, false); }});
}
CUresult to_host(void* to, CUdeviceptr from, size_t bytes, CUstream stream) {
  ++state().counts.copies;
  return enqueue_on(
      stream, {"to_host", [=] { return checked_copy(to, pointer(from), bytes, false, true); }});
}
CUresult within(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream) {
  return enqueue_on(stream, {"copy", [=] {
                               return checked_copy(writable(to), pointer(from), bytes, true, true);
                             }});
}
template <class T>
CUresult set(CUdeviceptr to, T value, size_t n, CUstream stream) {
  if (to % sizeof(T) != 0) return CUDA_ERROR_INVALID_VALUE;
  return enqueue_on(stream, {"set", [=] {
                               if (!state().memory.contains(pointer(to), n * sizeof(T)))
                                 return CUDA_ERROR_INVALID_VALUE;
                               std::fill_n(static_cast<T*>(state().memory.open(pointer(to))), n,
                                           value);
                               return CUDA_SUCCESS;
                             }});
}

CUresult load(CUmodule* module, const void* image) {
  const Lock lock(state().mutex);
  void* handle = open_module(image);
  if (handle == nullptr) return CUDA_ERROR_INVALID_IMAGE;
  *module = new CUmod_st{handle, {}};
  return CUDA_SUCCESS;
}
CUresult get_function(CUfunction* function, CUmodule module, const char* name) {
  const Lock lock(state().mutex);
  auto f = std::make_unique<CUfunc_st>();
  if (!find_function(module->handle, name, f->function)) return CUDA_ERROR_NOT_FOUND;
  *function = f.get();
  module->functions.push_back(std::move(f));
  return CUDA_SUCCESS;
}
CUresult unload(CUmodule module) {
  delete module;
  return CUDA_SUCCESS;
}
CUresult parameter(CUfunction function, size_t i, size_t* offset, size_t* bytes) {
  const std::vector<size_t>& sizes = function->function.sizes;
  if (i >= sizes.size()) return CUDA_ERROR_INVALID_VALUE;
  *bytes = sizes[i];
  *offset = 0;
  return CUDA_SUCCESS;
}
CUresult function_attribute(int* value, CUfunction_attribute which, CUfunction f) {
  switch (which) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
      *value = 1024;
      break;
    case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
      *value = static_cast<int>(f->function.kernel.shared_bytes);
      break;
    default:
      *value = 0;
  }
  return CUDA_SUCCESS;
}
CUresult set_function_attribute(CUfunction f, CUfunction_attribute which, int value) {
  if (which == CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES) {
    if (value < 0 || static_cast<size_t>(value) > kMostShared) return CUDA_ERROR_INVALID_VALUE;
    f->function.dynamic_limit = static_cast<size_t>(value);
  }
  return CUDA_SUCCESS;
}
CUresult launch(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                unsigned bz, unsigned shared, CUstream stream, void** parameters, void** extra) {
  const HostFunction& function = f->function;
  const bool grid = gx > 0 && gx <= 0x7fffffffu && gy > 0 && gy <= 65535 && gz > 0 && gz <= 65535;
  const bool block = bx > 0 && bx <= 1024 && by > 0 && by <= 1024 && bz > 0 && bz <= 64 &&
                     uint64_t{bx} * by * bz <= 1024;
  const size_t memory = shared + function.kernel.shared_bytes;
  const bool fits = memory <= std::max<size_t>(48 * 1024, function.dynamic_limit);
  if (!grid || !block || !fits || extra != nullptr || current == nullptr) {
    std::fprintf(
        stderr,
        "emulator: launch of %s outside of the limits: grid %u,%u,%u block %u,%u,%u shared %zu\n",
        function.name.c_str(), gx, gy, gz, bx, by, bz, memory);
    return CUDA_ERROR_INVALID_VALUE;
  }
  std::vector<std::array<unsigned char, 16>> values(function.sizes.size());
  for (size_t i = 0; i < values.size(); ++i)
    std::memcpy(values[i].data(), parameters[i], function.sizes[i]);
  return enqueue_on(stream,
                    {function.name, [=, &function] {
                       return run_kernel(function, {gx, gy, gz}, {bx, by, bz}, shared, values);
                     }});
}

const cuda::DriverTable& table() {
  static const cuda::DriverTable whole = [] {
    cuda::DriverTable t = {
        .cuInit = init,
        .cuDriverGetVersion = driver_version,
        .cuGetErrorName = error_name,
        .cuGetErrorString = error_string,
        .cuDeviceGetCount = device_count,
        .cuDeviceGet = device_get,
        .cuDeviceGetName = device_name,
        .cuDeviceGetAttribute = attribute,
        .cuDeviceTotalMem = total_memory,
        .cuDevicePrimaryCtxRetain = retain,
        .cuCtxGetCurrent = get_current,
        .cuCtxSetCurrent = set_current,
        .cuMemGetInfo = memory_info,
        .cuMemAllocAsync = allocate_async,
        .cuMemFreeAsync = release_async,
        .cuDeviceGetDefaultMemPool = default_pool,
        .cuMemPoolSetAttribute = pool_attribute,
        .cuMemPoolTrimTo = pool_trim,
        .cuMemAlloc = allocate,
        .cuMemFree = release,
        .cuMemAllocHost = allocate_host,
        .cuMemcpyHtoDAsync = to_device,
        .cuMemcpyDtoHAsync = to_host,
        .cuMemcpyDtoDAsync = within,
        .cuMemsetD8Async = set<unsigned char>,
        .cuMemsetD16Async = set<unsigned short>,
        .cuMemsetD32Async = set<unsigned>,
        .cuModuleLoadData = load,
        .cuModuleGetFunction = get_function,
        .cuModuleUnload = unload,
        .cuFuncGetParamInfo = parameter,
        .cuFuncGetAttribute = function_attribute,
        .cuFuncSetAttribute = set_function_attribute,
        .cuLaunchKernel = launch,
        .cuPointerGetAttribute = pointer_attribute,
    };
    add_streams(t);
    return t;
  }();
  return whole;
}

}  // namespace

std::recursive_mutex& driver_mutex() { return state().mutex; }
CUresult& lost() { return state().lost; }
DeviceMemory& device_memory() { return state().memory; }

void install() { cuda::replace_tables({&table(), &nvrtc_table(), &blas_table(), &nvtx_table()}); }

void set_seed(uint64_t seed) { state().random.seed(seed); }
void set_memory(size_t bytes) { state().memory.set_limit(bytes); }
size_t memory_in_use() {
  const Lock lock(state().mutex);
  run_streams();
  return state().memory.used();
}
void set_driver_version(int version) { state().version = version; }
void set_device_count(int count) { state().devices = count; }
void fail_next_kernel(int result) { state().fail_next = static_cast<CUresult>(result); }
void lose_context(int result) { state().lost = static_cast<CUresult>(result); }
bool set_lazy_streams(bool lazy) { return set_lazy(lazy); }
void forget_error() { state().lost = CUDA_SUCCESS; }

Counts counts() {
  const Lock lock(state().mutex);
  Counts c = state().counts;
  c.compiled = compiled_texts();
  add_counts(c);
  return c;
}

}  // namespace spruce::cuda_emulator
