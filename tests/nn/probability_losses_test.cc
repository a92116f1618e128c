// SPDX-License-Identifier: Apache-2.0
#include "spruce/nn/probability_losses.h"

#include <cmath>

#include "tests/nn/functional_cases.h"

namespace functional_cases {
namespace probability_losses_test {

TEST(ProbabilityLosses, BinaryCrossEntropyAsPyTorch) {
  check("binary_cross_entropy", 6, [](const Inputs& in, const Options& o) {
    return nn::binary_cross_entropy(sp::sigmoid(in[0]), sp::sigmoid(in[1]),
                                    {.weight = weight_of(o, in[0]), .reduction = o.reduction()});
  });
}

TEST(ProbabilityLosses, BinaryCrossEntropyAtTheEnds) {
  const Array x = sp::array({0.0f, 1.0f, 0.0f, 1.0f}), t = sp::array({1.0f, 0.0f, 0.0f, 1.0f});
  const auto loss = [&](const Array& x) {
    return sp::sum(nn::binary_cross_entropy(x, t, {.reduction = nn::Reduction::kNone}));
  };
  EXPECT_EQ(nn::binary_cross_entropy(x, t, {.reduction = nn::Reduction::kNone}).to_vector<float>(),
            (std::vector<float>{100, 100, 0, 0}));
  // As PyTorch: large, and of the right sign.
  EXPECT_EQ(sp::grad(loss)(x).to_vector<float>(), (std::vector<float>{-1e12f, 1e12f, 0, 0}));
  const auto wiggly = sp::grad([&](const Array& x) { return sp::sum(sp::grad(loss)(x)); });
  const Array inside = sp::array({0.25f, 0.5f, 0.75f, 0.5f});
  EXPECT_NEAR(wiggly(inside)[0].item<float>(), 16, 1e-4);  // of -log(x)
  EXPECT_NEAR(wiggly(inside)[1].item<float>(), 4, 1e-4);   // of -log(1 - x)
}

TEST(ProbabilityLosses, PoissonAndGaussianAsPyTorch) {
  check("poisson_nll_loss", 12, [](const Inputs& in, const Options& o) {
    const Array x = o.flag("log") ? in[0] : sp::square(in[0]);
    return nn::poisson_nll_loss(x, sp::abs(in[1]),
                                {.log_input = o.flag("log"),
                                 .full = o.flag("full"),
                                 .eps = 1e-2,
                                 .reduction = o.reduction()});
  });
  check("gaussian_nll_loss", 9, [](const Inputs& in, const Options& o) {
    return nn::gaussian_nll_loss(in[0], in[1], sp::square(in[2]) / 4,
                                 {.full = o.flag("full"), .eps = 0.5, .reduction = o.reduction()});
  });
}

TEST(ProbabilityLosses, FocalAsTorchvision) {
  check("sigmoid_focal_loss", 9, [](const Inputs& in, const Options& o) {
    return nn::sigmoid_focal_loss(
        in[0], (signs({4, 3}, in[0]) + 1) / 2,
        {.alpha = o.number("alpha"), .gamma = o.number("gamma"), .reduction = o.reduction()});
  });
}

TEST(ProbabilityLosses, DiceByItsFormula) {
  const Array p = sp::array({{0.5f, 0.25f}, {0.0f, 0.0f}}),
              t = sp::array({{1.0f, 0.0f}, {0.0f, 0.0f}});
  const Array each = nn::dice_loss(p, t, {.reduction = nn::Reduction::kNone});
  EXPECT_FLOAT_EQ(each[0].item<float>(), 1 - 2.0f / 2.75f);
  EXPECT_EQ(each[1].item<float>(), 0);
  EXPECT_FLOAT_EQ(nn::dice_loss(p, t).item<float>(), (1 - 2.0f / 2.75f) / 2);
  EXPECT_EQ(nn::dice_loss(t, t, {.smooth = 0.5}).item<float>(), 0);
  const auto one = [](const Array& p, const Array& t) { return nn::dice_loss(p, t); };
  const Array stacked = sp::stack({p, t});
  EXPECT_TRUE(sp::allclose(sp::jit(sp::vmap(one))(stacked, sp::stack({t, t})),
                           sp::stack({one(p, t), one(t, t)})));
}

TEST(ProbabilityLosses, DiceOfLargePicturesInHalfPrecision) {
  const Array p = sp::full({2, 300, 300}, 0.5, sp::float16), t = sp::ones({2, 300, 300});
  EXPECT_NEAR(nn::dice_loss(p, t).astype(sp::float32).item<float>(), 1.0f / 3, 1e-3);
}

TEST(ProbabilityLosses, GaussianOfLargeDifferencesInHalfPrecision) {
  const Array x = sp::zeros({8}, sp::float16).at(0).set(400), y = sp::zeros({8}, sp::float16);
  const Array loss = nn::gaussian_nll_loss(x, y, sp::ones({8}, sp::float16));
  EXPECT_EQ(loss.dtype(), sp::float16);
  EXPECT_EQ(loss.astype(sp::float32).item<float>(), 10000);
  EXPECT_EQ(nn::gaussian_nll_loss(x, y, sp::ones({8})).dtype(), sp::float32);
}

TEST(ProbabilityLosses, BadInput) {
  const Array x = sp::full({2, 3}, 0.5f), y = sp::ones({2, 2});
  EXPECT_THROW(nn::binary_cross_entropy(x, y), sp::ShapeError);
  EXPECT_THROW(nn::binary_cross_entropy(2.0f * sp::ones({2}), sp::ones({2})), sp::ValueError);
  EXPECT_THROW(nn::binary_cross_entropy(x, x, {.weight = y}), sp::ShapeError);
  EXPECT_THROW(nn::poisson_nll_loss(x, x, {.eps = -1}), sp::ValueError);
  EXPECT_THROW(nn::gaussian_nll_loss(x, x, y), sp::ShapeError);
  EXPECT_THROW(nn::gaussian_nll_loss(x, x, -x), sp::ValueError);
  EXPECT_THROW(nn::gaussian_nll_loss(x, x, x, {.eps = 0}), sp::ValueError);
  EXPECT_THROW(nn::sigmoid_focal_loss(x, x, {.gamma = -1}), sp::ValueError);
  EXPECT_THROW(nn::sigmoid_focal_loss(x, x, {.alpha = 2}), sp::ValueError);
  EXPECT_THROW(nn::dice_loss(sp::array(1.0f), sp::array(1.0f)), sp::ShapeError);
  EXPECT_THROW(nn::dice_loss(x, x, {.reduction = nn::Reduction::kBatchMean}), sp::ValueError);
}

}  // namespace probability_losses_test
}  // namespace functional_cases
