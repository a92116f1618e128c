// SPDX-License-Identifier: Apache-2.0
// One GPU as the driver knows it: its context, the stream on which all work runs in order, and the
// kernels that are loaded there.
#pragma once

#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "spruce/cuda/driver/tables.h"

namespace spruce::cuda {

/// A kernel that can be launched.
struct LoadedKernel {
  CUfunction function = nullptr;
  int most_threads = 0;       ///< of a block: registers are for so many
  std::vector<size_t> sizes;  ///< bytes of its parameters
};

/// Enqueues a copy between two places of the device, which do not overlap, or are the same.
void copy_on_device(CUstream stream, void* to, const void* from, int64_t bytes);

class Context {
 public:
  /// Throws DeviceError where the driver has no such device.
  explicit Context(int ordinal);
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  int ordinal() const { return ordinal_; }
  CUdevice device() const { return device_; }
  CUstream stream() const { return stream_; }
  /// Another one, on which graphs are recorded and nothing runs.
  CUstream capture_stream() const { return capture_stream_; }
  /// 90 for compute capability 9.0.
  int architecture() const { return architecture_; }
  int multiprocessors() const { return multiprocessors_; }

  /// Makes the context that of this thread, if it is not; every call of the driver needs it.
  void enter() const;
  /// The kernel of that name in a text, which takes so many parameters, compiled and loaded when
  /// first asked for. Throws DeviceError.
  const LoadedKernel& kernel(const std::string& text, const std::string& name, size_t parameters);
  /// Compiles the texts that are not there yet, on several threads.
  void load(std::span<const std::string* const> texts);
  /// What is enqueued on `after` from now on runs when all that `before` holds now has run. Both
  /// are streams of this device, and neither is captured. The thread has entered the context.
  void order(CUstream before, CUstream after);
  /// Waits until all that was enqueued has run. Throws DeviceError where something failed.
  void wait(std::string_view what);
  /// Remembers the name of an operation that was enqueued, for the message of wait(). With
  /// SPRUCE_CUDA_SYNC=1 it waits.
  void enqueued(const char* operation);

 private:
  struct Module {
    CUmodule module = nullptr;
    std::unordered_map<std::string, LoadedKernel> kernels;
  };
  Module& module(const std::string& text);

  int ordinal_ = 0, architecture_ = 0, multiprocessors_ = 1;
  CUdevice device_ = 0;
  CUcontext context_ = nullptr;
  CUstream stream_ = nullptr, capture_stream_ = nullptr;
  std::mutex event_mutex_;
  CUevent event_ = nullptr;  // of order(): whoever waits for it knows where it was recorded
  std::mutex mutex_;         // of the modules
  std::unordered_map<std::string, std::unique_ptr<Module>> modules_;  // by text
  std::mutex names_mutex_;
  std::vector<const char*> names_;  // of operations since the last wait, a few
};

}  // namespace spruce::cuda
