// SPDX-License-Identifier: Apache-2.0
// 1 where an index is within an axis, NaN elsewhere: a factor for what is made of indices whose
// values are not known when the function is traced. Where results are checked for NaN, an index out
// of range is the error that a known one is.
#include "spruce/core/rules/nan_outside.h"

#include <limits>

#include "spruce/core/debug.h"
#include "spruce/core/ops/math.h"
#include "spruce/core/ops/shape.h"
#include "spruce/core/rules/elementwise.h"

namespace spruce {
namespace rules {

void throw_outside(const NanOutsideParams& p, const std::string& index) {
  throw IndexError(p.op + ": " + p.holds + " " + index + ", " + p.range);
}

Array is_within(const Array& index, int64_t n) {
  const auto number = [&](int64_t i) { return astype(Array(i), index.dtype()); };
  return (index >= number(0)) & (index < number(n));
}

}  // namespace rules

namespace {

Aval nan_outside_shape(const ShapeArgs& a) {
  const auto& p = a.params.get<NanOutsideParams>();
  const Dtype index = a.in[0]->dtype;
  if ((index != Dtype::kInt32 && index != Dtype::kInt64) || !is_floating(p.dtype))
    throw DtypeError(std::string(a.op) + ": takes i32 or i64 to a floating dtype, got " +
                     to_string(*a.in[0]) + " and " + std::string(name(p.dtype)));
  return {p.dtype, false, a.in[0]->shape};
}

template <class T, class Y>
void fill(const KernelArgs& args, const NanOutsideParams& p) {
  const T* x = args.in[0].as<const T>();
  Y* y = args.out[0].as<Y>();
  const bool checked = debug_nans();
  for (int64_t i = 0, n = args.out[0].numel(); i < n; ++i) {
    const bool within = x[i] >= 0 && x[i] < p.size;
    if (!within && checked) rules::throw_outside(p, std::to_string(x[i]));
    y[i] = static_cast<Y>(within ? 1.0f : std::numeric_limits<float>::quiet_NaN());
  }
}

void nan_outside_kernel(const KernelArgs& args) {
  const auto& p = args.params.get<NanOutsideParams>();
  visit_dtype(p.dtype, [&]<class Y>(Y) {
    if constexpr (!std::is_integral_v<Y>) {
      if (args.in[0].dtype() == Dtype::kInt32)
        fill<int32_t, Y>(args, p);
      else
        fill<int64_t, Y>(args, p);
    }
  });
}

// In operations that code is generated for; without the error.
std::vector<Array> nan_outside_expand(std::span<const Array> in, const Params& params) {
  const auto& p = params.get<NanOutsideParams>();
  const Array within = astype(rules::is_within(in[0], p.size), p.dtype);
  return {within / within};
}

std::vector<Sample> nan_outside_samples() {
  std::vector<Sample> all = rules::integer_unary_samples<0, 4>();
  for (Sample& s : all)
    s.params = Params::make(NanOutsideParams{"take", "there is", "the axis has 0..4", 5});
  return all;
}

}  // namespace

extern constinit const Primitive nan_outside_p = {
    .name = "nan_outside",
    .shape = nan_outside_shape,
    .cpu = nan_outside_kernel,
    .jvp = rules::jvp_zero,
    .batch = rules::batch_elementwise,
    .samples = nan_outside_samples,
    .params = kParamsOf<NanOutsideParams>,
    .expand = nan_outside_expand,
};

}  // namespace spruce
