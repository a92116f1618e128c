// SPDX-License-Identifier: Apache-2.0
// Losses under Optax's names, against its numbers (make_optax_loss_cases.py).
#include <cmath>
#include <limits>
#include <sstream>

#include "spruce/nn/nn.h"
#include "tests/nn/functional_cases.h"

namespace functional_cases {
namespace optax_losses_test {

Array zero_or_one(const sp::Shape& shape, const Array& x) { return (signs(shape, x) + 1) / 2; }

// "1x2" are two axes.
sp::AxisArg axis_of(const Options& o) {
  std::vector<int64_t> axes;
  std::istringstream in(o.text("axis"));
  for (std::string axis; std::getline(in, axis, 'x');) axes.push_back(std::stoll(axis));
  return axes;
}

// The elements that count, where the case has some that do not.
Array where_of(const Options& o, const Array& x) {
  return o.has("where") && o.flag("where") ? torch_cases::wave(x.shape(), 1.9) > -1.0 : Array();
}

// The softmax over those axes, without a gradient in the cases in which Optax has none.
Array target_of(const Options& o, const Array& t) {
  const Array x = where_of(o, t).defined() ? sp::stop_gradient(t) : t;
  return sp::exp(x - sp::logsumexp(x, axis_of(o), {.keepdims = true}));
}

TEST(OptaxLosses, OfTwoClasses) {
  check("hinge_loss", 6, [](const Inputs& in, const Options& o) {
    return nn::hinge_loss(in[0], signs(in[0].shape(), in[0]), {.reduction = o.reduction()});
  });
  check("perceptron_loss", 6, [](const Inputs& in, const Options& o) {
    return nn::perceptron_loss(in[0], signs(in[0].shape(), in[0]), {.reduction = o.reduction()});
  });
  check("sparsemax_loss", 6, [](const Inputs& in, const Options& o) {
    return nn::sparsemax_loss(in[0], zero_or_one(in[0].shape(), in[0]),
                              {.reduction = o.reduction()});
  });
}

template <class F>
void check_classes(const char* name, const F& loss) {
  check(name, 6, [&](const Inputs& in, const Options& o) {
    return loss(o.number("scale") * in[0], sp::array({0, 2, 1, 2}), {.reduction = o.reduction()});
  });
}

TEST(OptaxLosses, OfSeveralClasses) {
  using nn::LossOptions;
  check_classes("multiclass_hinge_loss", [](const Array& x, const Array& t, const LossOptions& o) {
    return nn::multiclass_hinge_loss(x, t, o);
  });
  check_classes("multiclass_perceptron_loss",
                [](const Array& x, const Array& t, const LossOptions& o) {
                  return nn::multiclass_perceptron_loss(x, t, o);
                });
  check_classes("multiclass_sparsemax_loss",
                [](const Array& x, const Array& t, const LossOptions& o) {
                  return nn::multiclass_sparsemax_loss(x, t, o);
                });
  check("poly_loss_cross_entropy", 30, [](const Inputs& in, const Options& o) {
    return nn::poly_loss_cross_entropy(in[0], target_of(o, in[1]),
                                       {.epsilon = o.number("epsilon"),
                                        .axis = axis_of(o),
                                        .where = where_of(o, in[0]),
                                        .reduction = o.reduction()});
  });
  check("softmax_cross_entropy", 15, [](const Inputs& in, const Options& o) {
    return nn::softmax_cross_entropy(
        in[0], target_of(o, in[1]),
        {.axis = axis_of(o), .where = where_of(o, in[0]), .reduction = o.reduction()});
  });
}

// What does not count has no say, whatever it is, and where nothing counts the loss is that of no
// elements.
TEST(OptaxLosses, ElementsThatDoNotCountAreLeftOut) {
  const double infinity = std::numeric_limits<double>::infinity(),
               nan = std::numeric_limits<double>::quiet_NaN();
  const Array x = sp::array({{1.0, 2.0, infinity}, {-3.0, 0.5, nan}}, sp::float64);
  const Array t = sp::full({2, 3}, 0.5, sp::float64);
  const Array counts = sp::array({true, true, false});
  const Array seen = x[{sp::slice(), sp::slice(2)}], rest = t[{sp::slice(), sp::slice(2)}];
  const auto expect_same = [&](const auto& with, const auto& without) {
    EXPECT_TRUE(sp::allclose(with(x), without(seen), {.rtol = 1e-14}));
    const Array got = sp::grad(with)(x);
    EXPECT_TRUE(sp::allclose(got, sp::pad(sp::grad(without)(seen), {{0, 0}, {0, 1}}),
                             {.rtol = 1e-14, .atol = 1e-15}));
  };
  expect_same([&](const Array& x) { return nn::softmax_cross_entropy(x, t, {.where = counts}); },
              [&](const Array& x) { return nn::softmax_cross_entropy(x, rest); });
  expect_same([&](const Array& x) { return nn::poly_loss_cross_entropy(x, t, {.where = counts}); },
              [&](const Array& x) { return nn::poly_loss_cross_entropy(x, rest); });
  expect_same(
      [&](const Array& x) { return nn::generalized_kl_divergence(x, t, {.where = counts}); },
      [&](const Array& x) { return nn::generalized_kl_divergence(x, rest); });
  expect_same([&](const Array& x) { return nn::cosine_distance(x, t, {.where = counts}); },
              [&](const Array& x) { return nn::cosine_distance(x, rest); });
  const Array none = sp::array({false, false, false});
  const auto expect_value = [&](float value, const auto& loss) {
    EXPECT_EQ(loss(x).template item<double>(), value);
    EXPECT_TRUE(sp::all(sp::grad(loss)(x) == 0.0).template item<bool>());
  };
  expect_value(0, [&](const Array& x) { return nn::softmax_cross_entropy(x, t, {.where = none}); });
  expect_value(
      0, [&](const Array& x) { return nn::generalized_kl_divergence(x, t, {.where = none}); });
  expect_value(1, [&](const Array& x) {
    return nn::cosine_distance(x, t, {.epsilon = 0.5, .where = none});
  });
}

TEST(OptaxLosses, TheGradientOfSparsemaxIsThatOfItsDefinition) {
  const Array x = sp::array({{0.5, 0.25, -3.0}, {2.0, 0.0, 0.0}}), t = sp::array({1, 0});
  const auto loss = [&](const Array& x) {
    return nn::multiclass_sparsemax_loss(x, t, {.reduction = nn::Reduction::kSum});
  };
  const Array p = sp::array({{0.625, 0.375, 0.0}, {1.0, 0.0, 0.0}});
  const Array truth = sp::array({{0.0, 1.0, 0.0}, {1.0, 0.0, 0.0}});
  EXPECT_TRUE(sp::allclose(sp::grad(loss)(x), p - truth, {.rtol = 0, .atol = 1e-15}));
  // On the support the projection takes the mean away: the Hessian of two elements is I - 1/2.
  const Array along = sp::array({{1.0, 0.0, 5.0}, {3.0, 1.0, 1.0}});
  const Array second = sp::array({{0.5, -0.5, 0.0}, {0.0, 0.0, 0.0}});
  EXPECT_TRUE(sp::allclose(sp::hvp(loss, x, along), second, {.rtol = 0, .atol = 1e-15}));
}

TEST(OptaxLosses, Divergences) {
  const auto options = [](const Options& o, const Array& x) {
    return nn::DivergenceOptions{
        .axis = axis_of(o), .where = where_of(o, x), .reduction = o.reduction()};
  };
  check("generalized_kl_divergence", 18, [&](const Inputs& in, const Options& o) {
    return nn::generalized_kl_divergence(in[0] / 4, sp::square(in[1]) / 4, options(o, in[0]));
  });
  check("convex_kl_divergence", 6, [&](const Inputs& in, const Options& o) {
    return nn::convex_kl_divergence(in[0] / 4, sp::square(in[1]) / 4, options(o, in[0]));
  });
  const auto of_zero = [](const Array& t) {
    return nn::generalized_kl_divergence(sp::zeros({2}), t);
  };
  EXPECT_EQ(of_zero(sp::array({0.0f, 1.0f})).item<float>(), 1);
  EXPECT_TRUE(sp::all(sp::isfinite(sp::grad(of_zero)(sp::array({0.0f, 1.0f})))).item<bool>());
}

TEST(OptaxLosses, Distances) {
  check("log_cosh", 3, [](const Inputs& in, const Options& o) {
    return nn::log_cosh(in[0], in[1], {.reduction = o.reduction()});
  });
  check("cosine_distance", 24, [](const Inputs& in, const Options& o) {
    return nn::cosine_distance(in[0], in[1],
                               {.epsilon = o.number("epsilon"),
                                .axis = axis_of(o),
                                .where = where_of(o, in[0]),
                                .reduction = o.reduction()});
  });
  const Array far = sp::array({1e30f}), zero = sp::zeros({1});
  EXPECT_EQ(nn::log_cosh(far, zero).item<float>(), 1e30f);
}

TEST(OptaxLosses, FenchelYoung) {
  check("fenchel_young", 18, [](const Inputs& in, const Options& o) {
    const auto loss = nn::make_fenchel_young_loss([&](const Array& x) {
      return o.text("max") == "squares" ? sp::sum(sp::square(x)) / 2 : sp::logsumexp(x);
    });
    return loss(in[0], in[1], {.reduction = o.reduction()});
  });
  const auto vector = nn::make_fenchel_young_loss([](const Array& x) { return 2 * x; });
  expect_error<sp::ShapeError>(
      [&] {
        vector(sp::ones({2, 3}), sp::ones({2, 3}));
      },
      "make_fenchel_young_loss: the function gives f32[2,3]");
}

TEST(OptaxLosses, Ranking) {
  check("ranking_softmax_loss", 12, [](const Inputs& in, const Options& o) {
    Array where = torch_cases::wave({4, 3}, 1.9) > -2.5;
    where = where & (sp::expand_dims(sp::arange(4), 1) != 2);
    return nn::ranking_softmax_loss(
        in[0], in[1],
        {.where = o.flag("where") ? where : Array(),
         .weights = o.flag("weights") ? sp::array({0.5, 2.0, 1.25}, in[0].dtype()) : Array(),
         .reduction = o.reduction()});
  });
  const Array none = sp::zeros({2, 3}, sp::bool_), x = sp::ones({2, 3});
  EXPECT_EQ(nn::ranking_softmax_loss(x, x, {.where = none}).item<float>(), 0);
}

TEST(OptaxLosses, Segmentation) {
  check("binary_dice_loss", 18, [](const Inputs& in, const Options& o) {
    return nn::binary_dice_loss(in[0], zero_or_one(in[0].shape(), in[0]),
                                {.smooth = o.number("smooth"), .reduction = o.reduction()});
  });
  check("multiclass_generalized_dice_loss", 12, [](const Inputs& in, const Options& o) {
    const Array target = sp::abs(torch_cases::wave(in[0].shape(), 0.4)).astype(in[0].dtype());
    return nn::multiclass_generalized_dice_loss(
        in[0], target, {.smooth = o.number("smooth"), .ignore_background = o.flag("ignore")});
  });
  // Probabilities are those of the logits.
  const Array x = torch_cases::wave({2, 3, 4}, 0.7), t = zero_or_one({2, 3, 4}, x);
  EXPECT_TRUE(sp::allclose(nn::binary_dice_loss(nn::sigmoid(x), t, {.apply_sigmoid = false}),
                           nn::binary_dice_loss(x, t)));
  EXPECT_TRUE(sp::allclose(
      nn::multiclass_generalized_dice_loss(nn::softmax(x), t, {.apply_softmax = false}),
      nn::multiclass_generalized_dice_loss(x, t)));
}

TEST(OptaxLosses, Ntxent) {
  check("ntxent", 6, [](const Inputs& in, const Options& o) {
    const sp::Shape labels = list_of(o, "labels");
    std::vector<int32_t> target(labels.begin(), labels.end());
    return nn::ntxent(in[0], sp::array(target), {.temperature = o.number("temperature")});
  });
}

TEST(OptaxLosses, CtcWithForwardProbs) {
  const Array labels = sp::array({{1, 1, 2}, {2, 1, 3}, {3, 3, 3}, {1, 2, 3}});
  const Array label_paddings = sp::array({{0, 0, 0}, {0, 0, 1}, {0, 0, 0}, {1, 1, 1}});
  const Array steps = sp::array({{6}, {5}, {6}, {4}});
  check("ctc_loss_with_forward_probs", 6, [&](const Inputs& in, const Options& o) {
    const int64_t blank = o.integer("blank");
    const nn::CtcForward found = nn::ctc_loss_with_forward_probs(
        in[0], sp::arange(6) >= steps, blank == 3 ? sp::remainder(labels - 1, 3) : labels,
        label_paddings, {.blank_id = blank, .log_epsilon = -50});
    const int64_t part = o.integer("part");
    return part == 0 ? found.losses : part == 1 ? found.log_alpha_blank : found.log_alpha_label;
  });
  // The losses are those of ctc_loss.
  const Array x = torch_cases::wave({4, 6, 4}, 0.7);
  const Array by_lengths =
      nn::ctc_loss(sp::swapaxes(nn::log_softmax(x), 0, 1), labels, sp::array({6, 5, 6, 4}),
                   sp::array({3, 2, 3, 0}), {.reduction = nn::Reduction::kNone});
  EXPECT_TRUE(sp::allclose(
      nn::ctc_loss_with_forward_probs(x, sp::arange(6) >= steps, labels, label_paddings).losses,
      by_lengths, {.rtol = 1e-12}));
}

TEST(OptaxLosses, BadInput) {
  const Array x = sp::ones({2, 3}), labels = sp::array({0, 3});
  expect_error<sp::ShapeError>([&] { nn::hinge_loss(x, sp::ones({3})); }, "hinge_loss: input is");
  expect_error<sp::IndexError>([&] { nn::multiclass_hinge_loss(x, labels); },
                               "multiclass_hinge_loss: the target holds class 3");
  EXPECT_TRUE(sp::isnan(sp::jit([](const Array& x, const Array& t) {
                return nn::multiclass_sparsemax_loss(x, t);
              })(x, labels))
                  .item<bool>());
  expect_error<sp::DtypeError>([&] { nn::multiclass_perceptron_loss(x, sp::ones({2})); },
                               "multiclass_perceptron_loss: classes must be integers");
  expect_error<sp::ValueError>([&] { nn::ntxent(x, labels, {.temperature = 0}); },
                               "ntxent: temperature is 0, it must be positive");
  expect_error<sp::ShapeError>([&] { nn::ntxent(x, sp::array({1})); }, "ntxent: input is f32[2,3]");
  expect_error<sp::DtypeError>([&] { nn::ranking_softmax_loss(x, x, {.where = x}); },
                               "ranking_softmax_loss: where is f32[2,3], it must be bool");
  expect_error<sp::ShapeError>(
      [&] { nn::softmax_cross_entropy(x, x, {.where = sp::ones({2}, sp::bool_)}); },
      "softmax_cross_entropy: where is bool[2], it must broadcast to the input");
  expect_error<sp::ValueError>([&] { nn::binary_dice_loss(x, x, {.smooth = -1}); },
                               "binary_dice_loss: smooth is -1");
  const Array logits = sp::ones({1, 2, 3}), none = sp::zeros({1, 2});
  expect_error<sp::ValueError>(
      [&] {
        nn::ctc_loss_with_forward_probs(logits, none, sp::array({{1, 2}}), none, {.blank_id = 3});
      },
      "ctc_loss_with_forward_probs: blank_id is 3");
  expect_error<sp::IndexError>(
      [&] {
        nn::ctc_loss_with_forward_probs(logits, none, sp::array({{1, 7}}), none);
      },
      "ctc_loss_with_forward_probs: the labels hold class 7");
}

// Sums of more than 65504, squares of more than 256.
TEST(OptaxLosses, OfHalfPrecisionSumInF32) {
  const auto near = [](const Array& loss, double want) {
    EXPECT_EQ(loss.dtype(), sp::float16);
    EXPECT_NEAR(loss.astype(sp::float32).item<float>(), want, 2e-3);
  };
  const Array p = sp::full({1, 300, 300}, 0.5, sp::float16), t = sp::ones({1, 300, 300});
  near(nn::binary_dice_loss(p, t, {.apply_sigmoid = false}), 1.0 / 3);
  const Array image = sp::full({1, 90000, 2}, 0.5, sp::float16);
  near(nn::multiclass_generalized_dice_loss(image, sp::ones(image.shape()),
                                            {.apply_softmax = false}),
       1.0 / 3);
  const Array x = sp::full({2, 20}, 300, sp::float16);
  near(nn::cosine_distance(x, x), 0);
  const Array lists = sp::zeros({70000, 2}, sp::float16);
  near(nn::ranking_softmax_loss(lists, sp::array({1.0f, 0.0f}) + sp::zeros({70000, 2})),
       std::log(2.0));
}

}  // namespace optax_losses_test
}  // namespace functional_cases
