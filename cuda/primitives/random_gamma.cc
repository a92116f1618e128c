// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/random/primitives.h"
#include "spruce/cuda/codegen/draws.h"

namespace spruce::cuda {
namespace {

// The loops of core/primitives/random/random_gamma.cc, whose draws these are.
constexpr std::string_view kGamma = R"cuda(
namespace sp {
template <class T> static __device__ T gamma_variate(Words key, T alpha, bool log_space) {
  const bool plain = alpha >= 1;
  const T third = T(1. / 3), d = (plain ? alpha : alpha + 1) - third, c = third / sqrt(d);
  const Words boost_key = threefry(key, 1);
  key = threefry(key, 0);
  T square = 0, v = 1, u = 2;
  // NaN leaves both loops.
  while (u >= 1 - T(0.0331) * (square * square) &&
         log(u) >= square / 2 + d * ((1 - v) + log(v))) {
    const Words u_key = threefry(key, 2);
    Words x_key = threefry(key, 1);
    key = threefry(key, 0);
    T x = 0, w = -1;
    while (w <= 0) {
      x = normal_at<T>(threefry(x_key, 1), 0);
      x_key = threefry(x_key, 0);
      w = 1 + x * c;
    }
    square = x * x;
    v = w * w * w;
    u = unit_at<T>(u_key, 0);
  }
  const T unit = unit_at<T>(boost_key, 0);
  if (log_space) {
    const T log_unit = log1p(-unit);
    return log(d) + log(v) + (plain || log_unit == 0 ? T(0) : log_unit * (1 / alpha));
  }
  return d * v * (plain ? T(1) : float_pow(1 - unit, 1 / alpha));
}
}  // namespace sp
)cuda";

Kernels make_random_gamma(const PrepareArgs& a) {
  Kernels out;
  const int64_t n = a.out[0]->numel();
  if (n == 0) return out;
  KernelBuilder kernel("random_gamma", a);
  kernel.front(special_prelude());
  kernel.front(random_prelude());
  kernel.front(kGamma);
  const std::string keys = kernel.input(0), alpha = kernel.input(1), y = kernel.output(0);
  kernel.value("log_space", a.params.get<RandomGammaParams>().log_space ? 1 : 0);
  out.steps.push_back(kernel.for_each(
      n, "    const sp::Words own = " + words_at(kernel, keys, n, n / (a.in[0]->numel() / 2)) +
             ";\n    " + y + "[i] = sp::narrow<" + std::string(text_type(a.out[0]->dtype)) +
             ">(sp::gamma_variate(own, sp::widen(" + alpha + "[i]), log_space != 0));\n"));
  return out;
}

}  // namespace

extern const Twin random_gamma_twin = {&random_gamma_p, make_random_gamma};

}  // namespace spruce::cuda
