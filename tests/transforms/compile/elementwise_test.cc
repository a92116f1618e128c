// SPDX-License-Identifier: Apache-2.0
// elementwise: one loop for a function of single elements, under every transform.
#include <gtest/gtest.h>
#include <spruce/spruce.h>

#include <string>
#include <vector>

namespace spruce {
namespace elementwise_test {

Array swish(const Array& x, const Array& slope) { return x * logistic(slope * x); }

const auto& fused_swish() {
  static const auto f = elementwise(swish);
  return f;
}

Array numbers() { return linspace(-3.0f, 3.0f, 7); }

TEST(Elementwise, GivesWhatTheFunctionGives) {
  for (const Dtype d : {float32, float64, float16, bfloat16}) {
    const Array x = astype(numbers(), d), slope = astype(array({0.5f, 2.0f}), d);
    const Array column = reshape(slope, {2, 1});
    const Array y = fused_swish()(x, column);
    EXPECT_EQ(y.dtype(), d);
    EXPECT_EQ(y.shape(), (Shape{2, 7}));
    // 16-bit floats are rounded once.
    const bool half = is_half(d);
    const Array want =
        half ? astype(swish(astype(x, float32), astype(column, float32)), d) : swish(x, column);
    EXPECT_TRUE(all(y == want).item<bool>());
    EXPECT_TRUE(all(jit(fused_swish())(x, column) == want).item<bool>());
  }
}

TEST(Elementwise, TakesNumbersInTheDtypeOfTheArrays) {
  const Array x = numbers();
  EXPECT_EQ(fused_swish()(x, 0.1).dtype(), float32);
  EXPECT_TRUE(all(fused_swish()(x, 0.1) == swish(x, 0.1f)).item<bool>());
  const Array wide = astype(x, float64);
  EXPECT_EQ(fused_swish()(wide, 0.1).dtype(), float64);
  EXPECT_TRUE(all(fused_swish()(wide, 0.1) == swish(wide, 0.1)).item<bool>());
}

TEST(Elementwise, IsStagedOnceForTheSameForm) {
  int calls = 0;
  const auto f = elementwise([&calls](const Array& x, const Array& y) {
    ++calls;
    return x + y * y;
  });
  f(numbers(), numbers());
  const int once = calls;
  f(ones({7}), 2.0 * numbers());
  EXPECT_EQ(calls, once);
  f(ones({3}), ones({3}));
  EXPECT_GT(calls, once);
}

TEST(Elementwise, TakesManyShapesWithoutAWarning) {
  const auto f = elementwise([](const Array& x) { return x * x + 1.0f; });
  testing::internal::CaptureStderr();
  for (int64_t n = 1; n <= 20; ++n) (void)f(ones({n}));
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST(Elementwise, IsTheFunctionUnderTransforms) {
  const Array x = numbers();
  const auto loss = [](const Array& v) { return sum(fused_swish()(v, 1.5)); };
  const auto plain = [](const Array& v) { return sum(swish(v, 1.5)); };
  EXPECT_TRUE(all(grad(loss)(x) == grad(plain)(x)).item<bool>());
  EXPECT_TRUE(all(jit(grad(loss))(x) == jit(grad(plain))(x)).item<bool>());
  EXPECT_TRUE(all(grad([&](const Array& v) { return sum(square(grad(loss)(v))); })(x) ==
                  grad([&](const Array& v) { return sum(square(grad(plain)(v))); })(x))
                  .item<bool>());
  const auto rows = vmap([](const Array& v) { return fused_swish()(v, 1.5); })(stack({x, 2.0 * x}));
  EXPECT_TRUE(all(rows == swish(stack({x, 2.0 * x}), 1.5)).item<bool>());
  const auto [y, t] = jvp([](const Array& v) { return fused_swish()(v, 1.5); }, std::tuple{x},
                          std::tuple{ones({7})});
  EXPECT_TRUE(all(y == swish(x, 1.5)).item<bool>());
  EXPECT_TRUE(all(t == jvp([](const Array& v) { return swish(v, 1.5); }, std::tuple{x},
                           std::tuple{ones({7})})
                           .second)
                  .item<bool>());
}

TEST(Elementwise, GivesSeveralResults) {
  const auto f = elementwise([](const Array& x) { return std::pair{sin(x), cos(x)}; });
  const auto [s, c] = f(numbers());
  EXPECT_TRUE(all(s == sin(numbers())).item<bool>());
  EXPECT_TRUE(all(c == cos(numbers())).item<bool>());
}

TEST(Elementwise, RefusesWhatIsNotOnSingleElements) {
  const auto f = elementwise([](const Array& x) { return x - sum(x); });
  try {
    f(numbers());
    FAIL();
  } catch (const ValueError& e) {
    EXPECT_NE(std::string(e.what()).find("reduce_sum"), std::string::npos) << e.what();
  }
}

}  // namespace elementwise_test
}  // namespace spruce
