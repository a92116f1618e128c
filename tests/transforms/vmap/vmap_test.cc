// SPDX-License-Identifier: Apache-2.0
// vmap: axes in and out, trees of axes, keys, sizes, and what is refused.
#include "spruce/transforms/vmap/vmap.h"

#include <gtest/gtest.h>

#include "spruce/core/ops/ops.h"
#include "spruce/core/random/random.h"
#include "spruce/transforms/transforms.h"

namespace spruce {
namespace vmap_test {

const Array kBlock = reshape(arange(24.0f), {2, 3, 4});

TEST(VmapAxes, EveryAxisIn) {
  const auto f = [](const Array& x) { return x * 2.0f + sum(x); };
  for (const int axis : {0, 1, 2, -1, -2, -3}) {
    const Array got = vmap(f, {.in_axes = axis})(kBlock);
    const Array front = moveaxis(kBlock, axis, 0);
    for (int64_t i = 0; i < front.shape(0); ++i)
      EXPECT_TRUE(array_equal(got[i], f(front[i]))) << axis;
  }
}

TEST(VmapAxes, EveryAxisOut) {
  const auto f = [](const Array& x) { return x + 1.0f; };
  for (const int axis : {0, 1, 2, -1, -2, -3}) {
    EXPECT_TRUE(array_equal(vmap(f, {.out_axes = axis})(kBlock), moveaxis(kBlock + 1.0f, 0, axis)))
        << axis;
  }
}

TEST(VmapAxes, BracesAndNumbersAreInAxes) {
  const auto f = [](const Array& a, const Array& b) { return a * b; };
  const Array x = reshape(arange(6.0f), {2, 3}), y = transpose(x);
  EXPECT_TRUE(array_equal(vmap(f, {0, 1})(x, y), x * x));
  EXPECT_TRUE(array_equal(vmap(f, {0, none})(x, x[0]), x * x[0]));
  EXPECT_TRUE(array_equal(vmap(f, 1)(x, x), y * y));
  EXPECT_TRUE(array_equal(vmap(f, {})(x, x), x * x));
  EXPECT_TRUE(array_equal(vmap(f, {.in_axes = {0, 1}, .out_axes = 1})(x, y), transpose(x * x)));
}

struct Pair {
  Array a, b;
};

TEST(VmapAxes, TreesOfAxes) {
  const auto f = [](const Pair& p, const Array& c) { return std::pair{p.a * p.b, c}; };
  const Array a = reshape(arange(6.0f), {2, 3}), b = reshape(arange(6.0f), {3, 2});
  const auto [product, c] =
      vmap(f, {.in_axes = {{1, 0}, none}, .out_axes = {1, none}})(Pair{a, b}, array(5.0f));
  EXPECT_TRUE(array_equal(product, transpose(transpose(a) * b)));
  EXPECT_EQ(c.item<float>(), 5.0f);
}

TEST(VmapAxes, ResultsThatDoNotDependOnTheMap) {
  const Array got = vmap([](const Array&) { return array({1.0f, 2.0f}); })(zeros({3}));
  EXPECT_TRUE(array_equal(got, array({{1.0f, 2.0f}, {1.0f, 2.0f}, {1.0f, 2.0f}})));
  EXPECT_TRUE(array_equal(
      vmap([](const Array&) { return array(7); }, {.out_axes = none})(zeros({3})), array(7)));
}

TEST(VmapAxes, OfNoSlices) {
  const auto f = [](const Array& x) { return std::pair{sum(sin(x)), matmul(x, x)}; };
  const auto [s, m] = vmap(f)(zeros({0, 2, 2}));
  EXPECT_EQ(s.shape(), Shape{0});
  EXPECT_EQ(m.shape(), (Shape{0, 2, 2}));
  EXPECT_EQ(vmap(grad([](const Array& x) { return x * x; }))(zeros({0})).shape(), Shape{0});
}

TEST(VmapAxes, WhatDoesNotFitIsAnError) {
  const auto f = [](const Array& a, const Array& b) { return a + b; };
  EXPECT_THROW((void)vmap(f)(zeros({3}), zeros({4})), ShapeError);
  EXPECT_THROW((void)vmap(f)(array(1.0f), zeros({4})), ShapeError);
  EXPECT_THROW((void)vmap(f, {.in_axes = {0, 2}})(zeros({3}), zeros({3})), ShapeError);
  EXPECT_THROW((void)vmap(f, {.in_axes = {0}})(zeros({3}), zeros({3})), TreeError);
  EXPECT_THROW((void)vmap(f, {.in_axes = {0, 0, 0}})(zeros({3}), zeros({3})), TreeError);
  EXPECT_THROW((void)vmap(f, {.in_axes = none})(zeros({3}), zeros({3})), TreeError);
  EXPECT_THROW((void)vmap(f, {.out_axes = none})(zeros({3}), zeros({3})), TreeError);
  EXPECT_THROW((void)vmap(f, {.out_axes = 1})(zeros({3}), zeros({3})), ShapeError);
  EXPECT_EQ(Interpreter::current(), nullptr);
}

TEST(VmapAxes, ASliceHasNoValue) {
  EXPECT_THROW((void)vmap([](const Array& x) { return x > 0.0f ? x : -x; })(zeros({3})),
               TracerError);
  EXPECT_THROW((void)vmap([](const Array& x) { return array(x.item<float>()); })(zeros({3})),
               TracerError);
}

TEST(VmapKeys, ABatchOfKeysGivesWhatEachGives) {
  const Key keys = random::split(Key(3), 4);
  const auto draw = [](const Key& k) { return random::normal(k, {2}); };
  const Array got = vmap(draw)(keys), compiled = jit(vmap(draw))(keys);
  EXPECT_TRUE(array_equal(got, compiled));
  const Array scaled = vmap(
      [](const Key& k, const Array& s) { return s * random::uniform(k, {}); })(keys, arange(4.0f));
  for (int i = 0; i < 4; ++i) {
    const Key one = keys[i];
    EXPECT_TRUE(array_equal(got[i], draw(one)));
    EXPECT_TRUE(array_equal(scaled[i], static_cast<float>(i) * random::uniform(one, {})));
  }
}

TEST(VmapKeys, OneKeyForAll) {
  const auto f = [](const Key& k, const Array& x) { return x + random::uniform(k, {}); };
  const Array got = vmap(f, {.in_axes = {none, 0}})(Key(1), zeros({3}));
  EXPECT_TRUE(array_equal(got, full({3}, random::uniform(Key(1), {}).item<float>())));
}

TEST(VmapNested, DifferentAxes) {
  const auto dot = [](const Array& a, const Array& b) { return sum(a * b); };
  const Array a = reshape(arange(6.0f), {2, 3}), b = reshape(arange(12.0f), {3, 4});
  const auto rows = vmap(vmap(dot, {.in_axes = {none, 1}}), {.in_axes = {0, none}});
  EXPECT_TRUE(allclose(rows(a, b), matmul(a, b)));
}

}  // namespace vmap_test
}  // namespace spruce
