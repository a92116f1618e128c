// SPDX-License-Identifier: Apache-2.0
#include "spruce/cuda/driver/context.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <thread>

#include "spruce/core/environment.h"
#include "spruce/core/error.h"
#include "spruce/cuda/driver/compile.h"
#include "spruce/cuda/driver/error.h"

namespace spruce::cuda {
namespace {

constexpr size_t kNames = 16;

bool waits_always() {
  static const bool on = internal::environment("SPRUCE_CUDA_SYNC", {"0", "1"}) == "1";
  return on;
}

int attribute(CUdevice device, CUdevice_attribute which) {
  int value = 0;
  check(driver().cuDeviceGetAttribute(&value, which, device), "cuDeviceGetAttribute");
  return value;
}

}  // namespace

Context::Context(int ordinal) : ordinal_(ordinal) {
  const DriverTable& d = driver();
  check(d.cuDeviceGet(&device_, ordinal), "cuDeviceGet(" + std::to_string(ordinal) + ")");
  architecture_ = attribute(device_, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) * 10 +
                  attribute(device_, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
  multiprocessors_ = std::max(1, attribute(device_, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT));
  check(d.cuDevicePrimaryCtxRetain(&context_, device_), "cuDevicePrimaryCtxRetain");
  enter();
  check(d.cuStreamCreate(&stream_, CU_STREAM_NON_BLOCKING), "cuStreamCreate");
  check(d.cuStreamCreate(&capture_stream_, CU_STREAM_NON_BLOCKING), "cuStreamCreate");
}

void Context::enter() const {
  CUcontext current = nullptr;
  driver().cuCtxGetCurrent(&current);
  if (current != context_) check(driver().cuCtxSetCurrent(context_), "cuCtxSetCurrent");
}

Context::Module& Context::module(const std::string& text) {
  {
    const std::lock_guard lock(mutex_);
    const auto found = modules_.find(text);
    if (found != modules_.end()) return *found->second;
  }
  const std::string binary = compile(text, architecture_);
  enter();
  auto made = std::make_unique<Module>();
  check(driver().cuModuleLoadData(&made->module, binary.data()), "cuModuleLoadData");
  const std::lock_guard lock(mutex_);
  const auto [place, added] = modules_.try_emplace(text, std::move(made));
  if (!added) driver().cuModuleUnload(made->module);  // another thread was first
  return *place->second;
}

const LoadedKernel& Context::kernel(const std::string& text, const std::string& name,
                                    size_t parameters) {
  Module& m = module(text);
  const std::lock_guard lock(mutex_);
  const auto found = m.kernels.find(name);
  if (found != m.kernels.end()) return found->second;
  enter();
  LoadedKernel k;
  check(driver().cuModuleGetFunction(&k.function, m.module, name.c_str()),
        "cuModuleGetFunction(" + name + ")");
  check(driver().cuFuncGetAttribute(&k.most_threads, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK,
                                    k.function),
        "cuFuncGetAttribute(" + name + ")");
  size_t offset = 0, bytes = 0;
  // Not one more than there are: compute-sanitizer reports calls that fail.
  while (k.sizes.size() < parameters &&
         driver().cuFuncGetParamInfo(k.function, k.sizes.size(), &offset, &bytes) == CUDA_SUCCESS)
    k.sizes.push_back(bytes);
  return m.kernels.emplace(name, std::move(k)).first->second;
}

void Context::load(std::span<const std::string* const> texts) {
  std::vector<const std::string*> missing;
  {
    const std::lock_guard lock(mutex_);
    for (const std::string* text : texts) {
      const auto same = [&](const std::string* other) { return *other == *text; };
      if (!modules_.contains(*text) && std::none_of(missing.begin(), missing.end(), same))
        missing.push_back(text);
    }
  }
  const size_t most = std::max(1u, std::thread::hardware_concurrency());
  const size_t workers = std::min(most, missing.size());
  if (workers <= 1) {
    for (const std::string* text : missing) module(*text);
    return;
  }
  std::atomic<size_t> next{0};
  std::exception_ptr failed;
  std::mutex failed_mutex;
  const auto work = [&] {
    for (size_t i = next++; i < missing.size(); i = next++) {
      try {
        module(*missing[i]);
      } catch (...) {
        const std::lock_guard lock(failed_mutex);
        if (failed == nullptr) failed = std::current_exception();
      }
    }
  };
  std::vector<std::thread> threads;
  for (size_t i = 1; i < workers; ++i) threads.emplace_back(work);
  work();
  for (std::thread& t : threads) t.join();
  if (failed != nullptr) std::rethrow_exception(failed);
}

void Context::enqueued(const char* operation) {
  {
    const std::lock_guard lock(names_mutex_);
    if (names_.empty() || names_.back() != operation) {
      if (names_.size() == kNames) names_.erase(names_.begin());
      names_.push_back(operation);
    }
  }
  if (waits_always()) wait(operation);
}

void copy_on_device(CUstream stream, void* to, const void* from, int64_t bytes) {
  if (bytes == 0 || to == from) return;
  check(driver().cuMemcpyDtoDAsync(device_address(to), device_address(from),
                                   static_cast<size_t>(bytes), stream),
        "copying on the device");
}

void Context::order(CUstream before, CUstream after) {
  const DriverTable& d = driver();
  const std::lock_guard lock(event_mutex_);
  if (event_ == nullptr) check(d.cuEventCreate(&event_, CU_EVENT_DISABLE_TIMING), "cuEventCreate");
  check(d.cuEventRecord(event_, before), "cuEventRecord");
  check(d.cuStreamWaitEvent(after, event_, CU_EVENT_WAIT_DEFAULT), "cuStreamWaitEvent");
}

void Context::wait(std::string_view what) {
  enter();
  const CUresult result = driver().cuStreamSynchronize(stream_);
  std::vector<const char*> names;
  {
    const std::lock_guard lock(names_mutex_);
    if (result == CUDA_SUCCESS)
      names_.clear();
    else
      names = names_;  // they stay: all later waits fail for the same reason
  }
  if (result == CUDA_SUCCESS) return;
  std::string among;
  for (const char* name : names) among += (among.empty() ? "" : ", ") + std::string(name);
  check(result, std::string(what) + ": an operation on cuda:" + std::to_string(ordinal_) +
                    " failed" + (among.empty() ? "" : ", one of " + among));
}

}  // namespace spruce::cuda
