// SPDX-License-Identifier: Apache-2.0
#include "spruce/nn/max_unpool.h"

#include "tests/nn/functional_cases.h"

namespace functional_cases {
namespace max_unpool_test {

nn::MaxPoolOptions pool_options(const Options& o) {
  nn::MaxPoolOptions options{.padding = o.integer("pad")};
  if (o.has("s")) options.stride = o.integer("s");
  if (o.has("d")) options.dilation = o.integer("d");
  if (o.has("ceil")) options.ceil_mode = o.flag("ceil");
  return options;
}

template <int kAxes>
void check_pairs() {
  const std::string axes = std::to_string(kAxes) + "d";
  check("max_pool" + axes + "_with_indices", 5, [](const Inputs& in, const Options& o) {
    const nn::MaxPoolResult r =
        nn::MaxPoolWithIndicesFunction<kAxes>{}(in[0], o.integer("k"), pool_options(o));
    return sp::concatenate(
        {sp::ravel(r.output), sp::astype(sp::ravel(r.indices), r.output.dtype())});
  });
  check("max_unpool" + axes, 4, [](const Inputs& in, const Options& o) {
    const nn::MaxPoolOptions options = pool_options(o);
    const nn::MaxPoolResult r =
        nn::MaxPoolWithIndicesFunction<kAxes>{}(in[0], o.integer("k"), options);
    nn::MaxUnpool<kAxes> layer{o.integer("k"), options.stride, options.padding};
    if (o.flag("sized")) {
      sp::Shape size;
      for (int i = in[0].rank() - kAxes; i < in[0].rank(); ++i) size.push_back(in[0].shape()[i]);
      layer.output_size = size;
    }
    return layer(r.output, r.indices);
  });
}

TEST(MaxUnpool, AsPyTorch) {
  check_pairs<1>();
  check_pairs<2>();
  check_pairs<3>();
}

TEST(MaxUnpool, PutsBackWhatPoolingTook) {
  const Array x = sp::reshape(sp::arange(16.0f), {1, 4, 4});
  const nn::MaxPoolResult r = nn::max_pool2d_with_indices(x, 2);
  EXPECT_EQ(r.indices.to_vector<int32_t>(), (std::vector<int32_t>{5, 7, 13, 15}));
  const Array y = nn::max_unpool2d(r.output, r.indices, 2);
  EXPECT_EQ(y.shape(), x.shape());
  EXPECT_TRUE(sp::array_equal(nn::max_pool2d(y, 2), r.output));
  EXPECT_EQ(sp::sum(y).item<float>(), 5 + 7 + 13 + 15);
}

TEST(MaxUnpool, BadInput) {
  const Array x = sp::ones({1, 2, 2}), i = sp::array({{{0, 1}, {2, 3}}});
  EXPECT_THROW(nn::max_unpool2d(x, i[0], 2), sp::ShapeError);
  EXPECT_THROW(nn::max_unpool2d(x, x, 2), sp::DtypeError);
  EXPECT_THROW(nn::max_unpool2d(x, i + 13, 2), sp::IndexError);
  EXPECT_THROW(nn::max_unpool2d(x, i - 1, 2), sp::IndexError);
  EXPECT_THROW(nn::max_unpool2d(x, i, 2, {.output_size = {2, 2, 2}}), sp::ShapeError);
  EXPECT_THROW(nn::max_unpool2d(x, i, 2, {.padding = 9}), sp::ShapeError);
  EXPECT_THROW(nn::max_unpool3d(x, i, 2), sp::ShapeError);
  EXPECT_THROW(nn::max_pool2d_with_indices(x, 5), sp::ShapeError);
}

TEST(Pool, ADivisorOfOnesOwn) {
  check("avg_pool2d_divisor", 1, [](const Inputs& in, const Options& o) {
    return nn::avg_pool2d(in[0], 2,
                          {.stride = 2, .padding = 1, .divisor_override = o.integer("divisor")});
  });
  check("avg_pool3d_divisor", 1, [](const Inputs& in, const Options& o) {
    return nn::AvgPool3d{
        .kernel = 2, .stride = 2, .padding = 1, .divisor_override = o.integer("divisor")}(in[0]);
  });
  EXPECT_THROW(nn::avg_pool2d(sp::ones({1, 2, 2}), 2, {.divisor_override = 0}), sp::ValueError);
}

}  // namespace max_unpool_test
}  // namespace functional_cases
