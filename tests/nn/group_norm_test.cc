// SPDX-License-Identifier: Apache-2.0
#include "spruce/nn/group_norm.h"

#include "tests/nn/functional_cases.h"

namespace functional_cases {
namespace group_norm_test {

Array affine(const Options& o, const Inputs& in, size_t i) {
  return o.flag("affine") ? in[i] : Array();
}

TEST(GroupNorm, AsPyTorch) {
  check("group_norm", 6, [](const Inputs& in, const Options& o) {
    return nn::group_norm(in[0], o.integer("groups"), affine(o, in, 1), affine(o, in, 2),
                          {.eps = o.number("eps")});
  });
  check("instance_norm", 5, [](const Inputs& in, const Options& o) {
    return nn::instance_norm(in[0], {}, {}, affine(o, in, 1), affine(o, in, 2),
                             {.eps = o.number("eps")})
        .output;
  });
  // Inputs 1 and 2 become the running mean and variance, which are part of the result.
  check("instance_norm_running", 2, [](const Inputs& in, const Options& o) {
    const Array m = sp::stop_gradient(in[1]), v = sp::stop_gradient(sp::square(in[2]));
    const nn::BatchNormResult r = nn::instance_norm(
        in[0], m, v, {}, {}, {.use_input_stats = o.flag("stats"), .momentum = 0.3});
    return sp::concatenate(
        {sp::ravel(r.output), sp::stop_gradient(r.running_mean), sp::stop_gradient(r.running_var)});
  });
}

TEST(GroupNorm, LayersAreTheFunctions) {
  const Array x = sp::astype(torch_cases::wave({2, 6, 3, 2}, 0.7), sp::float32);
  nn::GroupNorm layer = nn::GroupNorm::init(3, 6, {.eps = 1e-3});
  EXPECT_EQ(layer.weight->to_vector<float>(), std::vector<float>(6, 1.0f));
  layer.bias = sp::arange(6.0f);
  EXPECT_TRUE(
      sp::array_equal(layer(x), nn::group_norm(x, 3, *layer.weight, *layer.bias, {.eps = 1e-3})));
  EXPECT_FALSE(nn::GroupNorm::init(3, 6, {.affine = false}).weight.has_value());
  EXPECT_TRUE(
      sp::array_equal(nn::GroupNorm::init(6, 6)(x), nn::instance_norm(x).output) ||
      sp::allclose(nn::GroupNorm::init(6, 6)(x), nn::instance_norm(x).output, {.atol = 1e-6}));
  const auto model = nn::group_norm_layer(2);
  EXPECT_EQ(model.init(sp::Key(0), x).weight->shape(), (sp::Shape{6}));
}

TEST(GroupNorm, InstanceNormKeepsRunningStatistics) {
  const Array x = sp::astype(torch_cases::wave({2, 3, 4}, 0.7), sp::float32);
  const auto layer = nn::InstanceNorm1d::init(3, {.affine = true, .track_running_stats = true});
  nn::Context ctx{.training = true};
  const Array y = layer(x, ctx);
  EXPECT_TRUE(sp::allclose(y, nn::instance_norm(x).output, {.atol = 1e-6}));
  EXPECT_EQ(layer.num_batches_tracked->value.item<int64_t>(), 0);
  const auto next = ctx.updated(layer);
  const nn::BatchNormResult r = nn::instance_norm(x, sp::zeros({3}), sp::ones({3}));
  EXPECT_TRUE(sp::array_equal(next.running_mean->value, r.running_mean));
  EXPECT_TRUE(sp::array_equal(next.running_var->value, r.running_var));
  EXPECT_TRUE(
      sp::array_equal(next(x), nn::instance_norm(x, r.running_mean, r.running_var, *next.weight,
                                                 *next.bias, {.use_input_stats = false})
                                   .output));
  // One example without its axis, and without running statistics.
  const auto plain = nn::InstanceNorm1d::init(3);
  EXPECT_FALSE(plain.weight.has_value());
  EXPECT_FALSE(plain.running_mean.has_value());
  EXPECT_TRUE(sp::allclose(plain(x[0]), plain(x)[0], {.atol = 1e-6}));
}

TEST(GroupNorm, HalfPrecisionComesBackAsItCame) {
  const Array x = sp::astype(torch_cases::wave({2, 4, 3}, 0.7), sp::bfloat16);
  EXPECT_EQ(nn::GroupNorm::init(2, 4)(x).dtype(), sp::bfloat16);
  EXPECT_EQ(nn::instance_norm(x).output.dtype(), sp::bfloat16);
}

TEST(GroupNorm, BadInput) {
  const Array x = sp::ones({2, 6, 4});
  EXPECT_THROW(nn::group_norm(x, 4), sp::ShapeError);
  EXPECT_THROW(nn::group_norm(x, 0), sp::ShapeError);
  EXPECT_THROW(nn::group_norm(sp::ones({6}), 2), sp::ShapeError);
  EXPECT_THROW(nn::group_norm(x, 2, sp::ones({5})), sp::ShapeError);
  EXPECT_THROW(nn::group_norm(x, 2, {}, {}, {.eps = -1}), sp::ValueError);
  EXPECT_THROW(nn::GroupNorm::init(4, 6), sp::ShapeError);
  EXPECT_THROW(nn::instance_norm(sp::ones({2, 6})), sp::ShapeError);
  EXPECT_THROW(nn::instance_norm(sp::ones({2, 6, 1})), sp::ValueError);
  EXPECT_THROW(nn::instance_norm(x, sp::ones({5})), sp::ShapeError);
  EXPECT_THROW(nn::instance_norm(x, {}, {}, {}, {}, {.use_input_stats = false}), sp::ValueError);
  EXPECT_THROW(nn::InstanceNorm2d::init(6)(sp::ones({6, 4})), sp::ShapeError);
  EXPECT_THROW(nn::InstanceNorm3d::init(6, {.momentum = 2}), sp::ValueError);
}

}  // namespace group_norm_test
}  // namespace functional_cases
