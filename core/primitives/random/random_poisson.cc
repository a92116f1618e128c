// SPDX-License-Identifier: Apache-2.0
// Poisson variates with the draws of JAX: below a rate of 10 by products of uniform numbers
// (Knuth), else by transformed rejection (Hormann, "The transformed rejection method for generating
// Poisson random variables", 1993).
#include <cmath>
#include <limits>

#include "spruce/core/cpu/random/key_stream.h"
#include "spruce/core/math/gamma.h"
#include "spruce/core/random/primitives.h"
#include "spruce/core/rules/elementwise.h"
#include "spruce/core/rules/random.h"

namespace spruce {
namespace {

float by_products(cpu::Words key, uint64_t place, float rate) {
  float count = 0, log_product = 0;
  while (log_product > -rate) {
    log_product += std::log(cpu::unit_at<float>(cpu::new_key(key, 1), place));
    key = cpu::new_key(key, 0);
    ++count;
  }
  return count - 1;
}

// The logarithm of the probability of k. From a rate of 2^17 on it is taken around the rate (with
// Stirling's series), where the terms of the definition are so large that their f32 sum is noise.
float log_probability(float k, float rate) {
  if (rate < 131072) return -rate + k * std::log(rate) - math::lgamma<math::Isa<false>>(k + 1);
  const float d = k - rate, q = d / rate;
  return -d * q * (0.5f - q * (1 / 6.0f - q / 12)) - 0.5f * std::log(6.2831853f * k) - 1 / (12 * k);
}

// One attempt for a rate that is large enough.
bool random_poisson_accept(const cpu::Round& round, uint64_t place, float rate, float& k) {
  const float b = 0.931f + 2.53f * std::sqrt(rate), a = -0.059f + 0.02483f * b;
  const float inverse_alpha = 1.1239f + 1.1328f / (b - 3.4f), v_r = 0.9277f - 3.6224f / (b - 2);
  const float u = cpu::unit_at<float>(round.first, place) - 0.5f;
  const float v = cpu::unit_at<float>(round.second, place);
  const float shifted = 0.5f - std::abs(u);
  k = std::floor((2 * a / shifted + b) * u + rate + 0.43f);
  if (shifted >= 0.07f && v <= v_r) return true;
  if (k < 0 || (shifted < 0.013f && v > shifted)) return false;
  const float s = std::log(v * inverse_alpha / (a / (shifted * shifted) + b));
  return s <= log_probability(k, rate);
}

bool is_small(float rate) { return !(rate >= 10); }

Aval random_poisson_shape(const ShapeArgs& a) {
  rules::check_draws(a, 1);
  const Dtype dtype = a.params.get<RandomPoissonParams>().dtype;
  if (!is_integer(dtype) || a.in[1]->dtype != Dtype::kFloat32) {
    throw DtypeError(std::string(a.op) + ": makes integers from f32 rates, not " +
                     std::string(short_name(dtype)) + " from " + to_string(*a.in[1]));
  }
  return {dtype, false, a.in[1]->shape};
}

void random_poisson_kernel(const KernelArgs& args) {
  const float* rate = args.in[1].as<const float>();
  visit_dtype(args.out[0].dtype(), [&]<class T>(T) {
    if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
      T* y = args.out[0].as<T>();
      constexpr T kMost = std::numeric_limits<T>::max();
      bool any_large = false;
      for (int64_t i = 0; i < args.out[0].numel(); ++i) any_large = any_large || !is_small(rate[i]);
      if (any_large) {
        // Elements with a small rate take part in the rounds with some large one.
        cpu::draw_by_rejection<float>(
            args,
            [&](const cpu::Round& round, uint64_t place, int64_t i, float& k) {
              return random_poisson_accept(round, place, is_small(rate[i]) ? 1e5f : rate[i], k);
            },
            [&](int64_t i, float k) {
              y[i] = k < static_cast<float>(kMost) ? static_cast<T>(k) : kMost;
            });
      }
      cpu::for_each_draw(args, [&](cpu::Words key, uint64_t place, int64_t i) {
        if (!is_small(rate[i])) return;
        y[i] = rate[i] == 0 ? T(0) : static_cast<T>(by_products(key, place, rate[i]));
      });
    }
  });
}

}  // namespace

extern constinit const Primitive random_poisson_p = {
    .name = "random_poisson",
    .shape = random_poisson_shape,
    .cpu = random_poisson_kernel,
    .jvp = rules::jvp_zero,
    .batch = rules::batch_draws,
    .params = kParamsOf<RandomPoissonParams>,
};

}  // namespace spruce
