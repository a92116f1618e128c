// SPDX-License-Identifier: Apache-2.0
#include "spruce/cuda/device/host_step.h"

#include <memory>
#include <string>
#include <vector>

#include "spruce/core/array.h"
#include "spruce/core/default_device.h"
#include "spruce/core/error.h"
#include "spruce/core/interpreter.h"
#include "spruce/cuda/device/device.h"
#include "spruce/cuda/driver/error.h"

namespace spruce::cuda {
namespace {

constexpr size_t kAlign = 64;  // of what kernels of the CPU work on

// Copies of an operation's inputs on the host, and memory for its outputs.
class HostCopies {
 public:
  HostCopies(CudaDevice& device, const KernelArgs& args)
      : device_(device), params_(args.params), to_(args.out) {
    avals_.reserve(args.in.size() + args.out.size());
    for (const View& v : args.in) {
      if (is_host_number(*v.aval)) {
        in_.push_back(v);
        continue;
      }
      in_.push_back(memory(v));
      device.copy_to_host(in_.back().data, v.data, static_cast<size_t>(v.aval->bytes()));
    }
    for (const View& v : args.out) out_.push_back(memory(v));
  }
  KernelArgs args() const { return {in_, out_, params_}; }
  void give_back() {
    for (size_t k = 0; k < out_.size(); ++k) {
      device_.copy_from_host(to_[k].data, out_[k].data, static_cast<size_t>(to_[k].aval->bytes()));
    }
  }

 private:
  View memory(const View& like) {
    Aval aval = *like.aval;
    aval.device = 0;
    avals_.push_back(aval);
    memory_.push_back(std::make_unique<char[]>(static_cast<size_t>(aval.bytes()) + kAlign));
    const auto start = reinterpret_cast<uintptr_t>(memory_.back().get());
    return {reinterpret_cast<void*>((start + kAlign - 1) / kAlign * kAlign), &avals_.back()};
  }

  CudaDevice& device_;
  const Params& params_;
  std::span<const View> to_;
  std::vector<std::unique_ptr<char[]>> memory_;
  std::vector<Aval> avals_;
  std::vector<View> in_, out_;
};

// Operations on arrays, which own their memory: copies of what is given.
void run_composite(std::vector<Array> (*f)(std::span<const Array>, const Params&),
                   const KernelArgs& args, CudaDevice& device) {
  const auto copy = [&](void* to, const void* from, int64_t bytes) {
    device.context().enter();
    copy_on_device(device.context().stream(), to, from, bytes);
  };
  std::vector<Array> in;
  for (const View& v : args.in) {
    if (is_host_number(*v.aval)) {
      in.push_back(internal::make_array(*v.aval, v.data));
      continue;
    }
    in.push_back(internal::make_array(*v.aval));
    copy(internal::mutable_data(in.back()), v.data, v.aval->bytes());
  }
  const InterpreterScope outside(nullptr);
  const DefaultDevice here(device);
  const std::vector<Array> out = f(in, args.params);
  for (size_t k = 0; k < out.size(); ++k) {
    const Array& x = out[k];
    if (x.aval().device == 0)
      device.copy_from_host(args.out[k].data, internal::mutable_data(x),
                            static_cast<size_t>(x.nbytes()));
    else
      copy(args.out[k].data, internal::mutable_data(x), x.nbytes());
  }
}

}  // namespace

void run_without_kernels(const Primitive& p, const KernelArgs& args, CudaDevice& device) {
  if (p.call != nullptr) return run_composite(p.call, args, device);
  if (p.expand != nullptr) return run_composite(p.expand, args, device);
  if (p.cpu == nullptr) {
    throw DeviceError(std::string(p.name) +
                      ": has no kernel for CUDA devices and none for the CPU; it works only under "
                      "the transform that gives it a meaning");
  }
  HostCopies copies(device, args);
  p.cpu(copies.args());
  copies.give_back();
}

}  // namespace spruce::cuda
