// SPDX-License-Identifier: Apache-2.0
// Gamma variates by rejection (Marsaglia and Tsang, "A simple method for generating gamma
// variables", 2000), one key for each element, with the draws of JAX.
#include "spruce/core/cpu/elementwise/elementwise.h"
#include "spruce/core/cpu/random/key_stream.h"
#include "spruce/core/ops/finfo.h"
#include "spruce/core/ops/math.h"
#include "spruce/core/random/primitives.h"
#include "spruce/core/rules/elementwise.h"
#include "spruce/core/rules/random.h"

namespace spruce {
namespace {

template <class T>
T draw(cpu::Words key, T alpha, bool log_space) {
  // Below 1 a variate of alpha + 1 times U^(1 / alpha).
  const bool plain = alpha >= 1;
  const T third = T(1. / 3), d = (plain ? alpha : alpha + 1) - third, c = third / std::sqrt(d);
  const cpu::Words boost_key = cpu::new_key(key, 1);
  key = cpu::new_key(key, 0);
  T square = 0, v = 1, u = 2;
  // NaN leaves both loops.
  while (u >= 1 - T(0.0331) * (square * square) &&
         std::log(u) >= square / 2 + d * ((1 - v) + std::log(v))) {
    const cpu::Words u_key = cpu::new_key(key, 2);
    cpu::Words x_key = cpu::new_key(key, 1);
    key = cpu::new_key(key, 0);
    T x = 0, w = -1;
    while (w <= 0) {
      x = cpu::normal_at<T>(cpu::new_key(x_key, 1), 0);
      x_key = cpu::new_key(x_key, 0);
      w = 1 + x * c;
    }
    square = x * x;
    v = w * w * w;
    u = cpu::unit_at<T>(u_key, 0);
  }
  const T unit = cpu::unit_at<T>(boost_key, 0);
  if (log_space) {
    const T log_unit = std::log1p(-unit);
    const T boost = plain || log_unit == 0 ? T(0) : log_unit * (1 / alpha);
    return std::log(d) + std::log(v) + boost;
  }
  return d * v * (plain ? T(1) : std::pow(1 - unit, 1 / alpha));
}

Aval random_gamma_shape(const ShapeArgs& a) {
  rules::check_draws(a, 1);
  return {a.in[1]->dtype, false, a.in[1]->shape};
}

void random_gamma_kernel(const KernelArgs& args) {
  const bool log_space = args.params.get<RandomGammaParams>().log_space;
  visit_dtype(args.out[0].dtype(), [&]<class T>(T) {
    if constexpr (cpu::internal::kAccepts<cpu::Types::kFloating, T>) {
      using C = cpu::internal::Compute<T>;
      const T* alpha = args.in[1].as<const T>();
      T* y = args.out[0].as<T>();
      cpu::for_each_draw(args, [&](cpu::Words key, uint64_t place, int64_t i) {
        const cpu::Words own = cpu::new_key(key, place);
        y[i] = static_cast<T>(draw(own, static_cast<C>(alpha[i]), log_space));
      });
    }
  });
}

// Implicit reparametrisation (Figurnov, Mohamed and Mnih 2018): the variate moves with alpha so
// that its quantile stays.
void jvp(const JvpArgs& a) {
  const Array y = bind1(a.p, a.in, a.params);
  a.out[0] = y;
  if (!a.tangents[1].defined()) return;
  Array slope;
  if (a.params.get<RandomGammaParams>().log_space) {
    const Array x = maximum(exp(y), finfo(promote(y.dtype(), float32)).tiny);
    slope = random_gamma_grad(a.in[1], x) / x;
  } else {
    slope = random_gamma_grad(a.in[1], y);
  }
  a.out_tangents[0] = a.tangents[1] * slope;
}

}  // namespace

extern constinit const Primitive random_gamma_p = {
    .name = "random_gamma",
    .shape = random_gamma_shape,
    .cpu = random_gamma_kernel,
    .jvp = jvp,
    .batch = rules::batch_draws,
    .params = kParamsOf<RandomGammaParams>,
};

}  // namespace spruce
