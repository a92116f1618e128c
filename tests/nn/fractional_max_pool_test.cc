// SPDX-License-Identifier: Apache-2.0
#include "spruce/nn/fractional_max_pool.h"

#include "spruce/nn/linear_cross_entropy.h"
#include "tests/nn/functional_cases.h"

namespace functional_cases {
namespace fractional_max_pool_test {

template <int kAxes>
void check_fractional(size_t least) {
  check("fractional_max_pool" + std::to_string(kAxes) + "d", least,
        [](const Inputs& in, const Options& o) {
          nn::FractionalMaxPoolOptions options{.random_samples =
                                                   sp::stop_gradient(sp::square(in[1]) / 20)};
          if (o.has("size")) options.output_size = sizes_of(o, "size");
          if (o.has("ratio")) options.output_ratio = o.number("ratio");
          const nn::MaxPoolResult r =
              nn::FractionalMaxPoolWithIndicesFunction<kAxes>{}(in[0], sizes_of(o, "k"), options);
          return sp::concatenate({sp::ravel(r.output),
                                  sp::astype(sp::ravel(r.indices), r.output.dtype()),
                                  0 * sp::ravel(in[1])});
        });
}

TEST(FractionalMaxPool, AsPyTorch) {
  check_fractional<2>(3);
  check_fractional<3>(2);
}

TEST(FractionalMaxPool, DrawsItsWindows) {
  const Array x = torch_cases::wave({2, 3, 9, 9}, 0.7);
  const auto pooled = [&](int key) {
    return nn::fractional_max_pool2d(x, 2, {.output_ratio = 0.6, .key = sp::Key(key)});
  };
  EXPECT_EQ(pooled(0).shape(), (sp::Shape{2, 3, 5, 5}));
  EXPECT_TRUE(sp::array_equal(pooled(0), pooled(0)));
  EXPECT_FALSE(sp::array_equal(pooled(0), pooled(1)));
  EXPECT_EQ(nn::fractional_max_pool3d(x, 1, {.output_size = {2, 4, 4}, .key = sp::Key(0)}).shape(),
            (sp::Shape{2, 2, 4, 4}));
}

TEST(FractionalMaxPool, LayerDrawsFromTheContext) {
  const Array x = torch_cases::wave({2, 3, 9, 9}, 0.7);
  const nn::FractionalMaxPool2d layer{.kernel = 2, .output_size = 4};
  nn::Context ctx{.key = sp::Key(1)}, without;
  const sp::Key first = sp::random::fold_in(sp::Key(1), 0);
  EXPECT_TRUE(sp::array_equal(layer(x, ctx),
                              nn::fractional_max_pool2d(x, 2, {.output_size = 4, .key = first})));
  EXPECT_EQ(ctx.keys_used, 1);
  EXPECT_THROW(layer(x, without), sp::ValueError);
}

TEST(FractionalMaxPool, BadInput) {
  const Array x = sp::ones({1, 2, 4, 4});
  const sp::Key key(0);
  EXPECT_THROW(nn::fractional_max_pool2d(x, 2, {.key = key}), sp::ValueError);
  EXPECT_THROW(nn::fractional_max_pool2d(x, 2, {.output_size = 2}), sp::ValueError);
  EXPECT_THROW(nn::fractional_max_pool2d(x, 2, {.output_ratio = 1.5, .key = key}), sp::ValueError);
  EXPECT_THROW(nn::fractional_max_pool2d(x, 3, {.output_size = 3, .key = key}), sp::ShapeError);
  EXPECT_THROW(nn::fractional_max_pool2d(x, 2, {.output_ratio = {0.5, 0.5, 0.5}, .key = key}),
               sp::ShapeError);
  EXPECT_THROW(
      nn::fractional_max_pool2d(x, 2, {.output_size = 2, .random_samples = sp::ones({1, 2})}),
      sp::ShapeError);
  EXPECT_THROW(nn::fractional_max_pool3d(x[0], 2, {.output_size = 2, .key = key}), sp::ShapeError);
}

TEST(LinearCrossEntropy, AsPyTorch) {
  check("linear_cross_entropy", 2, [](const Inputs& in, const Options&) {
    return nn::linear_cross_entropy(in[0], in[1], sp::array({0, 4, 2, 1}),
                                    in.size() > 2 ? in[2] : Array(), {.label_smoothing = 0.1});
  });
  EXPECT_THROW(nn::linear_cross_entropy(sp::ones({2, 3}), sp::ones({4, 2}), sp::array({0, 1})),
               sp::ShapeError);
}

}  // namespace fractional_max_pool_test
}  // namespace functional_cases
