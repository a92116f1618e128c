// SPDX-License-Identifier: Apache-2.0
// Arrays written as lists: as many axes as there are braces, as in NumPy.
#include <gtest/gtest.h>

#include "spruce/core/array.h"

namespace spruce {
namespace array_lists_test {

TEST(Lists, OfNothing) {
  EXPECT_EQ(array<float>({}).shape(), (Shape{0}));
  EXPECT_EQ(array<float>({}).dtype(), float32);
  EXPECT_EQ(array<bool>({}).shape(), (Shape{0}));
  EXPECT_EQ(array(std::vector<float>{}).shape(), (Shape{0}));
  EXPECT_EQ(array(std::vector<bool>{}).shape(), (Shape{0}));
  EXPECT_EQ(array(std::initializer_list<double>{}).shape(), (Shape{0}));
  EXPECT_EQ(array<float>({{}}).shape(), (Shape{1, 0}));
  EXPECT_EQ(array<float>({{}, {}}).shape(), (Shape{2, 0}));
  EXPECT_EQ(array<float>({{{}}}).shape(), (Shape{1, 1, 0}));
  EXPECT_EQ(array<float>({{{}, {}}, {{}, {}}}).shape(), (Shape{2, 2, 0}));
  EXPECT_EQ(array<float>({}, {0, 3}).shape(), (Shape{0, 3}));
}

TEST(Lists, OfSomething) {
  EXPECT_EQ(array(1.0f).shape(), Shape{});
  EXPECT_EQ(array<float>(1).shape(), Shape{});
  EXPECT_EQ(array<float>({1}).shape(), (Shape{1}));
  EXPECT_EQ(array({1.0f}).shape(), (Shape{1}));
  EXPECT_EQ(array({{1.0f}, {2.0f}}).shape(), (Shape{2, 1}));
  EXPECT_EQ(array({{{1}}, {{2}}}).shape(), (Shape{2, 1, 1}));
  EXPECT_EQ(array<float>({{1, 2}, {3, 4}}).to_vector<float>(), (std::vector<float>{1, 2, 3, 4}));
  EXPECT_THROW(array<float>({{1, 2}, {3}}), ShapeError);
  EXPECT_THROW(array<float>({{1}, {}}), ShapeError);
  EXPECT_THROW(array<float>({{{1}}, {{1}, {2}}}), ShapeError);
}

}  // namespace array_lists_test
}  // namespace spruce
