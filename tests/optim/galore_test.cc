// SPDX-License-Identifier: Apache-2.0
#include "spruce/optim/galore.h"

#include <gtest/gtest.h>

#include <cmath>

#include "spruce/spruce.h"
#include "tests/core/message.h"

namespace spruce::optim {
namespace galore_test {

// A matrix whose singular vectors are known: left, values, right.
struct Decomposed {
  Array left, values, right;  // f[m, k], f[k], f[n, k]
  Array matrix() const { return matmul(left * values, transpose(right)); }
};
Decomposed decomposed(int64_t m, int64_t n) {
  const int64_t k = std::min(m, n);
  const auto columns = [&](int seed, int64_t rows) {
    return nn::init::orthogonal()(Key(seed), {rows, k}, float64);
  };
  return {columns(1, m), power(array(0.4, float64), arange(k, float64)), columns(2, n)};
}

// The paper's steps with the exact singular vectors: R = P^T G, Adam on R, alpha P N.
class Reference {
 public:
  Reference(int64_t rank, double scale) : rank_(rank), scale_(scale) {}
  Array update(const Array& g, const Decomposed& d) {
    const bool tall = g.shape(0) >= g.shape(1);
    const Array p = (tall ? d.right : d.left)[{slice(), slice(rank_)}];
    const Array r = tall ? matmul(g, p) : matmul(transpose(p), g);
    if (!mu_.defined()) mu_ = nu_ = zeros_like(r);
    ++count_;
    mu_ = 0.9 * mu_ + 0.1 * r;
    nu_ = 0.999 * nu_ + 0.001 * square(r);
    const Array n =
        (mu_ / (1 - std::pow(0.9, count_))) / (sqrt(nu_ / (1 - std::pow(0.999, count_))) + 1e-8);
    return scale_ * (tall ? matmul(n, transpose(p)) : matmul(p, n));
  }

 private:
  int64_t rank_;
  double scale_;
  int count_ = 0;
  Array mu_, nu_;
};

TEST(Galore, IsThePaperWithExactSingularVectors) {
  for (const Shape& shape : {Shape{9, 6}, Shape{5, 8}, Shape{7, 7}}) {
    const Decomposed d = decomposed(shape[0], shape[1]);
    const ScaleByGalore t =
        scale_by_galore({.rank = 3, .update_proj_gap = 50, .scale = 0.5, .iterations = 20});
    const Array w = zeros(shape, float64);
    GaloreState state = t.init(w);
    Reference reference(3, 0.5);
    for (int step = 0; step < 20; ++step) {
      // Further gradients need not have those singular vectors: the subspace stays.
      const Array noise = random::normal(Key(step), shape, {.dtype = float64});
      const Array g = step == 0 ? d.matrix() : d.matrix() + 0.1 * noise;
      const auto [updates, next] = t.update(g, state, w);
      EXPECT_TRUE(allclose(updates, reference.update(g, d), {.rtol = 1e-6, .atol = 1e-7}))
          << shape << " step " << step;
      state = next;
    }
  }
}

TEST(Galore, TheSubspaceIsFoundAgainAfterEachGap) {
  const ScaleByGalore t = scale_by_galore({.rank = 2, .update_proj_gap = 3});
  const Array w = zeros({6, 5}, float64);
  GaloreState state = t.init(w);
  for (int step = 0; step < 7; ++step) {
    const Array before = state.basis[0];
    state = t.update(random::normal(Key(step), {6, 5}, {.dtype = float64}), state, w).second;
    EXPECT_EQ(array_equal(before, state.basis[0]), step % 3 != 0) << step;
    const Array gram = matmul(state.basis[0], transpose(state.basis[0]));
    EXPECT_TRUE(allclose(gram, eye(2, {.dtype = float64}), {.atol = 1e-12}));
  }
}

TEST(Galore, OtherArraysHaveAdam) {
  struct Net {
    Array small, bias;
  };
  const Net net{ones({3, 4}), ones({4})};
  const Net g{random::normal(Key(0), {3, 4}), random::normal(Key(1), {4})};
  const ScaleByGalore t = scale_by_galore({.rank = 3});
  const ScaleByAdam adam = scale_by_adam();
  const auto a = t.update(g, t.init(net), net).first, b = adam.update(g, adam.init(net), net).first;
  EXPECT_TRUE(tree::equal(a, b));
}

TEST(Galore, MomentsAreSmall) {
  const GaloreState state = scale_by_galore({.rank = 4}).init(zeros({64, 32}));
  EXPECT_EQ(state.mu[0].shape(), (Shape{64, 4}));
  EXPECT_EQ(state.nu[0].shape(), (Shape{64, 4}));
  EXPECT_EQ(state.basis[0].shape(), (Shape{4, 32}));
}

// A gradient of lower rank than the subspace, and none at all, must not give NaN.
TEST(Galore, GradientsOfLowRank) {
  const ScaleByGalore t = scale_by_galore({.rank = 3});
  const Array w = zeros({8, 6});
  for (const Array& g : {zeros({8, 6}), ones({8, 6})}) {
    const auto [updates, state] = t.update(g, t.init(w), w);
    EXPECT_FALSE(any(isnan(updates)).item<bool>());
    EXPECT_FALSE(any(isnan(state.basis[0])).item<bool>());
  }
}

TEST(Galore, LearnsUnderJit) {
  const Array x = random::normal(Key(0), {64, 12}), truth = random::normal(Key(1), {12, 10});
  const Array y = matmul(x, truth);
  const auto loss = [&](const Array& w) { return mean(square(matmul(x, w) - y)); };
  const auto optimizer =
      galore({.learning_rate = 0.1, .rank = 4, .update_proj_gap = 10, .scale = 1});
  Array w = zeros({12, 10});
  auto state = optimizer.init(w);
  const auto step = jit([&](const Array& w, const auto& state) {
    const auto [updates, next] = optimizer.update(grad(loss)(w), state, w);
    return std::pair{apply_updates(w, updates), next};
  });
  const float before = loss(w).item<float>();
  for (int i = 0; i < 300; ++i) std::tie(w, state) = step(std::move(w), std::move(state));
  EXPECT_LT(loss(w).item<float>(), 0.01f * before);
  EXPECT_EQ(step.trace_count(), 1);
}

TEST(Galore, BadInput) {
  EXPECT_EQ(message([] { return scale_by_galore({.rank = 0}); }),
            "scale_by_galore: rank is 0, it must be within 1..2147483647");
  EXPECT_THROW(galore({.update_proj_gap = 0}), ValueError);
  EXPECT_THROW(galore({.scale = -1}), ValueError);
  const auto t = scale_by_galore({.rank = 2});
  const GaloreState state = t.init(ones({4, 4}));
  EXPECT_THROW(t.update(ones({5, 5}), state, ones({5, 5})), ShapeError);
  EXPECT_THROW(t.update(std::vector{ones({4, 4}), ones({4})}, state, ones({4, 4})), TreeError);
}

}  // namespace galore_test
}  // namespace spruce::optim
