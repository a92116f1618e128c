// SPDX-License-Identifier: Apache-2.0
// Initialisers, against those of JAX for the same key, and as the option .init of layers.
#include "spruce/nn/initializers.h"

#include "tests/nn/functional_cases.h"

namespace functional_cases {
namespace initializers_test {

namespace init = spruce::nn::init;
using sp::ShapeError, sp::ValueError;

struct InitCase {
  const char *name, *options, *shape, *values;
};
constexpr InitCase kInitCases[] = {
#include "tests/nn/initializer_cases.inc"
};

void check_init(const std::string& name, size_t least,
                const std::function<init::Initializer(const Options&)>& make) {
  size_t count = 0;
  for (const InitCase& c : kInitCases) {
    if (name != c.name) continue;
    ++count;
    const Options options(c.options);
    sp::Shape shape;
    for (const double n : torch_cases::numbers(c.shape)) shape.push_back(static_cast<int64_t>(n));
    const Array got = make(options)(sp::Key(7), shape);
    const std::vector<float> values = got.to_vector<float>();
    const std::vector<double> want = torch_cases::numbers(c.values);
    ASSERT_EQ(values.size(), want.size());
    for (size_t i = 0; i < want.size(); ++i)
      EXPECT_NEAR(values[i], want[i], 4e-6)
          << name << "(" << c.options << ") " << shape << " " << i;
    EXPECT_EQ(got.shape(), shape);
    const Array half = make(options)(sp::Key(7), shape, sp::bfloat16);
    EXPECT_EQ(half.dtype(), sp::bfloat16) << name;
  }
  EXPECT_GE(count, least) << name;
}

TEST(Initializers, AsJax) {
  check_init("variance_scaling", 36, [](const Options& o) {
    const std::string &mode = o.text("mode"), &d = o.text("distribution");
    return init::variance_scaling({.scale = o.number("scale"),
                                   .mode = mode == "fan_in"    ? init::FanMode::kFanIn
                                           : mode == "fan_out" ? init::FanMode::kFanOut
                                                               : init::FanMode::kFanAvg,
                                   .distribution = d == "normal" ? init::Distribution::kNormal
                                                   : d == "uniform"
                                                       ? init::Distribution::kUniform
                                                       : init::Distribution::kTruncatedNormal});
  });
  check_init("variance_scaling_jax", 4, [](const Options&) {
    return init::variance_scaling({.in_axis = -2, .out_axis = -1});
  });
  check_init("lecun_normal", 4, [](const Options&) { return init::lecun_normal(); });
  check_init("lecun_uniform", 4, [](const Options&) { return init::lecun_uniform(); });
  check_init("xavier_uniform", 4, [](const Options&) { return init::xavier_uniform(); });
  check_init("kaiming_uniform", 4, [](const Options&) { return init::kaiming_uniform(); });
  check_init("trunc_normal", 4, [](const Options&) {
    return init::trunc_normal({.std = 0.02, .a = -0.02, .b = 0.06});
  });
  check_init("normal", 4, [](const Options&) { return init::normal({.std = 0.5}); });
  check_init("orthogonal", 4, [](const Options&) { return init::orthogonal({.gain = 1.5}); });
  check_init("delta_orthogonal", 3,
             [](const Options&) { return init::delta_orthogonal({.gain = 2}); });
}

TEST(Initializers, AsPyTorch) {
  check_init("dirac", 3,
             [](const Options& o) { return init::dirac({.groups = o.integer("groups")}); });
  check_init("eye", 2, [](const Options&) { return init::eye(); });
  check_init("gain", 5, [](const Options& o) {
    const std::string& of = o.text("of");
    return init::constant(init::calculate_gain(of == "linear"       ? init::GainOf::kLinear
                                               : of == "tanh"       ? init::GainOf::kTanh
                                               : of == "relu"       ? init::GainOf::kRelu
                                               : of == "leaky_relu" ? init::GainOf::kLeakyRelu
                                                                    : init::GainOf::kSelu));
  });
}

// Moments of what PyTorch draws from another stream.
TEST(Initializers, Moments) {
  const sp::Key key(3);
  const auto moments = [&](const init::Initializer& make, const sp::Shape& shape) {
    const Array x = make(key, shape);
    return std::pair{sp::mean(x).item<double>(), sp::std(x).item<double>()};
  };
  const sp::Shape shape{200, 100, 3};
  EXPECT_NEAR(moments(init::xavier_normal({.gain = 2}), shape).second, 2 * std::sqrt(2.0 / 900),
              1e-3);
  EXPECT_NEAR(moments(init::kaiming_normal(
                          {.mode = init::FanMode::kFanOut, .nonlinearity = init::GainOf::kRelu}),
                      shape)
                  .second,
              std::sqrt(2.0 / 600), 1e-3);
  const auto [mean, deviation] = moments(init::uniform({.low = 1, .high = 3}), shape);
  EXPECT_NEAR(mean, 2, 0.01);
  EXPECT_NEAR(deviation, 2 / std::sqrt(12.0), 0.01);
  const Array cut = init::trunc_normal({.mean = 1, .std = 2, .a = 0, .b = 2})(key, shape);
  EXPECT_GE(sp::min(cut).item<float>(), 0);
  EXPECT_LE(sp::max(cut).item<float>(), 2);
  const Array few = init::sparse({.sparsity = 0.25, .std = 0.5})(key, {10, 400});
  const Array zeros = sp::sum(sp::equal(few, 0).astype(sp::int32), 0);
  EXPECT_TRUE(sp::all(sp::equal(zeros, 3)).item<bool>());
  EXPECT_NEAR(sp::sqrt(sp::sum(sp::square(few)) / 2800).item<float>(), 0.5, 0.02);
}

TEST(Initializers, TruncatedNormalHasNoOutliersInHalfPrecision) {
  const sp::Shape shape{100, 100};
  const Array want = init::trunc_normal({.std = 0.02})(sp::Key(0), shape);
  for (const sp::Dtype dtype : {sp::float16, sp::bfloat16}) {
    const Array got = init::trunc_normal({.std = 0.02})(sp::Key(0), shape, dtype);
    EXPECT_TRUE(sp::array_equal(got, want.astype(dtype))) << dtype;
  }
}

// What a preset gives under its name never changes.
TEST(Initializers, PresetsGiveWhatTheyAlwaysGave) {
  const std::map<std::string, init::LayerInit> presets{
      {"torch_v1", init::torch_v1}, {"flax_v1", init::flax_v1}, {"keras_v1", init::keras_v1}};
  for (const auto& [name, preset] : presets) EXPECT_EQ(preset.name, name);
  const sp::Key key(7);
  size_t count = 0;
  for (const InitCase& c : kInitCases) {
    if (std::string("preset") != c.name) continue;
    ++count;
    const Options o(c.options);
    const init::LayerInit& preset = presets.at(o.text("of"));
    const std::string& layer = o.text("layer");
    const auto entries =
        layer == "linear" ? sp::tree::entries(nn::Linear::init(key, 6, 4, {.init = preset}))
        : layer == "conv2d"
            ? sp::tree::entries(nn::Conv2d::init(key, 2, 3, {3, 2}, {.init = preset}))
        : layer == "lstm_cell"
            ? sp::tree::entries(nn::LSTMCell::init(key, 3, 2, {.init = preset}))
            : sp::tree::entries(nn::Embedding::init(key, 5, 3, {.init = preset}));
    const auto part = std::find_if(entries.begin(), entries.end(),
                                   [&](const auto& e) { return e.path == o.text("part"); });
    ASSERT_NE(part, entries.end()) << c.options;
    const std::vector<float> got = part->value.to_vector<float>();
    const std::vector<double> want = torch_cases::numbers(c.values);
    ASSERT_EQ(got.size(), want.size()) << c.options;
    for (size_t i = 0; i < want.size(); ++i)
      EXPECT_NEAR(got[i], want[i], 4e-6) << c.options << " element " << i;
  }
  EXPECT_EQ(count, 27u);
}

TEST(Initializers, AsOptionsOfLayers) {
  const sp::Key key(0);
  const auto line = nn::Linear::init(key, 6, 4, {.init = init::flax_v1});
  const auto [kw, kb] = sp::random::split<2>(key);
  EXPECT_TRUE(sp::array_equal(line.weight, init::lecun_normal()(kw, {4, 6})));
  EXPECT_TRUE(sp::array_equal(*line.bias, sp::zeros({4})));
  EXPECT_TRUE(sp::tree::equal(nn::Linear::init(key, 6, 4, {.init = init::torch_v1}),
                              nn::Linear::init(key, 6, 4)));
  const auto conv = nn::Conv2d::init(
      key, 2, 4, 3, {.init = {.weight = init::dirac(), .bias = init::constant(0.5)}});
  EXPECT_TRUE(sp::array_equal(conv.weight, init::dirac()(key, {4, 2, 3, 3})));
  EXPECT_TRUE(sp::array_equal(*conv.bias, sp::full({4}, 0.5f)));
  const auto turned = nn::ConvTranspose1d::init(key, 2, 4, 3, {.init = {.weight = init::ones()}});
  EXPECT_TRUE(sp::array_equal(turned.weight, sp::ones({2, 4, 3})));
  const auto table = nn::Embedding::init(
      key, 5, 3, {.padding_idx = 1, .init = {.weight = init::trunc_normal({.std = 0.02})}});
  EXPECT_LE(sp::max(sp::abs(table.weight)).item<float>(), 0.1f);
  EXPECT_EQ(sp::max(sp::abs(table.weight[1])).item<float>(), 0);
  const auto attention = nn::MultiheadAttention::init(
      key, 8, 2, {.init = {.weight = init::orthogonal(), .bias = init::ones()}});
  EXPECT_TRUE(sp::array_equal(*attention.in_proj_bias, sp::ones({24})));
  EXPECT_TRUE(
      sp::allclose(sp::matmul(sp::transpose(attention.in_proj_weight), attention.in_proj_weight),
                   sp::eye(8), {.atol = 1e-5}));
  const auto factory = nn::dense(3, {.init = init::keras_v1});
  EXPECT_TRUE(sp::array_equal(*factory.init(key, sp::ones({2, 5})).bias, sp::zeros({3})));
}

TEST(Initializers, UnderJitAndVmap) {
  const auto make = [](const sp::Key& key) { return init::orthogonal()(key, {4, 3}); };
  const sp::Key key(5);
  EXPECT_TRUE(sp::allclose(sp::jit(make)(key), make(key), {.atol = 1e-6}));
  const sp::Key keys = sp::random::split(key, 3);
  EXPECT_TRUE(sp::allclose(sp::vmap(make)(keys)[2], make(keys[2]), {.atol = 1e-6}));
  EXPECT_EQ(init::orthogonal()(key, {0, 3}).shape(), (sp::Shape{0, 3}));
}

TEST(Initializers, BadInput) {
  const sp::Key key(0);
  expect_error<ShapeError>(
      [&] { init::orthogonal()(key, {3}); },
      "orthogonal: the initialiser orthogonal needs a shape of rank 2 or more, got [3]");
  expect_error<ShapeError>([&] { init::eye()(key, {3}); },
                           "eye: the initialiser eye needs a shape of rank 2, got [3]");
  expect_error<ShapeError>(
      [&] {
        init::dirac()(key, {3, 3});
      },
      "dirac: the initialiser dirac needs a shape of rank 3 to 5, [out, in, window...], got [3,3]");
  expect_error<ShapeError>(
      [&] {
        init::dirac({.groups = 2})(key, {3, 3, 1});
      },
      "dirac: groups is 2, it must divide the first size of [3,3,1]");
  expect_error<ShapeError>(
      [&] {
        init::delta_orthogonal()(key, {3, 4, 1});
      },
      "delta_orthogonal: takes at most as many inputs as outputs");
  expect_error<ShapeError>(
      [&] {
        init::variance_scaling({.in_axis = 2})(key, {3, 4});
      },
      "variance_scaling: axis 2 is not in the shape [3,4]");
  expect_error<ValueError>([] { init::sparse({.sparsity = 2}); }, "sparse: sparsity is 2, it must");
  expect_error<ValueError>([] { init::normal({.std = -1}); }, "normal: std is -1, it must be");
  expect_error<ValueError>([&] { init::trunc_normal({.a = 2, .b = 1})(key, {3}); },
                           "trunc_normal: ");
  expect_error<ValueError>([&] { init::Initializer()(key, {3}); },
                           "Initializer: holds no function");
  expect_error<ShapeError>(
      [&] {
        nn::Linear::init(key, 3, 2,
                         {.init = {.weight = [](const sp::Key&, const sp::Shape&, sp::Dtype) {
                            return sp::ones({2});
                          }}});
      },
      "was asked for f32[2,3] and gave f32[2]");
}

}  // namespace initializers_test
}  // namespace functional_cases
