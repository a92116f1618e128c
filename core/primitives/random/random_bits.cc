// SPDX-License-Identifier: Apache-2.0
// Random bits of a key: the counter of an element is its place in the array, as in JAX's
// partitionable threefry.
#include "spruce/core/cpu/random/threefry.h"
#include "spruce/core/random/primitives.h"
#include "spruce/core/rules/cost.h"
#include "spruce/core/rules/elementwise.h"
#include "spruce/core/rules/random.h"

namespace spruce {
namespace {

template <class T>
struct Fold {
  SPRUCE_INLINE T operator()(uint32_t a, uint32_t b) const {
    if constexpr (sizeof(T) == 8)
      return static_cast<T>(a) << 32 | b;
    else
      return static_cast<T>(a ^ b);
  }
};

Aval random_bits_shape(const ShapeArgs& a) {
  const auto& params = a.params.get<RandomBitsParams>();
  Shape shape = rules::key_batch(a);
  for (const int64_t size : params.shape) shape.push_back(size);
  check_shape(a.op, shape);
  switch (params.width) {
    case 8:
      return Aval{Dtype::kUint8, false, shape};
    case 16:
      return Aval{Dtype::kUint16, false, shape};
    case 32:
      return Aval{Dtype::kUint32, false, shape};
    case 64:
      return Aval{Dtype::kUint64, false, shape};
  }
  throw ValueError(std::string(a.op) + ": width " + std::to_string(params.width) +
                   " is none of 8, 16, 32 and 64");
}

void random_bits_kernel(const KernelArgs& args) {
  const int64_t per_key = args.params.get<RandomBitsParams>().shape.numel();
  switch (size_of(args.out[0].dtype())) {
    case 1:
      return cpu::fill_from_counters<uint8_t>(args, per_key, Fold<uint8_t>());
    case 2:
      return cpu::fill_from_counters<uint16_t>(args, per_key, Fold<uint16_t>());
    case 4:
      return cpu::fill_from_counters<uint32_t>(args, per_key, Fold<uint32_t>());
    default:
      return cpu::fill_from_counters<uint64_t>(args, per_key, Fold<uint64_t>());
  }
}

std::vector<Sample> random_bits_samples() {
  std::vector<Sample> samples;
  for (const int64_t width : {8, 16, 32, 64}) {
    for (const Shape& shape : {Shape{}, Shape{3}, Shape{2, 3}, Shape{0, 2}}) {
      samples.push_back(
          {{rules::key_sample({})}, Params::make(RandomBitsParams{width, shape}), true});
    }
    samples.push_back(
        {{rules::key_sample({2, 2})}, Params::make(RandomBitsParams{width, {3}}), true});
    samples.push_back({{rules::key_sample({0})}, Params::make(RandomBitsParams{width, {3}}), true});
  }
  return samples;
}

}  // namespace

extern constinit const Primitive random_bits_p = {
    .name = "random_bits",
    .shape = random_bits_shape,
    .cpu = random_bits_kernel,
    .jvp = rules::jvp_zero,
    .batch = rules::batch_keys,
    .samples = random_bits_samples,
    .params = kParamsOf<RandomBitsParams>,
    .flops = rules::flops_per_output<40>,
};

}  // namespace spruce
