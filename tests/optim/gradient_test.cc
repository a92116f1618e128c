// SPDX-License-Identifier: Apache-2.0
// Derivatives through ten steps of optimizers, against JAX's of Optax.
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "tests/optim/trajectory.h"

namespace spruce::optim {
namespace gradient_test {

const std::map<std::string, std::vector<double>>& cases() {
  static const std::map<std::string, std::vector<double>> all = {
#include "tests/optim/gradient_cases.inc"
  };
  return all;
}

// Half the sum of squares after ten steps, and its derivatives.
template <class Make>
void check_gradient(const std::string& name, const Make& make) {
  const auto outcome = [&](const Params& at, const Array& rate) {
    const auto optimizer = make(Schedule(rate));
    Params p = at;
    auto state = optimizer.init(p);
    for (int t = 0; t < 10; ++t) {
      const auto [updates, next] = optimizer.update(gradient(p, array(t, float64)), state, p);
      p = apply_updates(p, updates);
      state = next;
    }
    return loss(p);
  };
  const std::vector<double>& want = cases().at(name);
  ASSERT_EQ(want.size(), 12u) << name;
  const auto by = value_and_grad<0, 1>(outcome);
  for (const bool compiled : {false, true}) {
    const auto [value, grads] =
        compiled ? jit(by)(start(), array(0.05, float64)) : by(start(), array(0.05, float64));
    const auto& [of_start, of_rate] = grads;
    std::vector<double> got{value.template item<double>()};
    for (const Array& leaf : tree::leaves(of_start)) {
      for (const double v : leaf.reshape({-1}).to_vector<double>()) got.push_back(v);
    }
    got.push_back(of_rate.template item<double>());
    for (size_t i = 0; i < want.size(); ++i) {
      EXPECT_NEAR(got[i], want[i], 1e-9 * std::max(1.0, std::abs(want[i])))
          << name << ", number " << i << (compiled ? " under jit" : "");
    }
  }
}

TEST(GradientsThroughSteps, Sgd) {
  check_gradient("sgd", [](const Schedule& r) { return sgd({.learning_rate = r}); });
  check_gradient("nesterov", [](const Schedule& r) {
    return sgd({.learning_rate = r, .momentum = 0.75, .nesterov = true});
  });
  check_gradient("clipped", [](const Schedule& r) {
    return chain(clip_by_global_norm(0.5), sgd({.learning_rate = r}));
  });
}

TEST(GradientsThroughSteps, Adam) {
  check_gradient("adam", [](const Schedule& r) { return adam({.learning_rate = r}); });
  check_gradient(
      "adamw", [](const Schedule& r) { return adamw({.learning_rate = r, .weight_decay = 0.25}); });
  check_gradient("nadam", [](const Schedule& r) { return nadam({.learning_rate = r}); });
  check_gradient("amsgrad", [](const Schedule& r) { return amsgrad({.learning_rate = r}); });
  check_gradient("adamax", [](const Schedule& r) { return adamax({.learning_rate = r}); });
}

TEST(GradientsThroughSteps, KinOfAdam) {
  check_gradient("adabelief",
                 [](const Schedule& r) { return adabelief({.learning_rate = r, .eps = 1e-4}); });
  check_gradient("yogi", [](const Schedule& r) { return yogi({.learning_rate = r}); });
  check_gradient(
      "lamb", [](const Schedule& r) { return lamb({.learning_rate = r, .weight_decay = 0.25}); });
  check_gradient("novograd", [](const Schedule& r) { return novograd({.learning_rate = r}); });
  check_gradient("adan", [](const Schedule& r) { return adan({.learning_rate = r}); });
  check_gradient("ademamix", [](const Schedule& r) { return ademamix({.learning_rate = r}); });
}

TEST(GradientsThroughSteps, SumsOfSquares) {
  check_gradient("rmsprop",
                 [](const Schedule& r) { return rmsprop({.learning_rate = r, .eps = 1e-4}); });
  check_gradient("adagrad", [](const Schedule& r) { return adagrad({.learning_rate = r}); });
}

}  // namespace gradient_test
}  // namespace spruce::optim
