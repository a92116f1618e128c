// SPDX-License-Identifier: Apache-2.0
// The kernel of attention beside its slow form, over sizes that end within its tiles.
#include "spruce/core/rules/attention.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <string>

#include "spruce/core/array.h"
#include "spruce/core/error.h"
#include "spruce/core/ops/ops.h"
#include "spruce/core/parallel.h"

namespace spruce {
namespace attention_test {

struct Sizes {
  int64_t n, t, s, d, e;
};

// Values that repeat at no size of the tiles.
Array wave(const Shape& shape, double step, Dtype dtype) {
  const Array count = astype(arange(shape.numel()), float64);
  return astype(sin(reshape(count, shape) * step) * 2.0, dtype);
}

std::vector<Array> operands(const Sizes& z, Dtype dtype) {
  return {wave({z.n, z.t, z.d}, 0.37, dtype), wave({z.n, z.s, z.d}, 0.71, dtype),
          wave({z.n, z.s, z.e}, 1.13, dtype)};
}

void expect_slow_form(const std::vector<Array>& in, bool causal, const std::string& what) {
  const Params params = Params::make(AttentionParams{0.3, causal});
  const Array got = bind1(attention_p, in, params), want = attention_p.expand(in, params)[0];
  ASSERT_EQ(got.aval(), want.aval()) << what;
  const double tol = in[0].dtype() == float64 ? 1e-13 : in[0].dtype() == float32 ? 2e-6 : 4e-2;
  const Array away = astype(got, float64) - astype(want, float64);
  if (got.size() == 0) return;
  EXPECT_LE(max(abs(away)).item<double>(), tol) << what;
}

TEST(AttentionKernel, IsTheSlowForm) {
  for (const Sizes& z : {Sizes{2, 70, 300, 5, 3}, Sizes{1, 300, 129, 17, 33},
                         Sizes{3, 1, 128, 4, 1}, Sizes{2, 65, 1, 1, 2}, Sizes{1, 257, 257, 8, 16},
                         Sizes{2, 3, 0, 2, 2}, Sizes{0, 3, 4, 2, 2}, Sizes{2, 33, 40, 0, 5}}) {
    for (const Dtype dtype : {float32, float64, bfloat16}) {
      const std::vector<Array> in = operands(z, dtype);
      const std::string what = to_string(in[0].aval()) + " " + to_string(in[2].aval());
      expect_slow_form(in, false, what);
      if (z.s > 0) expect_slow_form(in, true, what + " causal");
    }
  }
}

TEST(AttentionKernel, Masks) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const Sizes z{3, 40, 150, 6, 4};
  for (const Dtype dtype : {float32, float64}) {
    for (const Shape& shape :
         {Shape{40, 150}, Shape{3, 1, 150}, Shape{3, 40, 1}, Shape{150}, Shape{3, 40, 150}}) {
      std::vector<Array> in = operands(z, dtype);
      const Array w = wave(shape, 0.9, dtype);
      in.push_back(w > -1.5);
      expect_slow_form(in, false, "bool " + to_string(shape));
      in.back() = where(w > -1.0, w, full({}, -kInfinity, dtype));
      expect_slow_form(in, false, "added " + to_string(shape));
    }
  }
}

TEST(AttentionKernel, AClosedRowGivesZerosAndNaNStays) {
  std::vector<Array> in = operands({1, 3, 200, 2, 2}, float32);
  in.push_back(wave({3, 200}, 0.9, float32) > array({{-3.0f}, {3.0f}, {-3.0f}}));
  const Array y = bind1(attention_p, in, Params::make(AttentionParams{1, false}));
  EXPECT_TRUE(array_equal(y[0][1], zeros({2})));
  EXPECT_GT(max(abs(y[0][2])).item<float>(), 0);
  in.pop_back();
  in[1] = where(wave({1, 200, 2}, 0.1, float32) > 1.9, NAN, in[1]);
  const Array broken = bind1(attention_p, in, Params::make(AttentionParams{1, false}));
  EXPECT_TRUE(all(broken != broken).item<bool>());
}

TEST(AttentionKernel, LargeScoresDoNotOverflow) {
  std::vector<Array> in = operands({1, 64, 400, 8, 4}, float32);
  in[0] = in[0] * 1000.0f;
  expect_slow_form(in, false, "large");
}

TEST(AttentionKernel, DoesNotDependOnTheNumberOfThreads) {
  const std::vector<Array> in = operands({7, 300, 260, 16, 16}, float32);
  for (const bool causal : {false, true}) {
    const Params params = Params::make(AttentionParams{0.3, causal});
    set_threads(1);
    const Array one = bind1(attention_p, in, params);
    set_threads(3);
    const Array three = bind1(attention_p, in, params);
    set_threads(1);
    EXPECT_TRUE(array_equal(one, three));
  }
}

TEST(AttentionKernel, BadInput) {
  const auto attend = [](const std::vector<Array>& in, bool causal = false) {
    return bind1(attention_p, in, Params::make(AttentionParams{1, causal}));
  };
  const Array q = ones({2, 4, 3});
  EXPECT_THROW(attend({q, q[0], q}), ShapeError);
  EXPECT_THROW(attend({q, ones({1, 4, 3}), q}), ShapeError);
  EXPECT_THROW(attend({q, q, ones({2, 5, 3})}), ShapeError);
  EXPECT_THROW(attend({q, q, astype(q, float64)}), DtypeError);
  EXPECT_THROW(attend({q, q, q, ones({3, 4})}), ShapeError);
  EXPECT_THROW(attend({q, q, q, ones({4, 4})}, true), ValueError);
}

}  // namespace attention_test
}  // namespace spruce
