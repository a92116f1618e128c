// SPDX-License-Identifier: Apache-2.0
// The inputs (x, low, high): x limited to [low, high]; high where low > high. NaN if one of the
// three is.
#include "spruce/core/cpu/elementwise/elementwise.h"
#include "spruce/core/ops/math.h"
#include "spruce/core/rules/elementwise.h"
#include "spruce/core/scalar/expression.h"

namespace spruce {
namespace {

struct Clamp {
  template <class I, class X>
  static SPRUCE_INLINE X call(X stored, X stored_low, X stored_high) {
    using T = cpu::internal::Compute<X>;
    return static_cast<X>(
        limited(static_cast<T>(stored), static_cast<T>(stored_low), static_cast<T>(stored_high)));
  }

  // A bound that is NaN is the result.
  template <class T>
  static SPRUCE_INLINE T limited(T x, T low, T high) {
    using scalar::max, scalar::min, scalar::select;
    T y = max(low, x);
    if constexpr (scalar::Floating<T>) y = select(low != low, low, y);
    y = min(high, y);
    if constexpr (scalar::Floating<T>) y = select(high != high, high, y);
    return y;
  }
};

cpu::TernaryLoop clamp_loop(const cpu::LoopArgs& args) {
  cpu::TernaryLoop loop = nullptr;
  visit_dtype(args.out, [&]<class T>(T) {
    static const cpu::TernaryLoop best = cpu::internal::Ternary<Clamp, T, T, T>::best();
    loop = best;
  });
  return loop;
}

int clamp_expression(const ScalarArgs& a) {
  return scalar::compute_in<cpu::Types::kAll>(a.out, [&]<class C>(C) {
    const auto in = [&](size_t i) { return scalar::input<C>(a, i); };
    return scalar::result(a, Clamp::limited(in(0), in(1), in(2)));
  });
}

void clamp_jvp(const JvpArgs& a) {
  const Array &x = a.in[0], &low = a.in[1], &high = a.in[2];
  a.out[0] = bind1(a.p, a.in);
  Array sum;
  const auto add_where = [&](const Array& chosen, const Array& t) {
    sum = rules::add_tangents(sum, where(chosen, t, rules::scalar_like(0, t)));
  };
  if (a.tangents[0].defined()) add_where(logical_and(low <= x, x <= high), a.tangents[0]);
  if (a.tangents[1].defined()) add_where(logical_and(x < low, low <= high), a.tangents[1]);
  if (a.tangents[2].defined()) add_where(logical_or(x > high, low > high), a.tangents[2]);
  if (sum.defined()) a.out_tangents[0] = rules::broadcast_tangent(sum, a.out[0].shape());
}

Sample sample(Dtype dtype, const Shape& x, const Shape& low, const Shape& high) {
  Sample s;
  for (const auto& [shape, from, to] :
       {std::tuple(x, -3.0, 3.0), std::tuple(low, -2.0, -0.5), std::tuple(high, 0.5, 2.0)}) {
    SampleInput in;
    in.aval = Aval{dtype, false, shape};
    in.low = from;
    in.high = to;
    in.distinct = true;
    s.in.push_back(in);
  }
  return s;
}

std::vector<Sample> clamp_samples() {
  constexpr Dtype kFloat = Dtype::kFloat32;
  return {sample(kFloat, {}, {}, {}),
          sample(kFloat, {7}, {}, {}),
          sample(kFloat, {2, 3}, {3}, {2, 1}),
          sample(kFloat, {2, 3}, {2, 3}, {}),
          sample(kFloat, {2, 3}, {}, {2, 3}),
          sample(kFloat, {}, {4}, {}),
          sample(kFloat, {0, 3}, {3}, {}),
          sample(kFloat, {5}, {5}, {5}),
          sample(Dtype::kInt32, {2, 4}, {}, {4})};
}

}  // namespace

extern constinit const Primitive clamp_p = {
    .name = "clamp",
    .public_name = "clip",
    .shape = rules::broadcast,
    .cpu = cpu::loop_kernel<clamp_loop>,
    .scalar = clamp_expression,
    .jvp = clamp_jvp,
    .batch = rules::batch_elementwise,
    .samples = clamp_samples,
    .kind = PrimitiveKind::kElementwise,
    .cost = ElementCost::kLow,
    .in_place = true,
};

}  // namespace spruce
