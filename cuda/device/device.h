// SPDX-License-Identifier: Apache-2.0
// "cuda:0": the device of the core that is a GPU.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

#include "spruce/core/device.h"
#include "spruce/cuda/driver/context.h"
#include "spruce/cuda/memory/pool.h"
#include "spruce/cuda/memory/staging.h"
#include "spruce/cuda/plan/steps.h"

namespace spruce::cuda {

class CudaDevice final : public Device {
 public:
  /// Throws DeviceError where the driver has no such device.
  explicit CudaDevice(int ordinal);
  ~CudaDevice() override;

  std::string_view name() const override { return name_; }
  void* allocate(size_t bytes) override { return pool_.allocate(bytes); }
  void deallocate(void* data, size_t bytes) noexcept override { pool_.release(data, bytes); }
  void copy_from_host(void* device_data, const void* host_data, size_t bytes) override;
  void copy_to_host(void* host_data, const void* device_data, size_t bytes) override;
  void fill(void* device_data, const void* element, int64_t n, int64_t element_bytes) override;
  void run(const Primitive& primitive, const KernelArgs& args) override;
  std::unique_ptr<const Executable> compile(const Graph& graph) override;

  Context& context() { return context_; }
  int ordinal() const { return context_.ordinal(); }
  Pool& pool() { return pool_; }

  /// Memory that compiled functions work in: one block for all of them, since they run one after
  /// the other. Only one thread has it at a time.
  class Arena {
   public:
    Arena(CudaDevice& device, size_t bytes);
    ~Arena();
    Arena(const Arena&) = delete;
    Arena& operator=(const Arena&) = delete;
    void* data() const { return data_; }

   private:
    CudaDevice& device_;
    std::unique_lock<std::recursive_mutex> lock_;
    void* data_ = nullptr;
    size_t own_bytes_ = 0;  // of memory that is not the device's block
  };

 private:
  class EagerCache;

  std::string name_;
  Context context_;
  Pool pool_;
  Staging staging_;
  std::unique_ptr<EagerCache> eager_;
  std::recursive_mutex arena_mutex_;
  int arena_users_ = 0;  // of one thread, nested
  void* arena_ = nullptr;
  size_t arena_bytes_ = 0;
};

/// The device, which is one of CUDA. Throws DeviceError, naming `op`, for another.
CudaDevice& of_cuda(const Device& device, const char* op);

}  // namespace spruce::cuda
