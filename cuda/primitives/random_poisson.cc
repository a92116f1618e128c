// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/random/primitives.h"
#include "spruce/cuda/codegen/rejection.h"

namespace spruce::cuda {
namespace {

constexpr std::string_view kPoissonTask = R"cuda(
namespace sp {
struct Task {
  f32 rate;
  bool few;
  SP_MEMBER static Task of(f32 rate) {
    Task t;
    t.rate = rate;
    t.few = !(rate >= 10);
    return t;
  }
  __device__ void own(Words key, u64 place, Result& y) const {
    f32 count = 0, log_product = 0;
    while (rate != 0 && log_product > -rate) {
      log_product += log(unit_at<f32>(threefry(key, 1), place));
      key = threefry(key, 0);
      ++count;
    }
    y = rate == 0 ? Result(0) : Result(to_integer<i64>(count - 1));
  }
  __device__ static f32 log_probability(f32 k, f32 mean) {
    if (mean < 131072) return -mean + k * log(mean) - lgamma(k + 1);
    const f32 d = k - mean, q = d / mean;
    return -d * q * (0.5f - q * (1 / 6.0f - q / 12)) - 0.5f * log(6.2831853f * k) - 1 / (12 * k);
  }
  __device__ bool attempt(Words first, Words second, u64 place, f32& k) const {
    const f32 mean = few ? 1e5f : rate;
    const f32 b = 0.931f + 2.53f * sqrt(mean), a = -0.059f + 0.02483f * b;
    const f32 inverse_alpha = 1.1239f + 1.1328f / (b - 3.4f), v_r = 0.9277f - 3.6224f / (b - 2);
    const f32 u = unit_at<f32>(first, place) - 0.5f, v = unit_at<f32>(second, place);
    const f32 shifted = 0.5f - abs(u);
    k = floor((2 * a / shifted + b) * u + mean + 0.43f);
    if (shifted >= 0.07f && v <= v_r) return true;
    if (k < 0 || (shifted < 0.013f && v > shifted)) return false;
    const f32 s = log(v * inverse_alpha / (a / (shifted * shifted) + b));
    return s <= log_probability(k, mean);
  }
  SP_MEMBER Result finish(f32 k) const {
    return k < f32(most<Result>()) ? to_integer<Result>(k) : most<Result>();
  }
};
}  // namespace sp
)cuda";

Kernels make_random_poisson(const PrepareArgs& a) {
  const std::string result =
      "namespace sp { typedef " + std::string(text_type(a.out[0]->dtype)) + " Result; }\n";
  return draw_by_rejection(a, result + std::string(kPoissonTask), "sp::f32");
}

}  // namespace

extern const Twin random_poisson_twin = {&random_poisson_p, make_random_poisson};

}  // namespace spruce::cuda
