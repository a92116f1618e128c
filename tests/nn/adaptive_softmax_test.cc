// SPDX-License-Identifier: Apache-2.0
#include "spruce/nn/adaptive_softmax.h"

#include "tests/nn/functional_cases.h"

namespace functional_cases {
namespace adaptive_softmax_test {

nn::AdaptiveLogSoftmaxWithLoss layer_of(bool bias, sp::Dtype dtype) {
  return nn::AdaptiveLogSoftmaxWithLoss::init(sp::Key(0), 8, 9, {3, 6},
                                              {.div_value = 2, .head_bias = bias, .dtype = dtype});
}

TEST(AdaptiveSoftmax, AsPyTorch) {
  check("adaptive_softmax", 2, [](const Inputs& in, const Options& o) {
    nn::AdaptiveLogSoftmaxWithLoss layer = layer_of(o.flag("bias"), in[0].dtype());
    std::vector<Array> leaves(in.begin() + 1, in.end());
    const auto now = sp::tree::leaves(layer);
    EXPECT_EQ(now.size(), leaves.size());
    for (size_t i = 0; i < now.size(); ++i) EXPECT_EQ(now[i].shape(), leaves[i].shape());
    size_t next = 0;
    layer = sp::tree::map([&](const Array&) { return leaves[next++]; }, layer);
    const nn::AdaptiveSoftmaxResult r = layer(in[0], sp::array({0, 7, 2, 4}));
    return sp::concatenate({r.output, sp::expand_dims(r.loss, 0)});
  });
}

TEST(AdaptiveSoftmax, ProbabilitiesOfAllClasses) {
  const nn::AdaptiveLogSoftmaxWithLoss layer = layer_of(true, sp::float32);
  const Array x = sp::random::normal(sp::Key(1), {5, 8});
  const Array logs = layer.log_prob(x);
  EXPECT_EQ(logs.shape(), (sp::Shape{5, 9}));
  EXPECT_TRUE(sp::allclose(sp::sum(sp::exp(logs), 1), sp::ones({5}), {.atol = 1e-6}));
  EXPECT_TRUE(sp::array_equal(layer.predict(x), sp::argmax(logs, 1)));
  EXPECT_TRUE(sp::allclose(layer(x[0], sp::array(4)).output, logs[0][4], {.atol = 1e-6}));
}

TEST(AdaptiveSoftmax, InitIsThatOfItsLayers) {
  const auto layer = nn::AdaptiveLogSoftmaxWithLoss::init(
      sp::Key(0), 16, 9, {3, 5},
      {.head_bias = true, .init = {.weight = nn::init::constant(0.5), .bias = nn::init::ones()}});
  EXPECT_TRUE(sp::array_equal(layer.head.weight, sp::full({5, 16}, 0.5f)));
  EXPECT_TRUE(sp::array_equal(*layer.head.bias, sp::ones({5})));
  EXPECT_TRUE(sp::array_equal(layer.tail[1][0].weight, sp::full({1, 16}, 0.5f)));
}

TEST(AdaptiveSoftmax, BadInput) {
  const auto made = [](const std::vector<int64_t>& cutoffs) {
    return nn::AdaptiveLogSoftmaxWithLoss::init(sp::Key(0), 8, 9, cutoffs);
  };
  EXPECT_THROW(made({}), sp::ValueError);
  EXPECT_THROW(made({0, 3}), sp::ValueError);
  EXPECT_THROW(made({3, 3}), sp::ValueError);
  EXPECT_THROW(made({3, 9}), sp::ValueError);
  EXPECT_THROW(made({3})(sp::ones({2, 7}), sp::array({0, 1})), sp::ShapeError);
  EXPECT_THROW(made({3})(sp::ones({2, 8}), sp::array({0, 9})), sp::IndexError);
}

}  // namespace adaptive_softmax_test
}  // namespace functional_cases
