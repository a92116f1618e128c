// SPDX-License-Identifier: Apache-2.0
// Options and values at the ends of their ranges.
#include <gtest/gtest.h>

#include "spruce/core/debug.h"
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

struct Line {
  Array slope = 0.5, offset = 1.0;
};

TEST(CornerCases, ParametersThatBeginAsNumbersAreTrainedInF32) {
  const Array x = array({1.0f, 2.0f, 3.0f});
  const auto loss = [&](const Line& l) { return mean(square(l.slope * x + l.offset - 2.0f * x)); };
  const auto types = [](const auto& state) {
    std::vector<std::string> out;
    for (const tree::Entry& e : tree::entries(state)) {
      if (!e.value.defined() || e.value.dtype() == int32) continue;
      out.push_back(to_string(Aval{e.value.dtype(), e.value.weak(), e.value.shape()}));
    }
    return out;
  };
  const auto train = [&](const char* name, const auto& optimizer) {
    Line line;
    auto state = optimizer.init(line);
    const std::vector<std::string> at_first = types(state);
    for (int i = 0; i < 3; ++i) {
      const auto [updates, next] = optimizer.update(grad(loss)(line), state, line);
      line = apply_updates(line, updates);
      state = next;
    }
    EXPECT_EQ(types(line), (std::vector<std::string>{"f32[]", "f32[]"})) << name;
    EXPECT_EQ(types(state), at_first) << name;
    for (const std::string& type : at_first) EXPECT_EQ(type.find("f64"), type.npos) << name;
  };
  train("sgd", sgd({.learning_rate = 0.1}));
  train("momentum", sgd({.learning_rate = 0.1, .momentum = 0.9}));
  train("adam", adam());
  train("sm3", sm3({.learning_rate = 0.1}));
  train("flatten", flatten(adam()));
  train("prodigy", prodigy());
  train("dadapt_adamw", dadapt_adamw());
  train("lbfgs", scale_by_lbfgs());
  train("mechanize", mechanize(adam()));
}

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

TEST(CornerCases, ClippingOfHalvesDoesNotOverflow) {
  const Array g = full({400}, 60000.0f, float16);
  const auto clipped = [&](const auto& t) {
    const Array y = t.update(g, {}, g).first;
    EXPECT_EQ(y.aval(), g.aval());
    return y[0].template item<Float16>();
  };
  EXPECT_NEAR(clipped(clip_by_global_norm(1)), 0.05f, 1e-4);
  EXPECT_NEAR(clipped(clip_by_block_rms(1)), 1, 1e-4);
  EXPECT_NEAR(clipped(normalize_by_update_norm()), 0.05f, 1e-4);
  EXPECT_NEAR(adaptive_grad_clip(1).update(g, {}, ones_like(g)).first[0].template item<Float16>(),
              1, 1e-3);
}

// Checks each result for NaN while it lives.
struct NanGuard {
  bool before = debug_nans();
  NanGuard() { set_debug_nans(true); }
  ~NanGuard() { set_debug_nans(before); }
};

TEST(CornerCases, ClippingOfZerosIsTheIdentity) {
  const auto sum_of = [](const auto& t) {
    return grad([&](const Array& g) { return sum(t.update(g, {}, ones_like(g)).first); })(
        zeros({2}));
  };
  const NanGuard guard;
  EXPECT_TRUE(array_equal(sum_of(clip_by_global_norm(1)), ones({2})));
  EXPECT_TRUE(array_equal(sum_of(clip_by_block_rms(1)), ones({2})));
  EXPECT_TRUE(array_equal(sum_of(adaptive_grad_clip(1)), ones({2})));
  EXPECT_TRUE(
      array_equal(grad([](const Array& x) { return global_norm(x); })(zeros({2})), zeros({2})));
}

// One leaf of halves does not spoil the estimate of all.
TEST(CornerCases, EstimatedRatesTakeLeavesOfHalves) {
  const std::vector<Array> p{ones({3}), ones({2}, float16)};
  const auto check_finite = [&](const auto& optimizer) {
    std::vector<Array> x = p;
    auto state = optimizer.init(x);
    for (int i = 0; i < 3; ++i) {
      const auto [updates, next] = optimizer.update(p, state, x);
      x = apply_updates(x, updates);
      state = next;
    }
    EXPECT_TRUE(all_finite(x[0]) && all_finite(x[1])) << x[0] << x[1];
  };
  check_finite(dadapt_adamw());
  check_finite(prodigy());
}

TEST(CornerCases, Sm3TakesArraysWithoutElements) {
  const Array p = zeros({0, 4});
  EXPECT_EQ(after(sm3(), p, 2, p).shape(), p.shape());
}

}  // namespace corner_cases_test
}  // namespace spruce::optim
