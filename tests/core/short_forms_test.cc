// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/ops/short_forms.h"

#include <gtest/gtest.h>

#include <cmath>

#include "spruce/core/ops/ops.h"
#include "spruce/transforms/transforms.h"

namespace spruce {
namespace short_forms_test {

using Ints = std::vector<int32_t>;
using Floats = std::vector<float>;

TEST(ShortForms, OfShapes) {
  const Array x = array({{1, 2, 3}, {4, 5, 6}});
  const std::vector<Array> columns = unstack(x, -1);
  ASSERT_EQ(columns.size(), 3u);
  EXPECT_EQ(columns[2].to_vector<int32_t>(), (Ints{3, 6}));
  EXPECT_EQ(unstack(zeros({0, 2})).size(), 0u);
  EXPECT_THROW((void)unstack(array(1)), ShapeError);
  EXPECT_EQ(atleast_1d(array(3)).shape(), (Shape{1}));
  EXPECT_EQ(atleast_2d(ones({4})).shape(), (Shape{1, 4}));
  EXPECT_EQ(atleast_3d(ones({4})).shape(), (Shape{1, 4, 1}));
  EXPECT_EQ(atleast_3d(ones({4, 5})).shape(), (Shape{4, 5, 1}));
  EXPECT_EQ(fliplr(x).to_vector<int32_t>(), (Ints{3, 2, 1, 6, 5, 4}));
  EXPECT_EQ(flipud(x).to_vector<int32_t>(), (Ints{4, 5, 6, 1, 2, 3}));
  EXPECT_THROW((void)fliplr(ones({3})), ShapeError);
  EXPECT_EQ(column_stack({array({1, 2}), array({3, 4})}).to_vector<int32_t>(), (Ints{1, 3, 2, 4}));
  EXPECT_EQ(dstack({array({1, 2}), array({3, 4})}).shape(), (Shape{1, 2, 2}));
  EXPECT_EQ(hsplit(x, 3)[1].to_vector<int32_t>(), (Ints{2, 5}));
  EXPECT_EQ(hsplit(ones({4}), 2)[1].shape(), (Shape{2}));
  EXPECT_EQ(vsplit(x, 2)[1].to_vector<int32_t>(), (Ints{4, 5, 6}));
}

TEST(ShortForms, PlacesInTriangles) {
  for (const int64_t offset : {int64_t{-2}, int64_t{0}, int64_t{1}, INT64_MAX, INT64_MIN}) {
    for (const int64_t columns : {3, 5}) {
      const int64_t near = std::clamp<int64_t>(offset, -9, 9);
      const Array all = ones({4, columns});
      const auto [lower_rows, lower] = tril_indices(4, offset, columns);
      EXPECT_TRUE(array_equal(zeros({4, columns}).at(lower_rows, lower).set(1), tril(all, near)));
      const auto [upper_rows, upper] = triu_indices(4, offset, columns);
      EXPECT_TRUE(array_equal(zeros({4, columns}).at(upper_rows, upper).set(1), triu(all, near)));
    }
  }
  EXPECT_EQ(tril_indices(2).second.to_vector<int32_t>(), (Ints{0, 0, 1}));
  EXPECT_THROW((void)triu_indices(-1), ValueError);
}

TEST(ShortForms, Logarithms) {
  EXPECT_EQ(xlogy(array({0.0f, 0.0f, 2.0f}), array({0.0f, NAN, 1.0f})).to_vector<float>(),
            (Floats{0, 0, 0}));
  EXPECT_FLOAT_EQ(xlog1py(3, array(1.0f)).item<float>(), 3 * std::log(2.0f));
  const auto [dx, dy] = grad<0, 1>([](const Array& x, const Array& y) { return sum(xlogy(x, y)); })(
      array({0.0f, 3.0f, 0.0f}), array({0.0f, 2.0f, 3.0f}));
  EXPECT_EQ(dy.to_vector<float>(), (Floats{0, 1.5f, 0}));
  EXPECT_EQ(dx.to_vector<float>()[0], 0);
  EXPECT_FLOAT_EQ(dx.to_vector<float>()[1], std::log(2.0f));
  EXPECT_FLOAT_EQ(dx.to_vector<float>()[2], std::log(3.0f));
  EXPECT_NEAR(sigmoid(logit(array(0.3f))).item<float>(), 0.3f, 1e-6f);
  EXPECT_EQ(logit(array(1.0f)).item<float>(), INFINITY);
}

}  // namespace short_forms_test
}  // namespace spruce
