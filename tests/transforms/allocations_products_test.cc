// SPDX-License-Identifier: Apache-2.0
// What calls of compiled functions allocate besides their results, at sizes at which products,
// convolutions and attention go their fast ways.
#include <gtest/gtest.h>

#include "spruce/core/ops/ops.h"
#include "spruce/core/random/random.h"
#include "spruce/nn/nn.h"
#include "spruce/transforms/transforms.h"
#include "tests/transforms/allocations.h"

namespace spruce {
namespace allocations_products_test {

Array normal(const Shape& shape, Dtype dtype = float32) {
  return astype(random::normal(Key(7), shape), dtype);
}

class AllocationsOfProducts : public testing::Test {
 protected:
  // The second call of f, compiled, makes so many arrays and nothing else.
  template <class F, class... Args>
  static void expect_results_only(int64_t results, const F& f, const Args&... args) {
    const auto compiled = jit(f);
    (void)compiled(args...);
    const Allocated second = allocated_by([&] { return compiled(args...); });
    EXPECT_EQ(second.heap, 0);
    EXPECT_EQ(second.arrays, 2 * results);
  }

 private:
  const OneThread one_;
};

TEST_F(AllocationsOfProducts, Matrices) {
  for (const Dtype dtype : {float32, float64, bfloat16, float16, int8, int32}) {
    const auto check = [&](const Shape& a, const Shape& b, const auto& product) {
      const Array x = normal(a, dtype), y = normal(b, dtype);
      SCOPED_TRACE(to_string(x.aval()) + " and " + to_string(y.aval()));
      expect_results_only(1, product, x, y);
    };
    const auto plain = [](const Array& x, const Array& y) { return matmul(x, y); };
    check({256, 256}, {256, 256}, plain);
    check({1024, 64}, {64, 1024}, plain);
    check({512, 512}, {512}, plain);
    check({512}, {512, 512}, plain);
    check({64, 16, 24}, {64, 24, 16}, plain);
    check({8, 128, 64}, {8, 64, 128}, plain);
    // Those of gradients, where an operand is transposed.
    check({512, 512}, {512, 128},
          [](const Array& x, const Array& y) { return matmul(swapaxes(x, 0, 1), y); });
    check({64, 512}, {512, 512},
          [](const Array& x, const Array& y) { return matmul(x, swapaxes(y, 0, 1)); });
    // Sums over axes that are not neighbours.
    check({16, 32, 16}, {16, 24, 16}, [](const Array& x, const Array& y) {
      return dot_general(x, y, {{0, 2}, {2, 0}, {}, {}});
    });
  }
}

TEST_F(AllocationsOfProducts, Convolutions) {
  struct Case {
    Shape x, w;
    int64_t stride, groups;
  };
  for (const Dtype dtype : {float32, float64, bfloat16}) {
    for (const Case& c :
         {Case{{8, 16, 16, 16}, {16, 16, 3, 3}, 1, 1}, Case{{4, 64, 12, 12}, {32, 64, 3, 3}, 2, 1},
          Case{{20, 3, 17, 17}, {6, 3, 5, 5}, 1, 1}, Case{{2, 20, 9, 9}, {40, 10, 3, 3}, 1, 2},
          Case{{3, 32, 10, 10}, {32, 1, 3, 3}, 2, 32}, Case{{4, 16, 50}, {24, 16, 5}, 1, 1}}) {
      const Array x = normal(c.x, dtype), w = normal(c.w, dtype);
      SCOPED_TRACE(to_string(x.aval()) + " and " + to_string(w.aval()));
      const Shape ones = Shape::filled(x.rank() - 2, 1),
                  strides = Shape::filled(x.rank() - 2, c.stride);
      const auto f = [&](const Array& a, const Array& b) {
        return conv_general(a, b,
                            {.strides = strides,
                             .padding_low = ones,
                             .padding_high = ones,
                             .feature_group_count = c.groups});
      };
      expect_results_only(1, f, x, w);
      expect_results_only(2, value_and_grad([&](const Array& a) { return sum(square(f(a, w))); }),
                          x);
      expect_results_only(2, value_and_grad([&](const Array& b) { return sum(square(f(x, b))); }),
                          w);
    }
  }
}

struct Net {
  nn::Conv2d first, second;
  nn::Linear last;
};

TEST_F(AllocationsOfProducts, AStepOfASmallNetwork) {
  const Net net{nn::Conv2d::init(Key(1), 3, 8, 3, {.padding = 1}),
                nn::Conv2d::init(Key(2), 8, 8, 3, {.padding = 1}),
                nn::Linear::init(Key(3), 8 * 64, 10)};
  const Array x = normal({16, 3, 16, 16}), y = arange(16) % 10;
  const auto step = [&](const Net& n, const Array& images, const Array& labels) {
    return value_and_grad([&](const Net& m) {
      Array h = nn::relu(m.first(images));
      h = nn::max_pool2d(h, 2);
      h = nn::relu(m.second(h));
      return nn::cross_entropy(m.last(h.reshape({16, -1})), labels);
    })(n);
  };
  expect_results_only(7, step, net, x, y);
}

TEST_F(AllocationsOfProducts, Attention) {
  for (const Dtype dtype : {float32, float64, bfloat16}) {
    const Shape shape{1, 4, 256, 32};
    const Array q = normal(shape, dtype), k = normal(shape, dtype), v = normal(shape, dtype);
    const Array open = normal({256, 256}) < 1.0f, added = normal({256, 256}, dtype);
    for (const int form : {0, 1, 2, 3}) {
      SCOPED_TRACE(to_string(q.aval()) + ", form " + std::to_string(form));
      nn::AttentionOptions options;
      options.is_causal = form == 1;
      if (form > 1) options.attn_mask = form == 2 ? open : added;
      const auto f = [&](const Array& a, const Array& b, const Array& c) {
        return nn::scaled_dot_product_attention(a, b, c, options);
      };
      expect_results_only(1, f, q, k, v);
      const auto gradient = grad<0, 1, 2>(
          [&](const Array& a, const Array& b, const Array& c) { return sum(square(f(a, b, c))); });
      expect_results_only(3, gradient, q, k, v);
    }
  }
}

TEST_F(AllocationsOfProducts, Rows) {
  for (const Dtype dtype : {float32, float64, bfloat16, float16}) {
    const Array x = normal({512, 512}, dtype), w = normal({512}, dtype);
    SCOPED_TRACE(to_string(x.aval()));
    expect_results_only(
        1, [](const Array& a) { return nn::softmax(a); }, x);
    expect_results_only(
        1, [](const Array& a) { return nn::log_softmax(a); }, x);
    const auto norm = [](const Array& a, const Array& b) { return nn::layer_norm(a, {512}, b, b); };
    expect_results_only(1, norm, x, w);
    expect_results_only(
        2, grad<0, 1>([&](const Array& a, const Array& b) { return sum(square(norm(a, b))); }), x,
        w);
  }
}

}  // namespace allocations_products_test
}  // namespace spruce
