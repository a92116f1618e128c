// SPDX-License-Identifier: Apache-2.0
#include "spruce/nn/rms_norm.h"

#include "tests/nn/functional_cases.h"

namespace functional_cases {
namespace rms_norm_test {

TEST(RmsNorm, AsPyTorch) {
  check("rms_norm", 4, [](const Inputs& in, const Options& o) {
    const sp::Shape shape = o.integer("axes") == 2 ? sp::Shape{3, 4} : sp::Shape{4};
    nn::RmsNormOptions options;
    if (o.has("eps")) options.eps = o.number("eps");
    return nn::rms_norm(in[0], shape, in.size() > 1 ? in[1] : Array(), options);
  });
  check("local_response_norm", 4, [](const Inputs& in, const Options& o) {
    return nn::local_response_norm(
        in[0], o.integer("size"),
        {.alpha = o.number("alpha"), .beta = o.number("beta"), .k = o.number("k")});
  });
}

TEST(RmsNorm, TheDefaultEpsIsThatOfTheDtype) {
  const Array x = sp::full({4}, 1e-4f), tiny = sp::full({4}, 1e-4, sp::float64);
  EXPECT_LT(nn::rms_norm(x, {4})[0].item<float>(), 0.3f);
  EXPECT_NEAR(nn::rms_norm(tiny, {4})[0].item<double>(), 1, 1e-7);
}

TEST(RmsNorm, LocalResponsesOfLargeNumbersInHalfPrecision) {
  const Array x = sp::full({1, 2, 4}, 400, sp::float16);
  EXPECT_TRUE(
      sp::array_equal(nn::local_response_norm(x, 2),
                      nn::local_response_norm(x.astype(sp::float32), 2).astype(sp::float16)));
}

TEST(RmsNorm, LayersAndBadInput) {
  const Array x = sp::astype(torch_cases::wave({2, 3, 4}, 0.7), sp::float32);
  nn::RMSNorm layer = nn::RMSNorm::init({4}, {.eps = 1e-3});
  EXPECT_EQ(layer.weight->to_vector<float>(), std::vector<float>(4, 1.0f));
  layer.weight = sp::arange(4.0f);
  EXPECT_TRUE(sp::array_equal(layer(x), nn::rms_norm(x, {4}, sp::arange(4.0f), {.eps = 1e-3})));
  EXPECT_EQ(layer(sp::astype(x, sp::float16)).dtype(), sp::float16);
  EXPECT_EQ(nn::rms_norm_layer().init(sp::Key(0), x).normalized_shape, (sp::Shape{4}));
  const nn::LocalResponseNorm local{3, 0.5};
  EXPECT_TRUE(sp::array_equal(local(x), nn::local_response_norm(x, 3, {.alpha = 0.5})));
  EXPECT_THROW(nn::rms_norm(x, {3}), sp::ShapeError);
  EXPECT_THROW(nn::rms_norm(x, {4}, sp::ones({3})), sp::ShapeError);
  EXPECT_THROW(nn::rms_norm(x, {4}, {}, {.eps = -1}), sp::ValueError);
  EXPECT_THROW(nn::rms_norm(sp::array({{1, 2}}), {2}), sp::DtypeError);
  EXPECT_THROW(nn::RMSNorm::init({4}, {.eps = -1}), sp::ValueError);
  EXPECT_THROW(nn::local_response_norm(x, 0), sp::ValueError);
  EXPECT_THROW(nn::local_response_norm(sp::ones({3}), 2), sp::ShapeError);
}

}  // namespace rms_norm_test
}  // namespace functional_cases
