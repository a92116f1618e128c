// SPDX-License-Identifier: Apache-2.0
// Kernels that work on rows: 16-bit floats go through rows of f32.
#include <gtest/gtest.h>

#include <cstring>
#include <functional>

#include "spruce/core/ops/ops.h"
#include "spruce/core/parallel.h"
#include "spruce/core/random/random.h"
#include "spruce/nn/nn.h"

namespace spruce {
namespace half_rows_test {

bool same_bits(const Array& a, const Array& b) {
  return std::memcmp(internal::mutable_data(a), internal::mutable_data(b),
                     static_cast<size_t>(a.nbytes())) == 0;
}

TEST(HalfRows, AreRowsOfFloatsRoundedOnce) {
  const std::function<Array(const Array&)> functions[] = {
      [](const Array& x) { return nn::softmax(x); },
      [](const Array& x) { return nn::log_softmax(x); },
      [](const Array& x) {
        const Array ones = full({x.shape().back()}, 1.0f).astype(x.dtype());
        return nn::layer_norm(x, ones.shape(), ones, ones);
      }};
  for (const Dtype dtype : {bfloat16, float16}) {
    for (const Shape& shape : {Shape{1, 5}, Shape{3, 20}, Shape{206, 20}, Shape{70000, 3},
                               Shape{40, 130}, Shape{2, 5000}}) {
      const Array x = (3 * random::normal(Key(1), shape)).astype(dtype);
      for (const auto& f : functions) {
        const Array want = f(x.astype(float32)).astype(dtype);
        for (const int n : {1, 3}) {
          set_threads(n);
          EXPECT_TRUE(same_bits(f(x), want)) << to_string(x.aval()) << ", " << n << " threads";
        }
        set_threads(1);
      }
    }
  }
}

}  // namespace half_rows_test
}  // namespace spruce
