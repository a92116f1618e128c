// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/random/primitives.h"
#include "spruce/cuda/codegen/rejection.h"

namespace spruce::cuda {
namespace {

constexpr std::string_view kTask = R"cuda(
namespace sp {
// log k! less Stirling's formula.
SP Real stirling_tail(Real k) {
  const f64 tails[] = {0.0810614667953272,  0.0413406959554092, 0.0276779256849983,
                       0.02079067210376509, 0.0166446911898211, 0.0138761288230707,
                       0.0118967099458917,  0.0104112652619720, 0.00925546218271273,
                       0.00833056343336287};
  if (k <= 9) return Real(tails[int(k < 0 ? Real(0) : k)]);
  const Real s = (k + 1) * (k + 1);
  return (Real(1. / 12) - (Real(1. / 360) - Real(1. / 1260) / s) / s) / (k + 1);
}
struct Task {
  Real n, q;
  bool rare, invalid, few;
  SP_MEMBER static Task of(Real trials, Real p) {
    Task t;
    t.n = floor(trials);
    t.rare = p < Real(0.5);
    t.q = t.rare ? p : 1 - p;
    t.invalid = t.q != t.q || t.q < 0 || trials != trials || trials < 0;
    t.few = t.invalid || trials * t.q <= 10;
    return t;
  }
  __device__ void own(Words key, u64 place, Result& y) const {
    Real successes = 1;
    if (!invalid) {
      const Real log_miss = log1p(-q);
      Real trials = 0;
      successes = 0;
      while (trials <= n) {
        const Real u = unit_at<Real>(threefry(key, 0), place);
        key = threefry(key, 1);
        trials += ceil(log(u) / log_miss);
        ++successes;
      }
    }
    y = finish(successes - 1);
  }
  __device__ bool attempt(Words first, Words second, u64 place, Real& k) const {
    const Real m = few ? Real(1e4) : n, p = few ? Real(0.5) : q;
    const Real deviation = sqrt(m * p * (1 - p));
    const Real b = Real(1.15) + Real(2.53) * deviation,
               a = Real(-0.0873) + Real(0.0248) * b + Real(0.01) * p;
    const Real c = m * p + Real(0.5), v_r = Real(0.92) - Real(4.2) / b, odds = p / (1 - p);
    const Real alpha = (Real(2.83) + Real(5.1) / b) * deviation, mode = floor((m + 1) * p);
    const Real u = unit_at<Real>(first, place) - Real(0.5);
    Real v = unit_at<Real>(second, place);
    const Real shifted = Real(0.5) - abs(u);
    k = floor((2 * a / shifted + b) * u + c);
    if (shifted >= Real(0.07) && v <= v_r) return true;
    if (k < 0 || k > m) return false;
    v = log(v * alpha / (a / (shifted * shifted) + b));
    const Real bound = (mode + Real(0.5)) * log((mode + 1) / (odds * (m - mode + 1))) +
                       (m + 1) * log((m - mode + 1) / (m - k + 1)) +
                       (k + Real(0.5)) * log(odds * (m - k + 1) / (k + 1)) + stirling_tail(mode) +
                       stirling_tail(m - mode) - stirling_tail(k) - stirling_tail(m - k);
    return v <= bound;
  }
  SP_MEMBER Result finish(Real k) const {
    const Real y = invalid ? quiet_nan<Real>() : n == infinity<Real>() ? n : rare ? k : n - k;
    return narrow<Result>(y);
  }
};
}  // namespace sp
)cuda";

Kernels make_random_binomial(const PrepareArgs& a) {
  const Dtype d = a.out[0]->dtype;
  const std::string types = "namespace sp { typedef " + std::string(text_type(d)) +
                            " Result; typedef " + std::string(compute_type(d)) + " Real; }\n";
  return draw_by_rejection(a, types + std::string(kTask), compute_type(d));
}

}  // namespace

extern const Twin random_binomial_twin = {&random_binomial_p, make_random_binomial};

}  // namespace spruce::cuda
