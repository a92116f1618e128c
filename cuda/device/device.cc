// SPDX-License-Identifier: Apache-2.0
#include "spruce/cuda/device/device.h"

#include <cstring>
#include <memory>
#include <vector>

#include "spruce/core/array.h"
#include "spruce/core/error.h"
#include "spruce/core/interpreter.h"
#include "spruce/cuda/device/executable.h"
#include "spruce/cuda/device/host_step.h"
#include "spruce/cuda/driver/error.h"
#include "spruce/cuda/driver/ranges.h"

namespace spruce::cuda {
namespace {

size_t mix(size_t a, size_t b) { return a ^ (b + 0x9e3779b97f4a7c15u + (a << 6) + (a >> 2)); }

size_t hash_of(const Primitive& p, std::span<const View> in, std::span<const View> out) {
  size_t h = reinterpret_cast<size_t>(&p);
  for (const auto& views : {in, out}) {
    for (const View& v : views) {
      h = mix(h, static_cast<size_t>(v.aval->dtype) * 2 + (v.aval->device == 0 ? 1 : 0));
      for (int i = 0; i < v.aval->shape.rank(); ++i)
        h = mix(h, static_cast<size_t>(v.aval->shape[i]));
    }
  }
  return h;
}

bool same_type(const Aval& a, const Aval& b) {
  return a.dtype == b.dtype && a.device == b.device && a.shape == b.shape;
}

}  // namespace

// Steps of operations that ran before, by types and parameters.
class CudaDevice::EagerCache {
 public:
  // Null for a primitive without steps of its own.
  std::shared_ptr<const Steps> steps(const Primitive& p, const KernelArgs& args, Context& context) {
    const size_t h = hash_of(p, args.in, args.out);
    {
      const std::lock_guard lock(mutex_);
      const auto [first, last] = entries_.equal_range(h);
      for (auto i = first; i != last; ++i) {
        if (fits(i->second, p, args)) return i->second.steps;
      }
    }
    Entry made{&p, args.params, {}, {}, nullptr};
    for (const View& v : args.in) made.in.push_back(*v.aval);
    for (const View& v : args.out) made.out.push_back(*v.aval);
    std::vector<const Aval*> in, out;
    for (const Aval& a : made.in) in.push_back(&a);
    for (const Aval& a : made.out) out.push_back(&a);
    bool known = true;
    Kernels kernels = kernels_of(p, {in, out, args.params}, known);
    if (known) made.steps = std::make_shared<const Steps>(std::move(kernels), context, p.name);
    const std::lock_guard lock(mutex_);
    if (entries_.size() >= kMost) entries_.clear();
    return entries_.emplace(h, std::move(made))->second.steps;
  }

 private:
  static constexpr size_t kMost = 4096;
  struct Entry {
    const Primitive* primitive;
    Params params;
    std::vector<Aval> in, out;
    std::shared_ptr<const Steps> steps;
  };
  static bool fits(const Entry& e, const Primitive& p, const KernelArgs& args) {
    if (e.primitive != &p || e.in.size() != args.in.size() || e.out.size() != args.out.size())
      return false;
    for (size_t i = 0; i < e.in.size(); ++i) {
      if (!same_type(e.in[i], *args.in[i].aval)) return false;
    }
    for (size_t k = 0; k < e.out.size(); ++k) {
      if (!same_type(e.out[k], *args.out[k].aval)) return false;
    }
    return e.params == args.params;
  }

  std::mutex mutex_;
  std::unordered_multimap<size_t, Entry> entries_;
};

CudaDevice::CudaDevice(int ordinal)
    : name_("cuda:" + std::to_string(ordinal)),
      context_(ordinal),
      pool_(context_),
      staging_(context_),
      eager_(std::make_unique<EagerCache>()) {
  if (ranges_wanted()) nvtx();
}

CudaDevice::~CudaDevice() = default;

void CudaDevice::copy_from_host(void* device_data, const void* host_data, size_t bytes) {
  if (bytes == 0) return;
  context_.enter();
  staging_.upload(device_address(device_data), host_data, bytes);
}

void CudaDevice::copy_to_host(void* host_data, const void* device_data, size_t bytes) {
  if (bytes == 0) return;
  context_.enter();
  const CUresult result =
      driver().cuMemcpyDtoHAsync(host_data, device_address(device_data), bytes, context_.stream());
  if (!is_lost(result)) check(result, "copying " + std::to_string(bytes) + " bytes from " + name_);
  context_.wait("copying from " + name_);  // of a lost device it knows which operations ran
}

void CudaDevice::fill(void* device_data, const void* element, int64_t n, int64_t element_bytes) {
  if (n == 0) return;
  context_.enter();
  const auto count = static_cast<size_t>(n);
  const CUdeviceptr to = device_address(device_data);
  const auto value = [&]<class T>(T v) {
    std::memcpy(&v, element, sizeof v);
    return v;
  };
  CUresult result = CUDA_SUCCESS;
  if (element_bytes == 1) {
    result = driver().cuMemsetD8Async(to, value(uint8_t{}), count, context_.stream());
  } else if (element_bytes == 2) {
    result = driver().cuMemsetD16Async(to, value(uint16_t{}), count, context_.stream());
  } else if (element_bytes == 4) {
    result = driver().cuMemsetD32Async(to, value(uint32_t{}), count, context_.stream());
  } else if (const auto bits = value(uint64_t{}); (bits >> 32) == (bits & 0xffffffffu)) {
    result =
        driver().cuMemsetD32Async(to, static_cast<uint32_t>(bits), 2 * count, context_.stream());
  } else {
    return Device::fill(device_data, element, n, element_bytes);
  }
  check(result, "filling on " + name_);
  context_.enqueued("fill");
}

namespace {

// Memory of the pool for the length of a call. Others may have it as soon as the work is enqueued:
// theirs comes after it.
class Lent {
 public:
  Lent(Pool& pool, size_t bytes)
      : pool_(pool), bytes_(bytes), data_(bytes > 0 ? pool.allocate(bytes) : nullptr) {}
  ~Lent() {
    if (data_ != nullptr) pool_.release(data_, bytes_);
  }
  Lent(const Lent&) = delete;
  Lent& operator=(const Lent&) = delete;
  void* data() const { return data_; }

 private:
  Pool& pool_;
  size_t bytes_;
  void* data_;
};

}  // namespace

void CudaDevice::run(const Primitive& primitive, const KernelArgs& args) {
  const Range range(primitive.name);
  context_.enter();
  const std::shared_ptr<const Steps> steps = eager_->steps(primitive, args, context_);
  if (steps == nullptr) return run_without_kernels(primitive, args, *this);
  const size_t n = args.in.size();
  constexpr size_t kNumber = 16;  // bytes for one that has to be in memory
  size_t numbers = 0;
  for (size_t i = 0; i < n; ++i) {
    if (is_host_number(*args.in[i].aval) && steps->reads_memory(i)) ++numbers;
  }
  const auto workspace_bytes = (static_cast<size_t>(steps->workspace_bytes()) + 255) / 256 * 256;
  const Lent lent(pool_, workspace_bytes + numbers * kNumber);
  char* next_number = static_cast<char*>(lent.data()) + workspace_bytes;
  std::vector<void*> in(n), out;
  std::vector<const void*> host_in(n);
  for (size_t i = 0; i < n; ++i) {
    const View& v = args.in[i];
    in[i] = v.data;
    if (!is_host_number(*v.aval)) continue;
    host_in[i] = v.data;
    if (!steps->reads_memory(i)) continue;
    copy_from_host(next_number, v.data, static_cast<size_t>(v.aval->bytes()));
    in[i] = next_number;
    next_number += kNumber;
  }
  for (const View& v : args.out) out.push_back(v.data);
  steps->enqueue(context_.stream(), {in, host_in, out, lent.data()});
  context_.enqueued(primitive.name);
}

CudaDevice::Arena::Arena(CudaDevice& device, size_t bytes)
    : device_(device), lock_(device.arena_mutex_) {
  // A function that the host calls while another one runs has memory of its own.
  if (device.arena_users_ > 0) {
    data_ = bytes > 0 ? device.pool_.allocate(bytes) : nullptr;
    own_bytes_ = bytes;
  } else if (bytes > device.arena_bytes_) {
    if (device.arena_ != nullptr) device.pool_.release(device.arena_, device.arena_bytes_);
    device.arena_ = nullptr;
    device.arena_bytes_ = 0;
    device.arena_ = device.pool_.allocate(bytes);
    device.arena_bytes_ = bytes;
    data_ = device.arena_;
  } else {
    data_ = device.arena_;
  }
  ++device.arena_users_;
}

CudaDevice::Arena::~Arena() {
  --device_.arena_users_;
  if (own_bytes_ > 0) device_.pool_.release(data_, own_bytes_);
}

std::unique_ptr<const Executable> CudaDevice::compile(const Graph& graph) {
  context_.enter();
  return make_executable(graph, *this);
}

}  // namespace spruce::cuda
