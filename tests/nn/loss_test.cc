// SPDX-License-Identifier: Apache-2.0
#include "spruce/nn/loss.h"

#include <cmath>
#include <limits>
#include <numbers>

#include "tests/nn/torch_cases.h"

namespace torch_cases {
namespace loss_test {

Array weight_of(const Options& o) {
  return o.flag("weight") ? sp::array({0.5, 2.0, 1.25}, sp::float64) : Array();
}

Array target_of(const Array& x) {
  if (x.rank() == 1) return sp::array(1);
  return x.rank() == 2 ? sp::array({0, 2, 1, 2}) : sp::array({{0, 2}, {1, 2}});
}

// nll_loss or cross_entropy with the target of the case, known or traced.
template <class Options_, class F>
Function of_indices(const F& f) {
  return [f](const Array& x, const Options& o) {
    Options_ options;
    options.weight = weight_of(o);
    options.ignore_index = o.integer("ignore");
    options.reduction = o.reduction();
    if constexpr (std::is_same_v<Options_, nn::CrossEntropyOptions>) {
      options.label_smoothing = o.number("smooth");
    }
    const Array known = f(x, target_of(x), options);
    if (x.is_tracer()) return known;
    // The same with labels whose values are not known.
    const auto traced = [&](const Array& target) { return f(x, target, options); };
    const Array other = sp::jit(traced)(target_of(x));
    EXPECT_TRUE(sp::allclose(other, known, {.rtol = 1e-12, .equal_nan = true}));
    return known;
  };
}

TEST(Loss, CrossEntropyWithEveryOption) {
  const auto f = [](const Array& x, const Array& t, const nn::CrossEntropyOptions& o) {
    return nn::cross_entropy(x, t, o);
  };
  check("cross_entropy", 108, of_indices<nn::CrossEntropyOptions>(f));
}

TEST(Loss, NllWithEveryOption) {
  const auto f = [](const Array& x, const Array& t, const nn::NllOptions& o) {
    return nn::nll_loss(x, t, o);
  };
  check("nll_loss", 36, of_indices<nn::NllOptions>(f));
}

TEST(Loss, HuberSmoothL1AndKlDiv) {
  check("huber", 9, [](const Array& x, const Options& o) {
    const Array target = sp::full(x.shape(), 0.25, x.dtype());
    return nn::huber_loss(x, target, {.reduction = o.reduction(), .delta = o.number("d")});
  });
  check("smooth_l1", 9, [](const Array& x, const Options& o) {
    const Array target = sp::full(x.shape(), 0.25, x.dtype());
    return nn::smooth_l1_loss(x, target, {.reduction = o.reduction(), .beta = o.number("d")});
  });
  check("kl_div", 8, [](const Array& x, const Options& o) {
    const double odd = o.flag("log") ? -1 : 0;
    const Array target = sp::abs(wave({3, 2}, 0.4)).at(1, 1).set(odd).astype(x.dtype());
    return nn::kl_div(x, target, {.reduction = o.reduction(), .log_target = o.flag("log")});
  });
  const Array x = sp::ones({2});
  EXPECT_EQ(nn::huber_loss(x, 3.0f * x).item<float>(), 1.5f);
  EXPECT_EQ(nn::smooth_l1_loss(x, 3.0f * x).item<float>(), 1.5f);
  EXPECT_EQ(nn::kl_div(x, x).item<float>(), -1.0f);
  EXPECT_THROW(nn::huber_loss(x, x, {.delta = 0}), sp::ValueError);
  EXPECT_THROW(nn::smooth_l1_loss(x, x, {.beta = -1}), sp::ValueError);
  EXPECT_THROW(nn::kl_div(x, sp::ones({1})), sp::ShapeError);
  EXPECT_THROW(nn::mse_loss(x, x, {nn::Reduction::kBatchMean}), sp::ValueError);
}

TEST(Loss, CrossEntropyOfProbabilities) {
  check("soft_cross_entropy", 36, [](const Array& x, const Options& o) {
    const Array target = sp::abs(wave(x.shape(), 0.4)).astype(x.dtype());
    return nn::cross_entropy(x, target,
                             {.weight = weight_of(o),
                              .reduction = o.reduction(),
                              .label_smoothing = o.number("smooth")});
  });
}

TEST(Loss, BinaryCrossEntropy) {
  check("bce", 12, [](const Array& x, const Options& o) {
    nn::BceOptions options{.weight = weight_of(o), .reduction = o.reduction()};
    if (options.weight.defined()) options.weight = options.weight.astype(x.dtype());
    if (o.flag("pos")) options.pos_weight = sp::array({2.0, 0.5, 0.8}, x.dtype());
    const Array target = sp::array({{0.0, 1.0, 0.25}, {1.0, 0.0, 1.0}}, x.dtype());
    return nn::bce_with_logits(x, target, options);
  });
}

// The derivative is sigmoid(x) - target.
TEST(Loss, BinaryCrossEntropyOfConfidentInputsKeepsItsDerivative) {
  const auto slope = [](double x, double target, sp::Dtype dtype) {
    const auto f = [&](const Array& a) { return nn::bce_with_logits(a, sp::array(target, dtype)); };
    return sp::grad(f)(sp::array(x, dtype)).item<double>();
  };
  const double share = 1 / (1 + std::exp(8.0));
  for (const sp::Dtype dtype : {sp::bfloat16, sp::float16, sp::float32}) {
    const double digits = dtype == sp::float32 ? 1e-6 : 1e-2;
    EXPECT_NEAR(slope(-8, 0, dtype), share, digits * share);
    EXPECT_NEAR(slope(8, 1, dtype), -share, digits * share);
  }
}

TEST(Loss, CurvatureWhereInputMeetsTarget) {
  const Array zero = sp::array(0.0, sp::float64), target = sp::array(1.0, sp::float64);
  const auto curvature = [&](const auto& f) {
    return sp::grad(sp::grad([&](const Array& x) { return f(x); }))(zero).template item<double>();
  };
  EXPECT_NEAR(curvature([&](const Array& x) { return nn::bce_with_logits(x, target); }), 0.25,
              1e-15);
  EXPECT_EQ(curvature([&](const Array& x) { return nn::huber_loss(x, zero); }), 1);
  EXPECT_EQ(curvature([&](const Array& x) { return nn::huber_loss(x, zero, {.delta = 0.1}); }), 1);
  EXPECT_EQ(curvature([&](const Array& x) { return nn::smooth_l1_loss(x, zero, {.beta = 0.5}); }),
            2);
}

TEST(Loss, SquaredAndAbsolute) {
  check("mse", 3, [](const Array& x, const Options& o) {
    return nn::mse_loss(x, sp::ones({2, 3}, x.dtype()), {.reduction = o.reduction()});
  });
  check("l1", 3, [](const Array& x, const Options& o) {
    return nn::l1_loss(x, sp::ones({2, 3}, x.dtype()), {.reduction = o.reduction()});
  });
}

TEST(Loss, VmapOfOneExampleIsTheBatch) {
  const Array x = wave({4, 3}, 0.7), y = sp::array({0, 2, 1, 2});
  const auto one = [](const Array& x, const Array& y) {
    return nn::cross_entropy(x, y, {.label_smoothing = 0.1});
  };
  const Array batch =
      nn::cross_entropy(x, y, {.reduction = nn::Reduction::kNone, .label_smoothing = 0.1});
  EXPECT_TRUE(sp::allclose(sp::vmap(one)(x, y), batch));
  EXPECT_TRUE(sp::allclose(sp::jit(sp::vmap(one))(x, y), batch));
  const Array shared = sp::vmap(one, {.in_axes = {0, sp::none}})(x, sp::array(2));
  EXPECT_NEAR(shared[0].item<double>(), one(x[0], sp::array(2)).item<double>(), 1e-12);
}

TEST(Loss, IgnoredExamplesCountForNothingWhateverTheyHold) {
  const float inf = std::numeric_limits<float>::infinity();
  const Array logs = sp::array({{-inf, -0.5f}, {-1.0f, -2.0f}});
  const Array y = sp::array({-100, 0});
  EXPECT_EQ(nn::nll_loss(logs, y).item<float>(), 1);
  EXPECT_EQ(nn::nll_loss(logs, y, {.reduction = nn::Reduction::kNone}).to_vector<float>(),
            (std::vector<float>{0, 1}));
  const Array all = sp::array({-100, -100});
  EXPECT_TRUE(std::isnan(nn::nll_loss(logs, all).item<float>()));
  EXPECT_EQ(nn::nll_loss(logs, all, {.reduction = nn::Reduction::kSum}).item<float>(), 0);
}

TEST(Loss, LabelsOfEveryIntegerType) {
  const Array x = wave({3, 4}, 0.7);
  const Array expected = nn::cross_entropy(x, sp::array({1, 3, 0}));
  for (const sp::Dtype dtype : {sp::int8, sp::int16, sp::int64, sp::uint8, sp::uint32}) {
    const Array y = sp::astype(sp::array({1, 3, 0}), dtype);
    EXPECT_TRUE(sp::array_equal(nn::cross_entropy(x, y), expected)) << y;
    // 257 is no label of eight bits, though it has the low bits of 1.
    const auto f = [&](const Array& y) { return nn::cross_entropy(x, y, {.ignore_index = 257}); };
    EXPECT_TRUE(sp::allclose(sp::jit(f)(y), expected)) << y;
  }
}

// f16 holds no count above 65504.
TEST(Loss, ManyExamplesInHalfPrecision) {
  const Array x = sp::ones({70000, 2}, sp::float16), y = sp::zeros({70000}, sp::int32);
  const auto near = [](const Array& loss, double want) {
    EXPECT_EQ(loss.dtype(), sp::float16);
    EXPECT_NEAR(loss.astype(sp::float32).item<float>(), want, 1e-3);
  };
  for (const double smoothing : {0.0, 0.1}) {
    const auto f = [&](const Array& x, const Array& y) {
      return nn::cross_entropy(x, y, {.label_smoothing = smoothing});
    };
    near(sp::jit(f)(x, y), std::numbers::ln2);
    EXPECT_TRUE(sp::array_equal(sp::jit(sp::grad(f))(x, y), sp::grad(f)(x, y)));
    near(f(x, y.at(0).set(-100)), std::numbers::ln2);
  }
  near(nn::nll_loss(x, y, {.weight = sp::ones({2})}), -1);
  const Array ones = sp::ones({70000}, sp::float16);
  near(nn::kl_div(-ones, ones, {.reduction = nn::Reduction::kBatchMean}), 1);
}

// 400^2 is too large for f16, its mean over 8 is not.
TEST(Loss, LargeDifferencesInHalfPrecision) {
  const Array x = sp::zeros({8}, sp::float16).at(0).set(400), y = sp::zeros({8}, sp::float16);
  const auto f = [](const Array& x, const Array& y) { return nn::mse_loss(x, y); };
  EXPECT_EQ(f(x, y).dtype(), sp::float16);
  EXPECT_EQ(f(x, y).astype(sp::float32).item<float>(), 20000);
  EXPECT_EQ(sp::jit(sp::grad(f))(x, y)[0].astype(sp::float32).item<float>(), 100);
  EXPECT_EQ(f(x, y.astype(sp::float32)).dtype(), sp::float32);
  EXPECT_EQ(nn::mse_loss(x[0], 0.0f, {.reduction = nn::Reduction::kSum}).dtype(), sp::float16);
}

TEST(Loss, BadTargets) {
  const Array x = sp::ones({2, 3});
  EXPECT_THROW(nn::cross_entropy(x, sp::array({0, 3})), sp::IndexError);
  EXPECT_THROW(nn::cross_entropy(x, sp::array({0, -1})), sp::IndexError);
  EXPECT_THROW(nn::cross_entropy(x, sp::array({0, 1, 2})), sp::ShapeError);
  EXPECT_THROW(nn::cross_entropy(x, sp::ones({2})), sp::ShapeError);
  EXPECT_THROW(nn::cross_entropy(x, sp::array({true, false})), sp::DtypeError);
  EXPECT_THROW(nn::cross_entropy(sp::array({{1, 2}}), sp::array({0})), sp::DtypeError);
  EXPECT_THROW(nn::cross_entropy(x, sp::array({0, 1}), {.weight = sp::ones({2})}), sp::ShapeError);
  EXPECT_THROW(nn::cross_entropy(x, sp::array({0, 1}), {.label_smoothing = 2}), sp::ValueError);
  try {
    nn::nll_loss(x[0], sp::full({}, sp::array(uint64_t{1} << 63), sp::uint64));
    ADD_FAILURE() << "no error";
  } catch (const sp::IndexError& e) {
    EXPECT_NE(std::string(e.what()).find("class 9223372036854775808,"), std::string::npos);
  }
  EXPECT_THROW(nn::mse_loss(x, sp::ones({3})), sp::ShapeError);
  EXPECT_THROW(nn::bce_with_logits(x, sp::ones({2, 1})), sp::ShapeError);
}

}  // namespace loss_test
}  // namespace torch_cases
