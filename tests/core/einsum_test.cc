// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/ops/einsum.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "spruce/core/ops/compare.h"
#include "spruce/core/ops/linalg.h"
#include "spruce/core/ops/shape.h"

namespace spruce {
namespace einsum_test {

struct EinsumCase {
  std::string equation;
  std::vector<std::vector<int64_t>> shapes;
  std::vector<int64_t> shape;
  std::vector<double> values;
};

const std::vector<EinsumCase>& cases() {
  static const std::vector<EinsumCase> all = {
#include "tests/core/einsum_cases.inc"
  };
  return all;
}

Array operand(int64_t number, const Shape& shape) {
  std::vector<double> v(static_cast<size_t>(shape.numel()));
  for (size_t i = 0; i < v.size(); ++i)
    v[i] = static_cast<double>((7 * static_cast<int64_t>(i) + 3 * number) % 11 - 5);
  return array(v, shape);
}

TEST(Einsum, IsNumPys) {
  EXPECT_EQ(cases().size(), 300u);
  for (const EinsumCase& c : cases()) {
    for (const Dtype dtype : {float64, float32, int64}) {
      std::vector<Array> in;
      for (size_t j = 0; j < c.shapes.size(); ++j)
        in.push_back(astype(operand(static_cast<int64_t>(j), c.shapes[j]), dtype));
      const Array y = einsum(c.equation, in);
      EXPECT_EQ(y.dtype(), dtype);
      ASSERT_EQ(y.shape(), Shape(c.shape)) << c.equation;
      ASSERT_EQ(astype(y, float64).to_vector<double>(), c.values) << c.equation;
    }
  }
}

TEST(Einsum, KeepsNarrowDtypesAndPromotesOperands) {
  const Array small = array({int8_t{100}, int8_t{100}});
  EXPECT_EQ(einsum("i->", {small}).dtype(), int8);
  EXPECT_EQ(einsum("i->", {small}).item<int8_t>(), static_cast<int8_t>(200 - 256));
  EXPECT_EQ(einsum("i,i->", {small, array({0.5f, 0.25f})}).item<float>(), 75.0f);
  EXPECT_EQ(einsum("ij,j->i", {array({true, false, false, false}, {2, 2}), array({true, true})})
                .to_vector<bool>(),
            (std::vector<bool>{true, false}));
}

std::string message_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const ValueError& e) {
    return std::string("ValueError ") + e.what();
  } catch (const ShapeError& e) {
    return std::string("ShapeError ") + e.what();
  }
  return "";
}

TEST(Einsum, TakesOperandsOneByOne) {
  const Array a = array({{1.0f, 2.0f}, {3.0f, 4.0f}}), b = array({{0.0f, 1.0f}, {1.0f, 0.0f}});
  EXPECT_TRUE(array_equal(einsum("ii->i", a), diag(a)));
  EXPECT_TRUE(array_equal(einsum("ij,jk->ik", a, b), matmul(a, b)));
  EXPECT_TRUE(array_equal(einsum("ij,jk,kl", a, b, b), a));
  EXPECT_TRUE(array_equal(einsum("ij->ji", {a}), transpose(a)));
}

TEST(Einsum, SaysWhatIsWrongWithAnEquation) {
  const Array a = operand(0, {2, 3}), b = operand(1, {4, 2});
  const auto says = [&](const char* equation, const std::vector<Array>& in, const char* text) {
    EXPECT_THAT(message_of([&] { einsum(equation, in); }), testing::StartsWith(text)) << equation;
  };
  says("ij,jk->ik", {a, b},
       "ShapeError einsum(\"ij,jk->ik\"): 'j' has the sizes 3 and 4, the latter on axis 0 of "
       "operand 1, f64[4,2]");
  says("ij", {a, b}, "ValueError einsum(\"ij\"): it has the subscripts of 1 operands, 2 are given");
  says("ij,jk,kl", {a, b},
       "ValueError einsum(\"ij,jk,kl\"): it has the subscripts of 3 operands, 2 are given");
  says("ijk", {a},
       "ShapeError einsum(\"ijk\"): operand 0 is f64[2,3] and has the subscripts of 3 axes");
  says("i", {a},
       "ShapeError einsum(\"i\"): operand 0 is f64[2,3] and has the subscripts of 1 axes");
  says("ijk...", {a},
       "ShapeError einsum(\"ijk...\"): operand 0 is f64[2,3] and has the subscripts of 3 axes "
       "beside the ellipsis");
  says("ij->k", {a},
       "ValueError einsum(\"ij->k\"): the result has 'k', which no operand has, at character 5");
  says("ij->ii", {a}, "ValueError einsum(\"ij->ii\"): the result has 'i' twice, at character 5");
  says("i1", {a}, "ValueError einsum(\"i1\"): the character '1' is no letter, at character 2");
  says("i..", {a},
       "ValueError einsum(\"i..\"): a '.' that is not part of an ellipsis '...', at character 2");
  says("......", {a},
       "ValueError einsum(\"......\"): a second ellipsis in one operand, at character 4");
  says("ij->i->j", {a},
       "ValueError einsum(\"ij->i->j\"): a second arrow, or half of one, at character 6");
  says("i-j", {a}, "ValueError einsum(\"i-j\"): a second arrow, or half of one, at character 2");
  says("i...->i", {a},
       "ValueError einsum(\"i...->i\"): the operands have an ellipsis and the result has none, at "
       "character 7");
  says("ii", {a},
       "ShapeError einsum(\"ii\"): 'i' has the sizes 2 and 3, the latter on axis 1 of operand 0, "
       "f64[2,3]");
  says("", {}, "ValueError einsum(\"\"): there are no operands");
}

}  // namespace einsum_test
}  // namespace spruce
