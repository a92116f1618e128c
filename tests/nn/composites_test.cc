// SPDX-License-Identifier: Apache-2.0
// What is one kernel in eager code and its parts in compiled code has the same bits in both, and
// the same derivatives.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "spruce/spruce.h"

namespace spruce::nn {
namespace composites_test {

struct Function {
  const char* name;
  std::function<Array(const Array&)> f;
};

const Function kFunctions[] = {
    {"elu", [](const Array& x) { return elu(x); }},
    {"elu, alpha 0.3", [](const Array& x) { return elu(x, {.alpha = 0.3}); }},
    {"celu", [](const Array& x) { return celu(x, {.alpha = 0.7}); }},
    {"selu", [](const Array& x) { return selu(x); }},
    {"huber_loss",
     [](const Array& x) {
       return huber_loss(x, flip(x), {.reduction = Reduction::kNone, .delta = 0.3});
     }},
    {"smooth_l1_loss",
     [](const Array& x) {
       return smooth_l1_loss(x, flip(x), {.reduction = Reduction::kNone, .beta = 0.3});
     }},
};

TEST(Composites, AreTheSameEagerAndCompiled) {
  const Array drawn = random::normal(Key(3), {1003}) * 4.0f;
  const Array edges = array({0.0f, -0.0f, HUGE_VALF, -HUGE_VALF, NAN, 1e-30f, -1e-30f, -90.0f});
  for (const Dtype dtype : {float16, bfloat16, float32, float64}) {
    const Array x = astype(concatenate({drawn, edges}), dtype);
    for (const Function& c : kFunctions) {
      SCOPED_TRACE(std::string(c.name) + " of " + std::string(name(dtype)));
      const auto slope = grad([&](const Array& x) { return sum(c.f(x) * 2); });
      const ArrayEqualOptions nan{.equal_nan = true};
      EXPECT_TRUE(array_equal(c.f(x), jit(c.f)(x), nan));
      EXPECT_TRUE(array_equal(slope(x), jit(slope)(x), nan));
    }
  }
}

TEST(Composites, HaveFiniteDerivativesBesideTheOtherBranch) {
  const Array far = array({90.0f, 1e30f, HUGE_VALF});
  EXPECT_EQ(grad([](const Array& x) { return sum(elu(x)); })(far).to_vector<float>(),
            (std::vector<float>{1, 1, 1}));
  const auto loss = [](const Array& x) {
    return huber_loss(x, zeros_like(x), {.reduction = Reduction::kSum, .delta = 2});
  };
  EXPECT_EQ(grad(loss)(far).to_vector<float>(), (std::vector<float>{2, 2, 2}));
  const auto second = [&](float x) { return grad(grad(loss))(array(x)).item<float>(); };
  EXPECT_EQ(second(0), 1.0f);
  EXPECT_EQ(second(1), 1.0f);
  EXPECT_EQ(second(3), 0.0f);
}

}  // namespace composites_test
}  // namespace spruce::nn
