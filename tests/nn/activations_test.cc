// SPDX-License-Identifier: Apache-2.0
#include "spruce/nn/activations.h"

#include <functional>

#include "tests/nn/torch_cases.h"

namespace torch_cases {
namespace activations_test {

template <class F, class... O>
void check_activation(const std::string& name, const F& f, const O&... options) {
  check(name, 1, [&](const Array& x, const Options&) { return f(x, options...); });
}

TEST(Activations, ValuesAndGradientsAtKinksAreThoseOfPyTorch) {
  check_activation("relu", nn::relu);
  check_activation("relu6", nn::relu6);
  check_activation("sigmoid", nn::sigmoid);
  check_activation("tanh", nn::tanh);
  check_activation("silu", nn::silu);
  check_activation("mish", nn::mish);
  check_activation("selu", nn::selu);
  check_activation("hardsigmoid", nn::hardsigmoid);
  check_activation("hardswish", nn::hardswish);
  check_activation("softsign", nn::softsign);
  check_activation("logsigmoid", nn::logsigmoid);
  check_activation("tanhshrink", nn::tanhshrink);
  check_activation("gelu", nn::gelu);
  check_activation("gelu_tanh", nn::gelu,
                   nn::GeluOptions{.approximate = nn::GeluApproximation::kTanh});
  check_activation("elu", nn::elu);
  check_activation("elu_2", nn::elu, nn::EluOptions{.alpha = 2});
  check_activation("celu", nn::celu);
  check_activation("celu_2", nn::celu, nn::EluOptions{.alpha = 2});
  check_activation("leaky_relu", nn::leaky_relu);
  check_activation("leaky_relu_2", nn::leaky_relu, nn::LeakyReluOptions{.negative_slope = 0.2});
  check_activation("hardtanh", nn::hardtanh);
  check_activation("hardtanh_3", nn::hardtanh, nn::HardtanhOptions{.min_val = -3, .max_val = 0.5});
  check_activation("softplus", nn::softplus);
  check_activation("softplus_2", nn::softplus, nn::SoftplusOptions{.beta = 2, .threshold = 1});
  check_activation("hardshrink", nn::hardshrink);
  check_activation("hardshrink_0", nn::hardshrink, nn::ShrinkOptions{.lambd = 0});
  check_activation("softshrink", nn::softshrink);
  check_activation("softshrink_1", nn::softshrink, nn::ShrinkOptions{.lambd = 1});
}

double second_derivative_at_zero(const auto& f) {
  const auto slope = sp::grad([&](const Array& x) { return f(x); });
  return sp::grad(slope)(sp::array(0.0, sp::float64)).template item<double>();
}

// Where the formula has a kink and the function has none.
TEST(Activations, SecondDerivativesOfSmoothOnesAtZero) {
  EXPECT_NEAR(second_derivative_at_zero(nn::softplus), 0.25, 1e-15);
  EXPECT_NEAR(
      second_derivative_at_zero([](const Array& x) { return nn::softplus(x, {.beta = 2}); }), 0.5,
      1e-15);
  EXPECT_NEAR(second_derivative_at_zero(nn::logsigmoid), -0.25, 1e-15);
  // 2 d tanh(softplus) at 0: (1 - tanh(log 2)^2) with tanh(log 2) = 3/5.
  EXPECT_NEAR(second_derivative_at_zero(nn::mish), 0.64, 1e-15);
  EXPECT_NEAR(second_derivative_at_zero(nn::silu), 0.5, 1e-15);
}

TEST(Activations, SoftmaxOverEveryAxis) {
  const auto along = [](const auto& f) {
    return [&f](const Array& x, const Options& o) { return f(x, {.dim = o.integer("dim")}); };
  };
  check("softmax", 5, along(nn::softmax));
  check("log_softmax", 5, along(nn::log_softmax));
  check("softmin", 5, along(nn::softmin));
}

TEST(Activations, HugeInputsStayFinite) {
  const Array x = sp::array({-1e30f, -1000.0f, 1000.0f, 1e30f});
  const std::function<Array(const Array&)> all[] = {nn::sigmoid, nn::tanh,     nn::silu,
                                                    nn::mish,    nn::softsign, nn::logsigmoid};
  for (const auto& f : all) {
    const auto total = [&](const Array& x) { return sp::sum(f(x)); };
    EXPECT_TRUE(sp::all(sp::isfinite(f(x))).item<bool>()) << f(x);
    EXPECT_TRUE(sp::all(sp::isfinite(sp::grad(total)(x))).item<bool>()) << sp::grad(total)(x);
  }
  EXPECT_EQ(nn::softplus(x).to_vector<float>(), (std::vector<float>{0, 0, 1000, 1e30f}));
  EXPECT_EQ(nn::softmax(x).to_vector<float>(), (std::vector<float>{0, 0, 0, 1}));
}

TEST(Activations, NanPassesThrough) {
  const Array x = sp::array({std::nanf("")});
  const std::function<Array(const Array&)> all[] = {
      nn::relu, nn::relu6,       nn::sigmoid,   nn::tanh,     nn::silu,       nn::mish,
      nn::selu, nn::hardsigmoid, nn::hardswish, nn::softsign, nn::logsigmoid, nn::tanhshrink};
  for (const auto& f : all) {
    EXPECT_TRUE(std::isnan(f(x).item<float>()));
  }
  EXPECT_TRUE(std::isnan(nn::gelu(x).item<float>()));
  EXPECT_TRUE(std::isnan(nn::elu(x).item<float>()));
  EXPECT_TRUE(std::isnan(nn::leaky_relu(x).item<float>()));
  EXPECT_TRUE(std::isnan(nn::hardtanh(x).item<float>()));
  EXPECT_TRUE(std::isnan(nn::softplus(x).item<float>()));
  EXPECT_TRUE(std::isnan(nn::hardshrink(x).item<float>()));
  EXPECT_TRUE(std::isnan(nn::softshrink(x).item<float>()));
}

TEST(Activations, KeepTheirDtype) {
  for (const sp::Dtype dtype : {sp::float16, sp::bfloat16, sp::float32, sp::float64}) {
    const Array x = sp::astype(sp::array({-1.0f, 0.5f, 2.0f, 4.0f}), dtype);
    for (const auto& f : {nn::relu6, nn::mish, nn::selu, nn::hardswish, nn::logsigmoid}) {
      EXPECT_EQ(f(x).dtype(), dtype);
    }
    EXPECT_EQ(nn::gelu(x).dtype(), dtype);
    EXPECT_EQ(nn::softplus(x).dtype(), dtype);
    EXPECT_EQ(nn::log_softmax(x).dtype(), dtype);
    EXPECT_EQ(nn::glu(x).dtype(), dtype);
  }
}

TEST(Activations, CanBePassedByNameAndMapped) {
  const auto apply = [](const auto& f, const Array& x) { return f(x); };
  const Array x = wave({3, 4}, 0.7);
  EXPECT_EQ(apply(nn::relu, x).to_vector<double>(), sp::maximum(x, 0).to_vector<double>());
  EXPECT_TRUE(sp::allclose(sp::vmap(nn::softmax)(x), nn::softmax(x)));
  EXPECT_TRUE(sp::allclose(sp::jit(nn::gelu)(x), nn::gelu(x)));
}

TEST(Activations, BadOptions) {
  EXPECT_THROW(nn::hardtanh(sp::ones({2}), {.min_val = 1, .max_val = -1}), sp::ValueError);
  EXPECT_THROW(nn::glu(sp::ones({3})), sp::ShapeError);
  EXPECT_THROW(nn::softmax(sp::ones({3}), {.dim = 1}), sp::ShapeError);
  EXPECT_EQ(nn::softmax(sp::Array(3.0f)).item<float>(), 1);
  EXPECT_THROW(nn::celu(sp::ones({2}), {.alpha = 0}), sp::ValueError);
  EXPECT_THROW(nn::softplus(sp::ones({2}), {.beta = 0}), sp::ValueError);
  EXPECT_THROW(nn::softshrink(sp::ones({2}), {.lambd = -1}), sp::ValueError);
  EXPECT_THROW(nn::hardshrink(sp::ones({2}), {.lambd = -1}), sp::ValueError);
}

TEST(Activations, AxisAndDimAreOneOption) {
  const Array x = wave({3, 4}, 0.7);
  const auto same = [](const Array& a, const Array& b) { return sp::array_equal(a, b); };
  EXPECT_TRUE(same(nn::softmax(x, {.axis = 0}), nn::softmax(x, {.dim = 0})));
  EXPECT_TRUE(same(nn::log_softmax(x, {.axis = 0}), nn::log_softmax(x, {.dim = 0})));
  EXPECT_FALSE(sp::allclose(nn::softmax(x, {.axis = 0}), nn::softmax(x)));
  EXPECT_TRUE(same(nn::softmax(x, 0), nn::softmax(x, {.axis = 0})));
  EXPECT_TRUE(same(nn::log_softmax(x, 0), nn::log_softmax(x, {.axis = 0})));
  EXPECT_TRUE(same(nn::softmin(x, 0), nn::softmin(x, {.axis = 0})));
  EXPECT_TRUE(same(nn::glu(sp::ones({2, 3}), 0), nn::glu(sp::ones({2, 3}), {.axis = 0})));
  EXPECT_TRUE(same(nn::gumbel_softmax(x, {.axis = 0, .key = sp::Key(1)}),
                   nn::gumbel_softmax(x, {.dim = 0, .key = sp::Key(1)})));
  EXPECT_THROW(nn::gumbel_softmax(x, {.axis = 0, .dim = 1, .key = sp::Key(1)}), sp::ValueError);
  EXPECT_THROW(nn::softmax(x, {.axis = 0, .dim = 1}), sp::ValueError);
  EXPECT_EQ(nn::flatten(x, {.start_axis = 0}).shape(), nn::flatten(x, {.start_dim = 0}).shape());
  EXPECT_EQ(nn::flatten(sp::ones({2, 3, 4}), {.start_axis = 0, .end_axis = 1}).shape(),
            (sp::Shape{6, 4}));
}

// 1 + erf and 1 + tanh are 0 from here on.
TEST(Activations, GeluInDoubleKeepsItsDigitsFarBelowZero) {
  struct Row {
    double x, by_erf, slope_by_erf, by_tanh, slope_by_tanh;
  };
  constexpr Row kRows[] = {
      {-20.0, -5.507248237212468e-88, -1.1014360483133464e-86, -3.3754509563109348e-261,
       -2.9424328724944744e-259},
      {-8.5, -8.05760459887282e-17, -6.846504938697085e-16, -1.0174447308598283e-24,
       -1.7239866867738035e-23},
      {-5.0, -1.4332578593959695e-06, -7.146946001792295e-06, -2.2917961966295047e-07,
       -1.5463619875325938e-06},
      {-1.0, -0.15865525393145705, -0.0833154705876863, -0.1588080093917233, -0.08296408384578256},
      {0.0, 0.0, 0.5, 0.0, 0.5},
      {3.0, 2.99595030590511, 1.011945647204184, 2.996362607918227, 1.0115841666309697},
  };
  for (const Row& row : kRows) {
    for (const bool tanh : {false, true}) {
      const auto f = [&](const Array& x) {
        return nn::gelu(
            x, {.approximate = tanh ? nn::GeluApproximation::kTanh : nn::GeluApproximation::kNone});
      };
      const double want = tanh ? row.by_tanh : row.by_erf;
      const double slope = tanh ? row.slope_by_tanh : row.slope_by_erf;
      const auto near = [&](const Array& got, double truth) {
        EXPECT_NEAR(got.item<double>(), truth, 1e-12 * std::abs(truth)) << row.x;
      };
      near(f(Array(row.x)), want);
      near(sp::jit(f)(Array(row.x)), want);
      near(sp::grad(f)(Array(row.x)), slope);
      near(sp::jit(sp::grad(f))(Array(row.x)), slope);
    }
  }
}

}  // namespace activations_test
}  // namespace torch_cases
