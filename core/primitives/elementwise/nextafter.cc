// SPDX-License-Identifier: Apache-2.0
// The next value after a toward b in the dtype.
#include <bit>

#include "spruce/core/cpu/elementwise/elementwise.h"
#include "spruce/core/ops/math.h"
#include "spruce/core/rules/elementwise.h"
#include "spruce/core/scalar/expression.h"

namespace spruce {
namespace {

// The bits of the number behind x towards y, whose bits are a and b.
template <class C, class B>
B next_bits(C x, C y, B a, B b) {
  using scalar::select;
  using Unsigned = scalar::Element<B>;
  const B sign(Unsigned(Unsigned{1} << (sizeof(Unsigned) * 8 - 1))), one(Unsigned{1});
  // Away from zero the bits grow, for both signs.
  const auto grows = (x < y) == ((a & sign) == B(Unsigned{0}));
  B next = select(grows, B(a + one), B(a - one));
  next = select(x == C(0), B((b & sign) | one), next);
  next = select(x == y || y != y, b, next);
  return select(x != x, a, next);
}

template <class T, class Bits>
T next_after(T a, T b) {
  using C = cpu::internal::Compute<T>;
  return std::bit_cast<T>(next_bits<C, Bits>(static_cast<C>(a), static_cast<C>(b),
                                             std::bit_cast<Bits>(a), std::bit_cast<Bits>(b)));
}

template <class T, class Bits>
void loop(const void* a, const void* b, void* y, int64_t n, int64_t a_step, int64_t b_step) {
  const T *p = static_cast<const T*>(a), *q = static_cast<const T*>(b);
  T* out = static_cast<T*>(y);
  for (int64_t i = 0; i < n; ++i) out[i] = next_after<T, Bits>(p[i * a_step], q[i * b_step]);
}

cpu::BinaryLoop nextafter_loop(const cpu::LoopArgs& args) {
  switch (args.out) {
    case Dtype::kFloat16:
      return loop<Float16, uint16_t>;
    case Dtype::kBfloat16:
      return loop<Bfloat16, uint16_t>;
    case Dtype::kFloat32:
      return loop<float, uint32_t>;
    default:
      return loop<double, uint64_t>;
  }
}

template <class C, class Bits>
int nextafter_expression_of(const ScalarArgs& args) {
  const auto bits = [&](size_t i) {
    return scalar::Expr<Bits>(args.program,
                              args.program.add(scalar::Op::kBitcast, dtype_of<Bits>(), args.in[i]));
  };
  const auto next =
      next_bits(scalar::input<C>(args, 0), scalar::input<C>(args, 1), bits(0), bits(1));
  return args.program.add(scalar::Op::kBitcast, args.out, static_cast<int>(next.operand().payload));
}

int nextafter_expression(const ScalarArgs& args) {
  if (is_half(args.out)) return nextafter_expression_of<float, uint16_t>(args);
  return args.out == Dtype::kFloat32 ? nextafter_expression_of<float, uint32_t>(args)
                                     : nextafter_expression_of<double, uint64_t>(args);
}

}  // namespace

extern constinit const Primitive nextafter_p = {
    .name = "nextafter",
    .shape = rules::broadcast_floating,
    .cpu = cpu::loop_kernel<nextafter_loop>,
    .scalar = nextafter_expression,
    .jvp = rules::jvp_binary<
        [](const Array&, const Array&, const Array&, const Array& t) { return t; },
        [](const Array&, const Array&, const Array&, const Array&) { return Array(); }>,
    .batch = rules::batch_elementwise,
    .samples = rules::binary_samples<-20, 20>,
    .kind = PrimitiveKind::kElementwise,
    .in_place = true,
};

}  // namespace spruce
