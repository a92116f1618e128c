// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/ops/dynamic_slice.h"

#include <gtest/gtest.h>
#include <spruce/spruce.h>

namespace spruce {
namespace dynamic_slice_test {

const Array kGrid = arange(12.0f).reshape({3, 4});

TEST(DynamicSlice, TakesAWindowAndMovesItToWhereItFits) {
  EXPECT_TRUE(
      array_equal(dynamic_slice(kGrid, {1, 2}, {2, 2}), array({{6.0f, 7.0f}, {10.0f, 11.0f}})));
  EXPECT_TRUE(array_equal(dynamic_slice(kGrid, {7, 0}, {1, 4}), kGrid[{slice(2, 3)}]));
  EXPECT_TRUE(array_equal(dynamic_slice(kGrid, {-1, -2}, {1, 2}), array({{10.0f, 11.0f}})));
  EXPECT_TRUE(array_equal(dynamic_slice(kGrid, {-9, 0}, {1, 4}), kGrid[{slice(0, 1)}]));
  EXPECT_EQ((dynamic_slice(kGrid, {0, 0}, {0, 4}).shape()), (Shape{0, 4}));
  EXPECT_EQ((dynamic_slice(array(3.0f), {}, {}).item<float>()), 3.0f);
  EXPECT_TRUE(array_equal(dynamic_slice_in_dim(kGrid, 1, 2, -1), kGrid[{slice(), slice(1, 3)}]));
  const Array unsigned_start = array(uint8_t{250});
  EXPECT_TRUE(array_equal(dynamic_slice_in_dim(kGrid, unsigned_start, 1), kGrid[{slice(2, 3)}]));
}

TEST(DynamicSlice, UpdatesAWindow) {
  const Array x = dynamic_update_slice(kGrid, -ones({2, 2}), {1, 1});
  EXPECT_TRUE(array_equal(x, kGrid.at(slice(1, 3), slice(1, 3)).set(-1.0f)));
  const Array row = dynamic_update_slice_in_dim(kGrid, zeros({1, 4}), -1, 0);
  EXPECT_TRUE(array_equal(row, kGrid.at(2).set(0.0f)));
  EXPECT_EQ((kGrid[{1, 1}].item<float>()), 5.0f);
  EXPECT_TRUE(array_equal(dynamic_update_slice(arange(3.0, float64), Array(7.0f).reshape({1}), {1}),
                          array({0.0, 7.0, 2.0}, float64)));
}

TEST(DynamicSlice, UpdateReusesMemoryThatWasMovedIn) {
  Array x = zeros({1000});
  const void* memory = x.data<float>().data();
  const Array y = dynamic_update_slice(std::move(x), ones({10}), {5});
  EXPECT_EQ(y.data<float>().data(), memory);
}

TEST(DynamicSlice, MovesUnderTransforms) {
  const auto window = [](const Array& x, const Array& i) { return dynamic_slice_in_dim(x, i, 2); };
  const Array x = array({1.0, 2.0, 3.0, 4.0}, float64);
  const auto compiled = jit(window);
  for (int i = -2; i < 4; ++i)
    EXPECT_TRUE(array_equal(compiled(x, array(i)), window(x, array(i)))) << i;
  EXPECT_EQ(compiled.trace_count(), 1);
  const Array starts = array({0, 2, -4});
  EXPECT_TRUE(array_equal(vmap(window, {.in_axes = {none, 0}})(x, starts),
                          array({{1.0, 2.0}, {3.0, 4.0}, {1.0, 2.0}}, float64)));
  const auto loss = [&](const Array& x) { return sum(square(window(x, array(1)))); };
  EXPECT_TRUE(array_equal(grad(loss)(x), array({0.0, 4.0, 6.0, 0.0}, float64)));
  const auto replaced = [&](const Array& u) {
    return sum(square(dynamic_update_slice(x, u, {1})));
  };
  EXPECT_TRUE(
      array_equal(grad(replaced)(array({5.0, 6.0}, float64)), array({10.0, 12.0}, float64)));
}

TEST(DynamicSlice, BadInput) {
  EXPECT_THROW(dynamic_slice(kGrid, {0}, {1, 1}), ShapeError);
  EXPECT_THROW(dynamic_slice(kGrid, {0, 0}, {4, 1}), ShapeError);
  EXPECT_THROW(dynamic_slice(kGrid, {0.5f, 0}, {1, 1}), DtypeError);
  EXPECT_THROW(dynamic_update_slice(kGrid, zeros({1, 1}, float64), {0, 0}), DtypeError);
  EXPECT_THROW(dynamic_update_slice(kGrid, zeros({1}), {0, 0}), ShapeError);
  EXPECT_THROW(dynamic_slice_in_dim(kGrid, 0, 1, 2), ShapeError);
}

}  // namespace dynamic_slice_test
}  // namespace spruce
