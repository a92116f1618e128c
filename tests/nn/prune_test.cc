// SPDX-License-Identifier: Apache-2.0
// Masks of pruning, against torch.nn.utils.prune 2.15.0 where nothing is drawn.
#include "spruce/nn/prune.h"

#include <gtest/gtest.h>

#include <limits>

#include "spruce/spruce.h"

namespace spruce::nn {
namespace prune_test {

const Array& weight() {
  static const Array w =
      array({{0.5f, -3.0f, 1.5f, 0.25f}, {-2.0f, 0.75f, -0.1f, 4.0f}, {1.0f, -1.25f, 2.5f, -0.6f}});
  return w;
}
int64_t left(const Array& mask) { return sum(mask.astype(int64)).item<int64_t>(); }

TEST(Prune, TheSmallestElementsGo) {
  EXPECT_TRUE(array_equal(
      prune::l1_unstructured(weight(), 3),
      array({{false, true, true, false}, {true, true, false, true}, {true, true, true, true}})));
  // 0.3 * 12 is 3.6, which is rounded; 0.375 * 12 is 4.5, of which the half goes to even.
  EXPECT_EQ(left(prune::l1_unstructured(weight(), 0.3)), 8);
  EXPECT_EQ(left(prune::l1_unstructured(weight(), 0.375)), 8);
  EXPECT_EQ(left(prune::l1_unstructured(weight(), 0)), 12);
  EXPECT_EQ(left(prune::l1_unstructured(weight(), 1.0)), 0);
  const Array scores = arange(12, float32).reshape({3, 4});
  EXPECT_TRUE(array_equal(prune::l1_unstructured(weight(), 4, {.importance_scores = scores}),
                          scores >= 4.0f));
}

TEST(Prune, WhatIsLeftIsPrunedAgain) {
  const Array once = prune::l1_unstructured(weight(), 0.5);
  const Array twice = prune::l1_unstructured(weight(), 0.5, {.mask = once});
  EXPECT_EQ(left(once), 6);
  EXPECT_EQ(left(twice), 3);
  EXPECT_EQ(left(logical_and(once, twice)), 3);
  EXPECT_TRUE(array_equal(twice, abs(weight()) >= 2.5f));
  const auto again = [&](const Array& w, const Array& m) {
    return prune::l1_unstructured(w, 0.5, {.mask = m});
  };
  EXPECT_TRUE(array_equal(jit(again)(weight(), once), twice));
}

TEST(Prune, WholeChannelsGo) {
  const double infinity = std::numeric_limits<double>::infinity();
  // Norms of the rows: 5.25, 6.85, 5.35 for n = 1 and 3, 4, 2.5 for infinity.
  EXPECT_TRUE(array_equal(prune::ln_structured(weight(), 1, 1, 0),
                          broadcast_to(array({false, true, true}).reshape({3, 1}), {3, 4})));
  EXPECT_TRUE(array_equal(prune::ln_structured(weight(), 1, infinity, 0),
                          broadcast_to(array({true, true, false}).reshape({3, 1}), {3, 4})));
  const Array columns = prune::ln_structured(weight(), 0.5, 2, -1);
  EXPECT_TRUE(array_equal(columns, broadcast_to(array({false, true, false, true}), {3, 4})));
  const Array more = prune::ln_structured(weight(), 0.5, 2, 1, {.mask = columns});
  EXPECT_TRUE(array_equal(more, broadcast_to(array({false, false, false, true}), {3, 4})));
}

TEST(Prune, NormsOfHalfPrecisionAreFinite) {
  const Array w = concatenate({full({1, 1000}, 200, float16), full({1, 1000}, 100, float16)});
  EXPECT_TRUE(array_equal(prune::ln_structured(w, 1, 2, 0)[{slice(), 0}], array({true, false})));
}

TEST(Prune, DrawnOnesAreByTheKey) {
  const Array a = prune::random_unstructured(Key(1), weight(), 5);
  EXPECT_EQ(left(a), 7);
  EXPECT_TRUE(array_equal(a, prune::random_unstructured(Key(1), weight(), 5)));
  EXPECT_FALSE(array_equal(a, prune::random_unstructured(Key(2), weight(), 5)));
  const Array rows = prune::random_structured(Key(1), weight(), 0.34, 0);
  EXPECT_EQ(left(rows), 8);
  EXPECT_TRUE(array_equal(all(rows, 1), any(rows, 1)));
}

TEST(Prune, SeveralWeightsTogether) {
  const std::vector<Array> masks =
      prune::global_unstructured({weight(), 10.0f * ones({2, 2})}, 0.5);
  EXPECT_EQ(left(masks[0]), 4);
  EXPECT_EQ(left(masks[1]), 4);
}

TEST(Prune, NoGradientGoesWhereTheMaskIsFalse) {
  const Array mask = prune::l1_unstructured(weight(), 0.5);
  const Array g =
      grad([&](const Array& w) { return sum(prune::apply_mask(w, mask) * 2.0f); })(weight());
  EXPECT_TRUE(array_equal(g, 2.0f * mask.astype(float32)));
}

TEST(Prune, RefusesWhatDoesNotFit) {
  EXPECT_THROW(prune::l1_unstructured(weight(), 13), ValueError);
  EXPECT_THROW(prune::l1_unstructured(weight(), -1), ValueError);
  EXPECT_THROW(prune::l1_unstructured(weight(), 1.5), ValueError);
  EXPECT_THROW(prune::l1_unstructured(weight(), 1, {.mask = ones({3, 4})}), DtypeError);
  EXPECT_THROW(prune::l1_unstructured(weight(), 1, {.mask = ones({3}, bool_)}), ShapeError);
  EXPECT_THROW(prune::ln_structured(ones({4}), 1, 2, 0), ShapeError);
  EXPECT_THROW(prune::ln_structured(weight(), 1, 0, 0), ValueError);
  EXPECT_THROW(prune::global_unstructured({}, 1), ValueError);
}

}  // namespace prune_test
}  // namespace spruce::nn
