// SPDX-License-Identifier: Apache-2.0
// Optimizers that keep sums for rows and columns, learn their own step, or build on others, along
// 200 steps, against Optax, PyTorch and a Shampoo by eigenvalues.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/optim/trajectory.h"

namespace spruce::optim {
namespace memory_trajectories_test {

// A schedule 1 / (count + c), in f64.
Schedule falling(double by, double c) {
  return [by, c](const Array& count) { return by / (astype(count, float64) + c); };
}

TEST(Trajectories, Sm3) {
  check("sm3", sm3({.learning_rate = 0.1}));
  check("sm3_options", chain(scale_by_sm3({.b1 = 0.5, .b2 = 0.75, .eps = 0.125}), scale(-0.05)));
}

TEST(Trajectories, Momo) {
  check_with_loss("momo", momo({.learning_rate = 0.5}));
  check_with_loss("momo_options", momo({.learning_rate = falling(1, 2),
                                        .b1 = 0.5,
                                        .lower_bound = 1.5,
                                        .weight_decay = 0.25,
                                        .adapt_lower_bound = true}));
  check_with_loss("momo_adam", momo_adam({.learning_rate = 0.1}));
  check_with_loss("momo_adam_options", momo_adam({.learning_rate = 0.5,
                                                  .b1 = 0.5,
                                                  .lower_bound = -1,
                                                  .weight_decay = 0.25,
                                                  .adapt_lower_bound = true,
                                                  .b2 = 0.75,
                                                  .eps = 0.125}));
}

TEST(Trajectories, Mechanize) {
  check("mechanize", mechanize(adam({.learning_rate = 1})));
  check("mechanize_options",
        mechanize(sgd({.learning_rate = 1, .momentum = 0.5}),
                  {.weight_decay = 0.25, .eps = 1e-4, .s_init = 0.125, .num_betas = 3}));
}

TEST(Trajectories, SimplifiedAdemamix) {
  check("simplified_ademamix", simplified_ademamix({.learning_rate = 0.01}));
  check("simplified_ademamix_options",
        simplified_ademamix(
            {.learning_rate = 0.01,
             .b1 = 0.5,
             .b2 = 0.75,
             .alpha = [](const Array& count) { return astype(count, float64) / 64.0; },
             .eps = 0.25,
             .eps_root = 0.125,
             .weight_decay = 0.25,
             .mask = is_matrix}));
}

TEST(Trajectories, Lbfgs) {
  check("scale_by_lbfgs", chain(scale_by_lbfgs({.memory_size = 3}), scale(-0.01)));
}

TEST(Trajectories, Shampoo) {
  check("shampoo", shampoo({.learning_rate = 0.1}));
  check("shampoo_options", shampoo({.learning_rate = 0.05, .decay = 0.75, .eps = 0.25}));
}

// The sum of one gradient is nearly singular, and more so the fewer digits it has.
TEST(Shampoo, TakesItsFirstStepInEveryDtype) {
  for (const Shape& shape : {Shape{4, 3}, Shape{48, 20}}) {
    for (const double scale : {0.1, 30.0}) {
      const Array g = scale * random::normal(Key(2), shape, {.dtype = float64});
      const auto first = [&](Dtype dtype) {
        const auto optimizer = shampoo({.learning_rate = 0.1});
        const Array p = zeros(shape, dtype);
        return astype(optimizer.update(astype(g, dtype), optimizer.init(p), p).first, float64);
      };
      const Array exact = first(float64);
      const auto off = [&](Dtype dtype) {
        return (norm(first(dtype) - exact) / norm(exact)).item<double>();
      };
      EXPECT_LT(off(float32), 1e-3) << shape << scale;
      EXPECT_LT(off(float16), 0.2) << shape << scale;
      EXPECT_LT(off(bfloat16), 0.4) << shape << scale;
    }
  }
}

TEST(Trajectories, MoreChains) {
  check("lamb_clipped",
        chain(clip_by_global_norm(1), lamb({.learning_rate = 0.05, .weight_decay = 0.125})));
  check("adagrad_schedule", adagrad({.learning_rate = falling(1, 4)}));
  check("lion_accumulated", multi_steps(lion({.learning_rate = 0.05, .b1 = 0.5}), 3));
  check("nadam_masked",
        chain(masked(add_decayed_weights(0.25), is_matrix), nadam({.learning_rate = 0.05})));
  check("yogi_schedule", yogi({.learning_rate = falling(0.5, 2)}));
}

TEST(Trajectories, MoreOfTorch) {
  check("torch_adagrad",
        adagrad({.learning_rate = 0.1, .initial_accumulator_value = 0.125, .eps = 0}));
  check("torch_radam", radam({.learning_rate = 0.05, .b1 = 0.5, .b2 = 0.75}));
}

TEST(InverseRoot, IsTheRootOfTheInverse) {
  for (const int64_t p : {1, 2, 4}) {
    // Eigenvalues from 1e-6 to 1, by a rotation.
    const Array q = array({{0.6, -0.8, 0.0}, {0.48, 0.36, -0.8}, {0.64, 0.48, 0.6}}, float64);
    const Array a = matmul(q * array({1e-6, 0.5, 1.0}, float64), transpose(q));
    const Array root = inverse_root(a, p);
    Array product = a;
    for (int64_t k = 0; k < p; ++k) product = matmul(root, product);
    EXPECT_TRUE(allclose(product, eye(3, {.dtype = float64}), {.rtol = 1e-6, .atol = 1e-6})) << p;
  }
  EXPECT_THROW(inverse_root(ones({2, 3}), 2), ShapeError);
  EXPECT_THROW(inverse_root(ones({2, 2}, int32), 2), DtypeError);
  EXPECT_THROW(inverse_root(ones({2, 2}), 0), ValueError);
}

TEST(MemoryOptions, OutOfRange) {
  EXPECT_THROW(sm3({.momentum = 1}), ValueError);
  EXPECT_THROW(momo({.b1 = -0.5}), ValueError);
  EXPECT_THROW(momo_adam({.weight_decay = -1}), ValueError);
  EXPECT_THROW(mechanize(sgd(), {.num_betas = 0}), ValueError);
  EXPECT_THROW(simplified_ademamix({.b2 = 1}), ValueError);
  EXPECT_THROW(shampoo({.eps = 0}), ValueError);
  EXPECT_THROW(scale_by_lbfgs({.memory_size = 0}), ValueError);
}

TEST(MemoryOptions, StatesOfOtherParameters) {
  using List = std::vector<Array>;
  const List p{ones({3}), ones({2, 2})}, other{ones({3})}, reshaped{ones({3}), ones({2, 3})};
  const auto refuses = [&](const auto& optimizer) {
    EXPECT_ANY_THROW(optimizer.update(p, optimizer.init(other), p));
    EXPECT_ANY_THROW(optimizer.update(p, optimizer.init(reshaped), p));
  };
  refuses(sm3());
  refuses(shampoo());
  refuses(chain(scale_by_lbfgs(), scale(-1)));
}

}  // namespace memory_trajectories_test
}  // namespace spruce::optim
