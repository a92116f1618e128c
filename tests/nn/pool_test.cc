// SPDX-License-Identifier: Apache-2.0
#include "spruce/nn/pool.h"

#include <bit>

#include "spruce/transforms/transforms.h"
#include "tests/nn/torch_cases.h"

namespace torch_cases {
namespace pool_test {

nn::AvgPoolOptions average_options(const Options& o) {
  return {.stride = o.integer("s"),
          .padding = o.integer("p"),
          .ceil_mode = o.flag("ceil"),
          .count_include_pad = o.flag("include")};
}

TEST(Pool, MaximumAsPyTorch) {
  check("max_pool1d", 50, [](const Array& x, const Options& o) {
    return nn::max_pool1d(x, o.integer("k"),
                          {.stride = o.integer("s"),
                           .padding = o.integer("p"),
                           .dilation = o.integer("d"),
                           .ceil_mode = o.flag("ceil")});
  });
  check("max_pool2d", 16, [](const Array& x, const Options& o) {
    return nn::max_pool2d(
        x, o.integer("k"),
        {.stride = o.integer("s"), .padding = o.integer("p"), .ceil_mode = o.flag("ceil")});
  });
}

TEST(Pool, MeanAsPyTorch) {
  check("avg_pool1d", 90, [](const Array& x, const Options& o) {
    return nn::avg_pool1d(x, o.integer("k"), average_options(o));
  });
  check("avg_pool2d", 32, [](const Array& x, const Options& o) {
    return nn::avg_pool2d(x, o.integer("k"), average_options(o));
  });
}

// A number of its own for each element; every fifth one is a NaN of its own.
template <class T>
Array with_nans(const sp::Shape& shape) {
  std::vector<T> x;
  for (int64_t i = 0; i < shape.numel(); ++i) {
    const uint64_t mixed = static_cast<uint64_t>(i + 1) * 2654435761u % 1009;
    if constexpr (std::is_same_v<T, float>)
      x.push_back(mixed % 5 == 0 ? std::bit_cast<float>(0x7fc00001u + static_cast<uint32_t>(i))
                                 : static_cast<float>(mixed) / 8);
    else
      x.push_back(mixed % 5 == 0
                      ? std::bit_cast<double>(0x7ff8000000000001u + static_cast<uint64_t>(i))
                      : static_cast<double>(mixed) / 8);
  }
  return sp::array(x, shape);
}

template <class T>
void expect_gradients_where_taken(const sp::Shape& shape, int64_t kernel,
                                  const nn::MaxPoolOptions& options, bool compiled) {
  using Bits = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
  const Array x = with_nans<T>(shape);
  const auto pool = [&](const Array& a) { return nn::max_pool2d(a, kernel, options); };
  // Each window has a cotangent of its own, a power of two at a time.
  const Array value = compiled ? sp::jit(pool)(x) : pool(x);
  const std::vector<T> in = x.to_vector<T>(), out = value.to_vector<T>();
  for (size_t w = 0; w < out.size(); ++w) {
    std::vector<T> one(out.size(), 0);
    one[w] = 1;
    const Array ct = sp::array(one, value.shape());
    const auto pulled = [&](const Array& a) { return sp::vjp(pool, a).second(ct); };
    const std::vector<T> g = (compiled ? sp::jit(pulled)(x) : pulled(x)).template to_vector<T>();
    for (size_t i = 0; i < in.size(); ++i) {
      // All elements differ by their bits, so the one that was taken is known.
      const bool taken = std::bit_cast<Bits>(in[i]) == std::bit_cast<Bits>(out[w]);
      ASSERT_EQ(g[i], taken ? T{1} : T{0}) << "window " << w << ", element " << i;
    }
  }
}

TEST(Pool, AGradientGoesToTheElementThatWasTakenWhereThereAreNans) {
  for (const bool compiled : {false, true}) {
    for (const int64_t size : {int64_t{4}, int64_t{9}}) {
      const sp::Shape shape = {1, 2, size, size};
      for (const int64_t kernel : {int64_t{2}, int64_t{3}}) {
        for (const nn::MaxPoolOptions& options :
             {nn::MaxPoolOptions{}, nn::MaxPoolOptions{.stride = 1},
              nn::MaxPoolOptions{.stride = 2, .padding = 1},
              nn::MaxPoolOptions{.stride = 3, .ceil_mode = true}}) {
          SCOPED_TRACE(std::to_string(size) + " by " + std::to_string(kernel));
          expect_gradients_where_taken<float>(shape, kernel, options, compiled);
          expect_gradients_where_taken<double>(shape, kernel, options, compiled);
        }
      }
    }
  }
}

TEST(Pool, StrideIsTheWindowUnlessGiven) {
  const Array x = wave({1, 1, 6, 6}, 0.7);
  EXPECT_EQ(nn::max_pool2d(x, 3).shape(), (sp::Shape{1, 1, 2, 2}));
  EXPECT_EQ(nn::avg_pool2d(x, {2, 3}).shape(), (sp::Shape{1, 1, 3, 2}));
  EXPECT_EQ(nn::max_pool2d(x, 3, {.stride = 1}).shape(), (sp::Shape{1, 1, 4, 4}));
}

TEST(Pool, LayersAndUnbatchedInputs) {
  const Array x = wave({2, 6, 6}, 0.7);
  EXPECT_TRUE(sp::array_equal(nn::MaxPool2d{2}(x), nn::max_pool2d(x, 2)));
  EXPECT_TRUE(sp::array_equal(nn::MaxPool2d{3, 2, 1}(x),
                              nn::max_pool2d(x, 3, {.stride = 2, .padding = 1})));
  EXPECT_TRUE(sp::array_equal(nn::AvgPool2d{2, 1}(x), nn::avg_pool2d(x, 2, {.stride = 1})));
  EXPECT_TRUE(sp::array_equal(nn::max_pool2d(sp::expand_dims(x, 0), 2)[0], nn::max_pool2d(x, 2)));
  EXPECT_TRUE(sp::array_equal(sp::vmap([](const Array& x) { return nn::avg_pool1d(x, 2); })(x),
                              nn::avg_pool1d(x, 2)));
}

TEST(Pool, LayersTakeWhatTheFunctionsTake) {
  const Array x = wave({2, 7, 8}, 0.7), y = wave({1, 1, 5, 6, 7}, 0.3);
  EXPECT_TRUE(sp::array_equal(nn::MaxPool1d{3}(x), nn::max_pool1d(x, 3)));
  EXPECT_TRUE(sp::array_equal(nn::AvgPool1d{2}(x), nn::avg_pool1d(x, 2)));
  EXPECT_TRUE(sp::array_equal(nn::MaxPool3d{{2, 3, 2}}(y), nn::max_pool3d(y, {2, 3, 2})));
  EXPECT_TRUE(sp::array_equal(nn::AvgPool3d{2}(y), nn::avg_pool3d(y, 2)));
  const nn::MaxPool2d max{
      .kernel = {3, 2}, .stride = {2, 1}, .padding = 1, .dilation = {1, 2}, .ceil_mode = true};
  EXPECT_TRUE(sp::array_equal(
      max(x),
      nn::max_pool2d(x, {3, 2},
                     {.stride = {2, 1}, .padding = 1, .dilation = {1, 2}, .ceil_mode = true})));
  const nn::AvgPool2d mean{
      .kernel = 3, .stride = 2, .padding = 1, .ceil_mode = true, .count_include_pad = false};
  EXPECT_TRUE(sp::array_equal(
      mean(x),
      nn::avg_pool2d(x, 3,
                     {.stride = 2, .padding = 1, .ceil_mode = true, .count_include_pad = false})));
}

// A layer that is part of a model: its windows are static, and jit traces again for others.
struct Pooled {
  nn::MaxPool2d pool;
  Array scale;
};

TEST(Pool, LayersStandInTrees) {
  const Array x = wave({1, 6, 6}, 0.7);
  EXPECT_EQ(sp::tree::leaves(Pooled{{2}, sp::ones({})}).size(), 1u);
  EXPECT_EQ(sp::tree::structure(Pooled{{2}, sp::ones({})}),
            sp::tree::structure(Pooled{{2}, sp::zeros({})}));
  EXPECT_FALSE(sp::tree::structure(Pooled{{2}, sp::ones({})}) ==
               sp::tree::structure(Pooled{{3}, sp::ones({})}));
  const auto f = sp::jit([](const Pooled& m, const Array& x) { return m.pool(x) * m.scale; });
  EXPECT_EQ(f(Pooled{{2}, sp::ones({})}, x).shape(), (sp::Shape{1, 3, 3}));
  EXPECT_EQ(f(Pooled{{3}, sp::ones({})}, x).shape(), (sp::Shape{1, 2, 2}));
  EXPECT_EQ(f.trace_count(), 2);
}

TEST(Pool, MeansOfHalfPrecisionAreRoundedOnce) {
  const Array x = sp::full({1, 1, 32, 32}, 100, sp::float16);
  const auto f = [](const Array& x) { return nn::avg_pool2d(x, 32); };
  EXPECT_EQ(f(x).astype(sp::float32).item<float>(), 100);
  EXPECT_EQ(sp::jit(f)(x).astype(sp::float32).item<float>(), 100);
  const Array padded = nn::avg_pool2d(x, 32, {.padding = 16, .count_include_pad = false});
  EXPECT_EQ(sp::max(padded).astype(sp::float32).item<float>(), 100);
  const Array halved = nn::avg_pool2d(x, 32, {.divisor_override = 2048});
  EXPECT_EQ(halved.astype(sp::float32).item<float>(), 50);
  const Array g = sp::grad([&](const Array& x) { return sp::sum(f(x)); })(x);
  EXPECT_TRUE(sp::array_equal(g, sp::full(x.shape(), 0x1p-10, sp::float16)));
}

// Less than a stride, as in the last layers of GoogLeNet and SqueezeNet for small pictures.
TEST(Pool, WindowsMayBeLargerThanTheInputInCeilMode) {
  const Array x = sp::arange(4.0f).reshape({1, 1, 2, 2}), y = sp::arange(9.0f).reshape({1, 1, 9});
  const auto largest = [](const Array& x) {
    return nn::max_pool2d(x, 3, {.stride = 2, .ceil_mode = true});
  };
  const nn::AvgPoolOptions options{.stride = 2, .ceil_mode = true};
  EXPECT_EQ(largest(x).item<float>(), 3);
  EXPECT_TRUE(sp::array_equal(sp::grad([&](const Array& x) { return sp::sum(largest(x)); })(x),
                              (x == 3.0f).astype(sp::float32)));
  EXPECT_EQ(nn::avg_pool2d(x, 3, options).item<float>(), 1.5f);
  EXPECT_EQ(nn::avg_pool1d(y, 10, options).item<float>(), 4);
  EXPECT_EQ(nn::max_pool1d(y, 4, {.dilation = 3, .ceil_mode = true}).item<float>(), 6);
  EXPECT_THROW(nn::max_pool2d(x, 5, {.stride = 2, .ceil_mode = true}), sp::ShapeError);
  EXPECT_THROW(nn::max_pool1d(y[{sp::slice(), sp::slice(), sp::slice(0)}], 2, {.ceil_mode = true}),
               sp::ShapeError);
}

TEST(Pool, BadWindows) {
  const Array x = sp::ones({1, 1, 4, 4});
  EXPECT_THROW(nn::max_pool2d(x, 2, {.padding = 2}), sp::ShapeError);
  EXPECT_THROW(nn::max_pool2d(x, 5), sp::ShapeError);
  try {
    nn::max_pool2d(x, 2, {.dilation = 4});
    ADD_FAILURE() << "no error";
  } catch (const sp::ShapeError& e) {
    EXPECT_NE(std::string(e.what()).find("the window [2,2] with dilation [4,4] is larger"),
              std::string::npos);
  }
  EXPECT_THROW(nn::max_pool2d(x, 0), sp::ShapeError);
  EXPECT_THROW(nn::max_pool2d(x, {2, 2, 2}), sp::ShapeError);
  EXPECT_THROW(nn::max_pool2d(x, 2, {.stride = 0}), sp::ShapeError);
  EXPECT_THROW(nn::avg_pool2d(sp::ones({4, 4}), 2), sp::ShapeError);
}

}  // namespace pool_test
}  // namespace torch_cases
