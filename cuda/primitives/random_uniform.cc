// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/random/primitives.h"
#include "spruce/cuda/codegen/draws.h"

namespace spruce::cuda {
namespace {

// As the CPU's kernel, rounding for rounding: halves are made of fewer bits.
constexpr std::string_view kUniform = R"cuda(
namespace sp {
template <class T> struct Uniform {
  SP_MEMBER static T from(Words w, T low, T span) {
    if (low == T(0) && span == T(1)) return unit<T>(w);
    const T x = fused_multiply_add(unit<T>(w), span, low);
    return x < low ? low : x;
  }
};
template <> struct Uniform<f16> {
  SP_MEMBER static f16 from(Words w, f32 low, f32 span) {
    const f32 x = f32(((w.first ^ w.second) & 0xffffu) >> 6) * 0x1p-10f * span + low;
    return to_f16(x < low ? low : x);
  }
};
template <> struct Uniform<bf16> {
  SP_MEMBER static bf16 from(Words w, f32 low, f32 span) {
    const f32 unit = f32(((w.first ^ w.second) & 0xffu) >> 1) * 0x1p-7f;
    const f32 x = widen(to_bf16(unit * span)) + low;
    return to_bf16(x < low ? low : x);
  }
};
}  // namespace sp
)cuda";

// The constants of the range, rounded to the dtype.
template <class T, class C>
void declare_range(KernelBuilder& kernel, Dtype d, const RandomUniformParams& p) {
  const C low = static_cast<C>(static_cast<T>(static_cast<C>(p.low)));
  const C high = static_cast<C>(static_cast<T>(static_cast<C>(p.high)));
  kernel.number("low", d, static_cast<double>(low));
  kernel.number("span", d, static_cast<double>(static_cast<C>(static_cast<T>(high - low))));
}

Kernels make_random_uniform(const PrepareArgs& a) {
  Kernels out;
  const auto& p = a.params.get<RandomUniformParams>();
  const int64_t n = a.out[0]->numel();
  if (n == 0) return out;
  KernelBuilder kernel("random_uniform", a);
  kernel.front(special_prelude());
  kernel.front(random_prelude());
  kernel.front(kUniform);
  const std::string keys = kernel.input(0), y = kernel.output(0);
  visit_dtype(p.dtype, [&]<class T>(T) {
    if constexpr (kIsHalf<T>)
      declare_range<T, float>(kernel, p.dtype, p);
    else if constexpr (std::is_floating_point_v<T>)
      declare_range<T, T>(kernel, p.dtype, p);
  });
  out.steps.push_back(kernel.for_each(
      n, "    " + y + "[i] = sp::Uniform<" + std::string(text_type(p.dtype)) + ">::from(" +
             words_at(kernel, keys, n, p.shape.numel()) + ", low, span);\n"));
  return out;
}

}  // namespace

extern const Twin random_uniform_twin = {&random_uniform_p, make_random_uniform};

}  // namespace spruce::cuda
