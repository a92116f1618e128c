// SPDX-License-Identifier: Apache-2.0
#include "spruce/cuda/plan/host_step.h"

#include <string>

#include "spruce/core/error.h"

namespace spruce::cuda {
namespace {

// Kernels of the CPU take memory that is aligned to 64.
constexpr size_t kAlign = 64;

}  // namespace

HostCopies::HostCopies(Device& device, const KernelArgs& args)
    : device_(device), params_(args.params), to_(args.out) {
  avals_.reserve(args.in.size() + args.out.size());
  const auto copy = [&](const View& v) {
    Aval aval = *v.aval;
    aval.device = 0;
    avals_.push_back(aval);
    memory_.push_back(std::make_unique<char[]>(static_cast<size_t>(aval.bytes()) + kAlign));
    const auto start = reinterpret_cast<uintptr_t>(memory_.back().get());
    return View{reinterpret_cast<void*>((start + kAlign - 1) / kAlign * kAlign), &avals_.back()};
  };
  for (const View& v : args.in) {
    if (v.aval->device == 0) {
      in_.push_back(v);
      continue;
    }
    in_.push_back(copy(v));
    device.copy_to_host(in_.back().data, v.data, static_cast<size_t>(v.aval->bytes()));
  }
  for (const View& v : args.out) out_.push_back(copy(v));
}

void HostCopies::give_back() {
  for (size_t k = 0; k < out_.size(); ++k)
    device_.copy_from_host(to_[k].data, out_[k].data, static_cast<size_t>(to_[k].aval->bytes()));
}

void run_cpu_kernel(const Primitive& primitive, const KernelArgs& args) {
  if (primitive.cpu == nullptr) {
    throw DeviceError(std::string(primitive.name) +
                      ": has no kernel for CUDA devices and none for the CPU; it works only under "
                      "the transform that gives it a meaning");
  }
  primitive.cpu(args);
}

}  // namespace spruce::cuda
