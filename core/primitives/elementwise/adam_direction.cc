// SPDX-License-Identifier: Apache-2.0
// (mu / c1) / (sqrt(nu / c2 + eps_root) + eps): the direction of Adam in one pass.
#include "spruce/core/cpu/elementwise/pair_loop.h"
#include "spruce/core/ops/math.h"
#include "spruce/core/rules/cost.h"
#include "spruce/core/rules/elementwise.h"
#include "spruce/core/rules/optimizer.h"

namespace spruce {
namespace {

SPRUCE_INLINE float root(float x) { return __builtin_sqrtf(x); }
SPRUCE_INLINE double root(double x) { return __builtin_sqrt(x); }

// The corrections are single numbers: their reciprocals spare divisions of all elements.
template <class C>
struct Direction {
  C r1, r2, eps, eps_root;
  SPRUCE_INLINE C operator()(C mu, C nu) const {
    return mu * r1 / (root(nu * r2 + eps_root) + eps);
  }
};

void kernel(const KernelArgs& args) {
  const auto& params = args.params.get<AdamDirectionParams>();
  cpu::run_pairs(args, [&]<class T, class C>(T, C) {
    const C c1 = static_cast<C>(*args.in[2].as<T>()), c2 = static_cast<C>(*args.in[3].as<T>());
    return Direction<C>{1 / c1, 1 / c2, static_cast<C>(params.eps),
                        static_cast<C>(params.eps_root)};
  });
}

Aval shape(const ShapeArgs& a) {
  const Aval out = rules::same_pair({a.op, a.in.first(2), a.params});
  for (size_t i = 2; i < 4; ++i) {
    if (a.in[i]->dtype != out.dtype || a.in[i]->shape.rank() != 0) {
      throw ShapeError("adam_direction: a bias correction must be " +
                       to_string(Aval{out.dtype, false, Shape{}}) + ", got " + to_string(*a.in[i]));
    }
  }
  return out;
}

std::vector<Array> expand(std::span<const Array> in, const Params& params) {
  const auto& p = params.get<AdamDirectionParams>();
  return {in[0] * (1.0 / in[2]) / (sqrt(in[1] * (1.0 / in[3]) + Array(p.eps_root)) + Array(p.eps))};
}

std::vector<Sample> samples() {
  std::vector<Sample> out;
  for (const Shape& shape : {Shape{}, Shape{7}, Shape{2, 3}, Shape{0, 3}}) {
    Sample s = rules::internal::samples_over({{shape, shape, {}, {}}}, Dtype::kFloat32, 0.5, 2)[0];
    s.params = Params::make(AdamDirectionParams{1e-3, 1e-2});
    out.push_back(s);
  }
  return out;
}

}  // namespace

extern constinit const Primitive adam_direction_p = {
    .name = "adam_direction",
    .shape = shape,
    .cpu = kernel,
    .samples = samples,
    .params = kParamsOf<AdamDirectionParams>,
    .kind = PrimitiveKind::kElementwise,
    .in_place = true,
    .expand = expand,
    .flops = rules::flops_per_output<5>,
};

Array adam_direction(const Array& mu, const Array& nu, const Array& c1, const Array& c2,
                     const AdamDirectionParams& params) {
  return bind1(adam_direction_p, {mu, nu, c1, c2}, Params::make(params));
}

}  // namespace spruce
