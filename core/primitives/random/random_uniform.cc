// SPDX-License-Identifier: Apache-2.0
// Uniform numbers in [low, high) from the bits of a key: the upper bits become the mantissa of a
// number in [1, 2), which is moved to the range with one rounding (two for bf16), as JAX does.
#include <cmath>

#include "spruce/core/cpu/random/threefry.h"
#include "spruce/core/random/primitives.h"
#include "spruce/core/rules/cost.h"
#include "spruce/core/rules/elementwise.h"
#include "spruce/core/rules/random.h"

namespace spruce {
namespace {

// The constants of a range, rounded to the dtype T and held in C, which computes. `unit` is [0, 1),
// for which there is nothing to move.
template <class T, class C>
struct Range {
  explicit Range(const RandomUniformParams& p)
      : low(static_cast<T>(static_cast<C>(p.low))),
        span(static_cast<T>(static_cast<C>(static_cast<T>(static_cast<C>(p.high))) - low)) {}

  C low;
  C span;
  bool unit() const { return low == 0 && span == 1; }
};

struct Unit32 {
  SPRUCE_INLINE float operator()(uint32_t a, uint32_t b) const { return cpu::unit<float>(a, b); }
};

struct Unit64 {
  SPRUCE_INLINE double operator()(uint32_t a, uint32_t b) const { return cpu::unit<double>(a, b); }
};

struct In32 {
  Range<float, float> range;
  SPRUCE_INLINE float operator()(uint32_t a, uint32_t b) const {
    const float x = __builtin_fmaf(cpu::unit<float>(a, b), range.span, range.low);
    return x < range.low ? range.low : x;
  }
};

struct In64 {
  Range<double, double> range;
  SPRUCE_INLINE double operator()(uint32_t a, uint32_t b) const {
    const double x = __builtin_fma(cpu::unit<double>(a, b), range.span, range.low);
    return x < range.low ? range.low : x;
  }
};

// 16 bits of which the upper 10 are the mantissa.
struct InHalf {
  Range<Float16, float> range;
  SPRUCE_INLINE Float16 operator()(uint32_t a, uint32_t b) const {
    const float unit = static_cast<float>(((a ^ b) & 0xffffu) >> 6) * 0x1p-10f;
    const float x = unit * range.span + range.low;
    return Float16(x < range.low ? range.low : x);
  }
};

// 8 bits of which the upper 7 are the mantissa.
struct InBrain {
  Range<Bfloat16, float> range;
  SPRUCE_INLINE Bfloat16 operator()(uint32_t a, uint32_t b) const {
    const float unit = static_cast<float>(((a ^ b) & 0xffu) >> 1) * 0x1p-7f;
    const float x = static_cast<float>(Bfloat16(unit * range.span)) + range.low;
    return Bfloat16(x < range.low ? range.low : x);
  }
};

Aval random_uniform_shape(const ShapeArgs& a) {
  const auto& params = a.params.get<RandomUniformParams>();
  Shape shape = rules::key_batch(a);
  for (const int64_t size : params.shape) shape.push_back(size);
  check_shape(a.op, shape);
  if (!is_floating(params.dtype)) {
    throw DtypeError(std::string(a.op) + ": makes floating dtypes, not " +
                     std::string(name(params.dtype)) + "; use randint or bits");
  }
  return Aval{params.dtype, false, shape};
}

void random_uniform_kernel(const KernelArgs& args) {
  const auto& p = args.params.get<RandomUniformParams>();
  const int64_t per_key = p.shape.numel();
  switch (p.dtype) {
    case Dtype::kFloat16:
      return cpu::fill_from_counters<Float16>(args, per_key, InHalf{Range<Float16, float>(p)});
    case Dtype::kBfloat16:
      return cpu::fill_from_counters<Bfloat16>(args, per_key, InBrain{Range<Bfloat16, float>(p)});
    case Dtype::kFloat32: {
      const Range<float, float> range(p);
      if (range.unit()) return cpu::fill_from_counters<float>(args, per_key, Unit32());
      return cpu::fill_from_counters<float>(args, per_key, In32{range});
    }
    default: {
      const Range<double, double> range(p);
      if (range.unit()) return cpu::fill_from_counters<double>(args, per_key, Unit64());
      return cpu::fill_from_counters<double>(args, per_key, In64{range});
    }
  }
}

std::vector<Sample> random_uniform_samples() {
  std::vector<Sample> samples;
  const auto add = [&](const Shape& batch, Dtype dtype, double low, double high,
                       const Shape& shape) {
    samples.push_back({{rules::key_sample(batch)},
                       Params::make(RandomUniformParams{dtype, high, low, shape}),
                       true});
  };
  for (const Dtype dtype : {float16, bfloat16, float32, float64}) {
    add({}, dtype, 0, 1, {});
    add({}, dtype, -2.5, 3, {2, 3});
    add({2}, dtype, 0, 1, {3});
    add({2, 2}, dtype, 1, 2, {});
    add({0}, dtype, 0, 1, {2});
    add({}, dtype, 0, 1, {3, 0});
  }
  return samples;
}

}  // namespace

extern constinit const Primitive random_uniform_p = {
    .name = "random_uniform",
    .shape = random_uniform_shape,
    .cpu = random_uniform_kernel,
    .jvp = rules::jvp_zero,
    .batch = rules::batch_keys,
    .samples = random_uniform_samples,
    .params = kParamsOf<RandomUniformParams>,
    .flops = rules::flops_per_output<42>,
};

}  // namespace spruce
