// SPDX-License-Identifier: Apache-2.0
// Elements of the second input where the first, a bool, is true, of the third elsewhere.
#include "spruce/core/cpu/elementwise/elementwise.h"
#include "spruce/core/cpu/visit_bits.h"
#include "spruce/core/ops/math.h"
#include "spruce/core/rules/elementwise.h"
#include "spruce/core/scalar/expression.h"

namespace spruce {
namespace {

Aval select_shape(const ShapeArgs& a) {
  const Aval& p = *a.in[0];
  if (!is_bool(p.dtype)) {
    throw DtypeError("where: the condition is " + to_string(p) +
                     ", not bool; compare it with != 0 first");
  }
  Aval out = rules::broadcast({a.op, a.in.subspan(1), a.params});
  if (!(p.shape == out.shape)) out.shape = broadcast_shapes("where", p.shape, out.shape);
  return out;
}

// A mask instead of a condition, because compilers vectorise it for any size of element.
struct Select {
  template <class I, class T>
  static SPRUCE_INLINE T call(uint8_t p, T a, T b) {
    const T mask = static_cast<T>(T{0} - static_cast<T>(p));
    return static_cast<T>((a & mask) | (b & static_cast<T>(~mask)));
  }
};

cpu::TernaryLoop select_loop(const cpu::LoopArgs& args) {
  return cpu::visit_bits(size_of(args.out), []<class T>(T) {
    return cpu::internal::Ternary<Select, uint8_t, T, T>::best();
  });
}

Array zero_like(const Array& x) { return rules::scalar_like(0, x); }

void select_jvp(const JvpArgs& a) {
  a.out[0] = bind1(a.p, a.in);
  const Array &t = a.tangents[1], &f = a.tangents[2];
  if (!t.defined() && !f.defined()) return;
  const Array tangent =
      bind1(a.p, {a.in[0], t.defined() ? t : zero_like(f), f.defined() ? f : zero_like(t)});
  a.out_tangents[0] = rules::broadcast_tangent(tangent, a.out[0].shape());
}

void select_transpose(const TransposeArgs& a) {
  const Array &p = a.in[0], &ct = a.cts[0], zero = zero_like(ct);
  if (a.linear(1)) a.out[1] = rules::unbroadcast(bind1(a.p, {p, ct, zero}), a.avals[1].shape);
  if (a.linear(2)) a.out[2] = rules::unbroadcast(bind1(a.p, {p, zero, ct}), a.avals[2].shape);
}

SampleInput input(Dtype dtype, const Shape& shape) {
  SampleInput in;
  in.aval = Aval{dtype, false, shape};
  if (is_bool(dtype)) in.low = 0, in.high = 1;
  return in;
}

std::vector<Sample> select_samples() {
  const std::vector<std::vector<Shape>> shapes = {
      {{}, {}, {}},      {{5}, {5}, {5}},      {{2, 3}, {3}, {2, 1}}, {{}, {4}, {4}},
      {{3}, {2, 3}, {}}, {{2, 1}, {}, {1, 3}}, {{0, 3}, {3}, {0, 3}}, {{4}, {}, {}}};
  std::vector<Sample> all;
  for (const auto& s : shapes) {
    for (const Dtype d : {Dtype::kFloat32, Dtype::kInt32}) {
      Sample sample;
      sample.in = {input(Dtype::kBool, s[0]), input(d, s[1]), input(d, s[2])};
      all.push_back(sample);
    }
  }
  return all;
}

}  // namespace

extern constinit const Primitive select_p = {
    .name = "select",
    .public_name = "where",
    .shape = select_shape,
    .cpu = cpu::loop_kernel<select_loop>,
    .scalar = scalar::as_they_are<scalar::Op::kSelect>,
    .jvp = select_jvp,
    .transpose = select_transpose,
    .batch = rules::batch_elementwise,
    .samples = select_samples,
    .kind = PrimitiveKind::kElementwise,
    .cost = ElementCost::kLeast,
    .in_place = true,
};

}  // namespace spruce
