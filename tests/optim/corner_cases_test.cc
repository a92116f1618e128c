// SPDX-License-Identifier: Apache-2.0
// Options and values at the ends of their ranges.
#include <gtest/gtest.h>

#include "spruce/core/ops/ops.h"
#include "spruce/optim/optim.h"

namespace spruce::optim {
namespace corner_cases_test {

Array after(const auto& optimizer, Array p, int steps, const Array& gradient) {
  auto state = optimizer.init(p);
  for (int i = 0; i < steps; ++i) {
    const auto [updates, next] = optimizer.update(gradient, state, p);
    p = apply_updates(p, updates);
    state = next;
  }
  return p;
}
bool all_finite(const Array& x) { return all(isfinite(x)).template item<bool>(); }

// One update between synchronisations is the optimizer's own.
TEST(CornerCases, SamOfPeriodOneIsItsOptimizer) {
  const Array p = array({1.0f, -2.0f}), g = array({0.5f, 0.25f});
  const auto plain = sgd({.learning_rate = 0.125});
  EXPECT_EQ(after(sam(plain, sgd({.learning_rate = 0.5}), {.sync_period = 1}), p, 3, g)
                .to_vector<float>(),
            after(plain, p, 3, g).to_vector<float>());
}

TEST(CornerCases, OptionsThatWouldGiveNanAreRefused) {
  EXPECT_THROW(radam({.threshold = 3.5}), ValueError);
  EXPECT_THROW(reduce_on_plateau({.rtol = 1}), ValueError);
  EXPECT_THROW(ademamix({.b3 = 1}), ValueError);
}

TEST(CornerCases, AdafactorStartsBeforeItsOffset) {
  EXPECT_TRUE(all_finite(
      after(adafactor({.learning_rate = 0.1, .decay_offset = 10}), ones({3}), 15, ones({3}))));
}

TEST(CornerCases, NormsOfHalvesDoNotOverflow) {
  const Array p = full({1024, 1024}, 0.3f, float16), g = full({1024, 1024}, 0.5f, float16);
  EXPECT_TRUE(all_finite(after(lamb({.learning_rate = 0.1}), p, 2, g)));
  EXPECT_TRUE(all_finite(after(lars({.learning_rate = 0.1}), p, 2, g)));
}

// The factor of Muon is sqrt(fan_out / fan_in) of f[out, in], at least 1.
TEST(CornerCases, MuonScalesByTheOutputsOfAMatrix) {
  const auto scaled = [](const Array& g) { return ScaleByShape().update(g, {}, g).first; };
  EXPECT_EQ(scaled(ones({16, 4})).to_vector<float>()[0], 2);
  EXPECT_EQ(scaled(ones({4, 16})).to_vector<float>()[0], 1);
}

// A unit is one output of f[out, in, ...].
TEST(CornerCases, AdaptiveClippingIsByOutputs) {
  const Array g = array({{3.0f, 4.0f}, {0.0f, 0.0f}}), p = array({{1.0f, 0.0f}, {1.0f, 0.0f}});
  const Array y = adaptive_grad_clip(1).update(g, {}, p).first;
  EXPECT_NEAR((y[{0, 0}].item<float>()), 0.6f, 1e-6);
  EXPECT_NEAR((y[{0, 1}].item<float>()), 0.8f, 1e-6);
}

}  // namespace corner_cases_test
}  // namespace spruce::optim
