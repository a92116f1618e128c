// SPDX-License-Identifier: Apache-2.0
#include "spruce/nn/margin_losses.h"

#include <cmath>

#include "tests/nn/functional_cases.h"

namespace functional_cases {
namespace margin_losses_test {

TEST(MarginLosses, OfPairsAsPyTorch) {
  check("hinge_embedding_loss", 6, [](const Inputs& in, const Options& o) {
    return nn::hinge_embedding_loss(in[0], signs({4, 3}, in[0]),
                                    {.margin = o.number("margin"), .reduction = o.reduction()});
  });
  check("margin_ranking_loss", 6, [](const Inputs& in, const Options& o) {
    return nn::margin_ranking_loss(in[0], in[1], signs({5}, in[0]),
                                   {.margin = o.number("margin"), .reduction = o.reduction()});
  });
  check("cosine_embedding_loss", 12, [](const Inputs& in, const Options& o) {
    const sp::Shape shape = in[0].rank() == 2 ? sp::Shape{4} : sp::Shape{};
    return nn::cosine_embedding_loss(in[0], in[1], signs(shape, in[0]),
                                     {.margin = o.number("margin"), .reduction = o.reduction()});
  });
  check("soft_margin_loss", 3, [](const Inputs& in, const Options& o) {
    return nn::soft_margin_loss(in[0], signs({4, 3}, in[0]), {.reduction = o.reduction()});
  });
}

// As PyTorch 2.15.
TEST(MarginLosses, NoGradientWhereTheMarginIsJustReached) {
  const Array one = sp::ones({1}), zero = sp::zeros({1}), none = sp::zeros({1, 2});
  const auto gradient = [](const auto& f, const Array& x) { return sp::any(sp::grad(f)(x) != 0); };
  EXPECT_FALSE(gradient([&](const Array& x) { return nn::hinge_embedding_loss(x, -one); }, one)
                   .item<bool>());
  const auto ranked = [&](const Array& x) {
    return nn::margin_ranking_loss(x, zero, one, {.margin = 1});
  };
  EXPECT_FALSE(gradient(ranked, one).item<bool>());
  const auto cosine = [&](const Array& x) {
    return nn::cosine_embedding_loss(x, sp::ones({1, 2}), -one);
  };
  EXPECT_FALSE(gradient(cosine, none).item<bool>());
  const auto triplet = [](const Array& x) {
    return nn::triplet_margin_loss(x, sp::array({{0.0f, 1.0f}}), sp::array({{0.0f, 2.0f}}),
                                   {.eps = 0});
  };
  EXPECT_FALSE(gradient(triplet, none).item<bool>());
}

TEST(MarginLosses, OfHalfPrecisionSumInF32) {
  const Array x = sp::full({1, 20}, 100, sp::float16), one = sp::ones({1});
  EXPECT_NEAR(nn::cosine_embedding_loss(x, x, -one).astype(sp::float32).item<float>(), 1, 1e-3);
  const Array many = sp::zeros({1, 70000}, sp::float16);
  EXPECT_EQ(nn::multi_margin_loss(many, sp::array({0})).astype(sp::float32).item<float>(), 1);
}

TEST(MarginLosses, OfTripletsAsPyTorch) {
  check("triplet_margin_loss", 24, [](const Inputs& in, const Options& o) {
    return nn::triplet_margin_loss(in[0], in[1], in[2],
                                   {.margin = o.number("margin"),
                                    .p = o.number("p"),
                                    .swap = o.flag("swap"),
                                    .reduction = o.reduction()});
  });
  check("triplet_margin_with_distance_loss", 12, [](const Inputs& in, const Options& o) {
    const auto distance = [](const Array& a, const Array& b) {
      return sp::sum(sp::abs(a - b), -1);
    };
    return nn::triplet_margin_with_distance_loss(in[0], in[1], in[2],
                                                 {.distance_function = distance,
                                                  .margin = o.number("margin"),
                                                  .swap = o.flag("swap"),
                                                  .reduction = o.reduction()});
  });
  const Array a = torch_cases::wave({4, 3}, 0.7), b = torch_cases::wave({4, 3}, 0.4);
  EXPECT_TRUE(sp::array_equal(nn::triplet_margin_with_distance_loss(a, b, a),
                              nn::triplet_margin_loss(a, b, a)));
}

TEST(MarginLosses, OfClassesAsPyTorch) {
  check("multi_margin_loss", 27, [](const Inputs& in, const Options& o) {
    const Array target = in[0].rank() == 2 ? sp::array({0, 2, 1, 2}) : sp::array(1);
    const nn::MultiMarginOptions options{.p = o.integer("p"),
                                         .margin = o.number("margin"),
                                         .weight = weight_of(o, in[0]),
                                         .reduction = o.reduction()};
    return nn::multi_margin_loss(in[0], target, options);
  });
  check("multilabel_margin_loss", 6, [](const Inputs& in, const Options& o) {
    const Array classes = sp::array({{3, 0, -1, 1}, {2, -1, -1, -1}, {0, 1, 2, 3}, {-1, 1, 1, 1}});
    return nn::multilabel_margin_loss(in[0], in[0].rank() == 2 ? classes : classes[0],
                                      {.reduction = o.reduction()});
  });
  check("multilabel_soft_margin_loss", 6, [](const Inputs& in, const Options& o) {
    return nn::multilabel_soft_margin_loss(
        in[0], (signs({4, 3}, in[0]) + 1) / 2,
        {.weight = weight_of(o, in[0]), .reduction = o.reduction()});
  });
}

TEST(MarginLosses, BadInput) {
  const Array x = sp::ones({2, 3}), y = sp::ones({2, 2}), i = sp::array({0, 2});
  EXPECT_THROW(nn::hinge_embedding_loss(x, y), sp::ShapeError);
  EXPECT_THROW(nn::margin_ranking_loss(x, y, x), sp::ShapeError);
  EXPECT_THROW(nn::margin_ranking_loss(x, x, y), sp::ShapeError);
  EXPECT_THROW(nn::cosine_embedding_loss(x, x, x), sp::ShapeError);
  EXPECT_THROW(nn::triplet_margin_loss(x, x, sp::ones({3})), sp::ShapeError);
  EXPECT_THROW(nn::soft_margin_loss(x, y), sp::ShapeError);
  EXPECT_THROW(nn::multi_margin_loss(x, i, {.p = 3}), sp::ValueError);
  EXPECT_THROW(nn::multi_margin_loss(x, sp::ones({2})), sp::DtypeError);
  EXPECT_THROW(nn::multi_margin_loss(x, sp::array({0, 3})), sp::IndexError);
  EXPECT_THROW(nn::multi_margin_loss(x, i, {.weight = sp::ones({2})}), sp::ShapeError);
  EXPECT_THROW(nn::multilabel_margin_loss(x, i), sp::ShapeError);
  EXPECT_THROW(nn::multilabel_soft_margin_loss(x, y), sp::ShapeError);
  // A class that is not known is NaN, of its example alone.
  const auto unknown = [&](const Array& target) {
    return nn::multi_margin_loss(x, target, {.reduction = nn::Reduction::kNone});
  };
  const std::vector<float> losses = sp::jit(unknown)(sp::array({0, 3})).to_vector<float>();
  EXPECT_FALSE(std::isnan(losses[0]));
  EXPECT_TRUE(std::isnan(losses[1]));
}

}  // namespace margin_losses_test
}  // namespace functional_cases
