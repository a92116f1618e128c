// SPDX-License-Identifier: Apache-2.0
#include "spruce/cuda/plan/steps.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>

#include "spruce/core/error.h"
#include "spruce/cuda/driver/error.h"
#include "spruce/cuda/products/epilogue.h"

namespace spruce::cuda {
namespace {

char* address(const Argument& a, const Steps::Memory& m) {
  switch (a.kind) {
    case Argument::Kind::kInput:
      return static_cast<char*>(m.in[a.index]) + a.byte_offset;
    case Argument::Kind::kOutput:
      return static_cast<char*>(m.out[a.index]) + a.byte_offset;
    default:
      return static_cast<char*>(m.workspace) + a.byte_offset;
  }
}

bool is_empty(const Dim3& d) { return d.x <= 0 || d.y <= 0 || d.z <= 0; }

void check_limits(const Launch& l, const char* operation) {
  const bool grid = l.grid.x <= INT32_MAX && l.grid.y <= 65535 && l.grid.z <= 65535;
  const bool block = l.block.x <= 1024 && l.block.y <= 1024 && l.block.z <= 64 &&
                     l.block.x * l.block.y * l.block.z <= 1024;
  if (grid && block && l.shared_bytes >= 0 && l.shared_bytes <= 48 * 1024) return;
  const auto text = [](const Dim3& d) {
    return std::to_string(d.x) + "x" + std::to_string(d.y) + "x" + std::to_string(d.z);
  };
  throw DeviceError(std::string(operation) + ": its kernel " + l.name + " asks for " +
                    text(l.grid) + " blocks of " + text(l.block) + " threads and " +
                    std::to_string(l.shared_bytes) +
                    " bytes of shared memory, which a CUDA device does not have; the arrays are "
                    "too large for it");
}

}  // namespace

Steps::Steps(Kernels kernels, Context& context, const char* operation)
    : kernels_(std::move(kernels)), operation_(operation) {
  for (const Step& step : kernels_.steps) {
    const auto* launch = std::get_if<Launch>(&step);
    if (launch == nullptr) continue;
    if (is_empty(launch->grid)) {
      loaded_.push_back(nullptr);
      continue;
    }
    check_limits(*launch, operation);
    const LoadedKernel& kernel =
        context.kernel(launch->text, launch->name, launch->arguments.size());
    bool fits = kernel.sizes.size() == launch->arguments.size();
    for (size_t i = 0; fits && i < kernel.sizes.size(); ++i) {
      const Argument& a = launch->arguments[i];
      fits = a.kind == Argument::Kind::kHostInput ||
             kernel.sizes[i] == (a.kind == Argument::Kind::kValue ? a.bytes : sizeof(void*));
    }
    if (!fits) {
      throw DeviceError(std::string(operation) + ": the arguments for its kernel " + launch->name +
                        " are not those that it takes; this is an error of the library, please "
                        "report it");
    }
    const int64_t threads = launch->block.x * launch->block.y * launch->block.z;
    if (threads > kernel.most_threads) {
      throw DeviceError(std::string(operation) + ": its kernel " + launch->name +
                        " has blocks of " + std::to_string(threads) +
                        " threads, and this device has registers for " +
                        std::to_string(kernel.most_threads) +
                        "; this is an error of the library, please report it");
    }
    loaded_.push_back(&kernel);
  }
}

bool Steps::reads_memory(size_t i) const {
  const auto reads = [&](const Argument& a) {
    return a.kind == Argument::Kind::kInput && a.index == i;
  };
  for (const Step& step : kernels_.steps) {
    if (const auto* l = std::get_if<Launch>(&step)) {
      if (std::any_of(l->arguments.begin(), l->arguments.end(), reads)) return true;
    } else if (const auto* call = std::get_if<Call>(&step)) {
      if (std::any_of(call->arguments.begin(), call->arguments.end(), reads)) return true;
    } else if (const auto* copy = std::get_if<Copy>(&step)) {
      if (reads(copy->from)) return true;
    }
  }
  return false;
}

void Steps::launch(CUstream stream, const Launch& l, const LoadedKernel& kernel,
                   const Memory& memory) const {
  const size_t n = l.arguments.size();
  constexpr size_t kInline = 24;
  std::array<void*, kInline> few_values, few_places;
  std::vector<void*> many;
  void** values = few_values.data();
  void** places = few_places.data();
  if (n > kInline) {
    many.resize(2 * n);
    values = many.data();
    places = values + n;
  }
  for (size_t i = 0; i < n; ++i) {
    const Argument& a = l.arguments[i];
    switch (a.kind) {
      case Argument::Kind::kValue:
        places[i] = const_cast<std::byte*>(a.value.data());
        break;
      case Argument::Kind::kHostInput:
        places[i] = const_cast<void*>(memory.host_in[a.index]);
        break;
      default:
        values[i] = address(a, memory);
        places[i] = &values[i];
    }
  }
  const auto size = [](int64_t v) { return static_cast<unsigned>(v); };
  check(driver().cuLaunchKernel(kernel.function, size(l.grid.x), size(l.grid.y), size(l.grid.z),
                                size(l.block.x), size(l.block.y), size(l.block.z),
                                size(l.shared_bytes), stream, places, nullptr),
        std::string(operation_) + ": launching " + l.name);
}

void Steps::enqueue(CUstream stream, const Memory& memory) const {
  size_t launches = 0;
  for (const Step& step : kernels_.steps) {
    if (const auto* l = std::get_if<Launch>(&step)) {
      const LoadedKernel* kernel = loaded_[launches++];
      if (kernel != nullptr) launch(stream, *l, *kernel, memory);
    } else if (const auto* call = std::get_if<Call>(&step)) {
      std::vector<void*> addresses;
      for (const Argument& a : call->arguments) addresses.push_back(address(a, memory));
      call->library->enqueue(stream, addresses);
    } else if (const auto* copy = std::get_if<Copy>(&step)) {
      copy_on_device(stream, address(copy->to, memory), address(copy->from, memory), copy->bytes);
    } else {
      const Fill& fill = std::get<Fill>(step);
      if (fill.bytes == 0) continue;
      check(driver().cuMemsetD8Async(device_address(address(fill.to, memory)), fill.byte,
                                     static_cast<size_t>(fill.bytes), stream),
            std::string(operation_) + ": filling");
    }
  }
}

Kernels kernels_of(const Primitive& primitive, const PrepareArgs& args, bool& known) {
  known = true;
  if (&primitive == &product_end_p) {
    std::optional<Kernels> kernels = product_end_kernels(args);
    known = kernels.has_value();
    return known ? *std::move(kernels) : Kernels{};
  }
  if (const Twin* twin = find_twin(primitive)) return twin->make(args);
  return generate(primitive, args, known);
}

}  // namespace spruce::cuda
