// SPDX-License-Identifier: Apache-2.0
#include "spruce/data/sampler.h"

#include <gmock/gmock.h>

#include <cmath>
#include <set>

#include "spruce/core/ops/ops.h"
#include "spruce/data/collate.h"
#include "spruce/data/split.h"
#include "tests/core/message.h"

namespace spruce::data {
namespace sampler_test {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(Sampler, ShuffledIsThePermutationOfTheFoldedKey) {
  const Sampler s = shuffled(9, Key(3));
  const auto expected = random::permutation(random::fold_in(Key(3), 4), 9).to_vector<int32_t>();
  EXPECT_EQ(s.order(4), std::vector<int64_t>(expected.begin(), expected.end()));
  EXPECT_THROW(shuffled(-1, Key(0)), ValueError);
  EXPECT_THROW(shuffled(3, Key()), ValueError);
}

TEST(Sampler, WeightedDrawsInProportion) {
  const std::vector<double> weights = {1, 0, 3, 6};
  const int64_t n = 40000;
  const Sampler s = weighted(weights, Key(0), {.count = n});
  std::vector<double> seen(4);
  for (const int64_t i : s.order(0)) ++seen[static_cast<size_t>(i)];
  EXPECT_EQ(seen[1], 0);
  for (const size_t k : {0u, 2u, 3u}) {
    const double p = weights[k] / 10;  // within five standard deviations
    EXPECT_NEAR(seen[k] / static_cast<double>(n), p,
                5 * std::sqrt(p * (1 - p) / static_cast<double>(n)));
  }
  EXPECT_EQ(s.order(1), s.order(1));
  EXPECT_NE(s.order(0), s.order(1));
}

TEST(Sampler, WeightedWithoutReplacement) {
  const std::vector<double> weights = {1, 0, 1, 8};
  const Sampler s = weighted(weights, Key(0), {.count = 2, .replace = false});
  // The first is i with probability w[i] / 10, the second then w[j] / (10 - w[i]).
  const int epochs = 4000;
  double first_is_3 = 0, both_small = 0;
  for (int64_t e = 0; e < epochs; ++e) {
    const std::vector<int64_t> order = s.order(e);
    ASSERT_EQ(order.size(), 2u);
    EXPECT_NE(order[0], order[1]);
    EXPECT_NE(order[0], 1);
    EXPECT_NE(order[1], 1);
    first_is_3 += order[0] == 3;
    both_small += order[0] != 3 && order[1] != 3;
  }
  EXPECT_NEAR(first_is_3 / epochs, 0.8, 5 * std::sqrt(0.16 / epochs));
  EXPECT_NEAR(both_small / epochs, 0.2 / 9, 5 * std::sqrt(0.022 / epochs));
  EXPECT_THAT(
      message<ValueError>([&] { weighted(weights, Key(0), {.count = 4, .replace = false}); }),
      HasSubstr("weighted: 4 examples cannot be drawn from 3 with a positive weight"));
}

TEST(Sampler, WeightsThatAreNone) {
  EXPECT_THROW(weighted({0, 0}, Key(0)), ValueError);
  EXPECT_THAT(message<ValueError>([] { weighted({1, -1}, Key(0)); }), HasSubstr("weight 1 is -1"));
  EXPECT_THROW(weighted({NAN}, Key(0)), ValueError);
  EXPECT_THROW(weighted({INFINITY}, Key(0)), ValueError);
  EXPECT_THROW(weighted({1e308, 1e308}, Key(0)), ValueError);
}

TEST(Sampler, SharesOfProcesses) {
  for (const bool drop : {false, true}) {
    std::multiset<int64_t> all;
    for (int64_t rank = 0; rank < 3; ++rank) {
      const Sampler s =
          distributed(shuffled(10, Key(7)), {.rank = rank, .processes = 3, .drop_last = drop});
      const std::vector<int64_t> order = s.order(2);
      EXPECT_EQ(s.size, drop ? 3 : 4);
      EXPECT_EQ(static_cast<int64_t>(order.size()), s.size);
      all.insert(order.begin(), order.end());
    }
    const std::set<int64_t> different(all.begin(), all.end());
    EXPECT_EQ(different.size(), drop ? 9u : 10u);
    EXPECT_EQ(all.size(), drop ? 9u : 12u);
  }
  // torch.utils.data.DistributedSampler(range(5), 2, rank=1, shuffle=False): [1, 3, 0]
  EXPECT_THAT(distributed(in_order(5), {.rank = 1, .processes = 2}).order(0), ElementsAre(1, 3, 0));
  EXPECT_THROW(distributed(in_order(5), {.rank = 2, .processes = 2}), ValueError);
  EXPECT_THROW(distributed(Sampler{.size = 4}, {}), ValueError);
}

TEST(Sampler, LikeLengthsComeTogether) {
  std::vector<int64_t> lengths;
  for (int64_t i = 0; i < 103; ++i) lengths.push_back((i * 37) % 101);
  const auto padding = [&](const Sampler& s) {
    const std::vector<int64_t> order = s.order(0);
    int64_t wasted = 0;
    for (size_t from = 0; from < order.size(); from += 8) {
      int64_t longest = 0, total = 0;
      const size_t end = std::min(order.size(), from + 8);
      for (size_t k = from; k < end; ++k) {
        const int64_t n = lengths[static_cast<size_t>(order[k])];
        longest = std::max(longest, n);
        total += n;
      }
      wasted += longest * static_cast<int64_t>(end - from) - total;
    }
    return wasted;
  };
  const Sampler s = by_length(lengths, Key(0), 8, 103);
  std::vector<int64_t> order = s.order(1);
  std::sort(order.begin(), order.end());
  EXPECT_EQ(order, in_order(103).order(0));
  EXPECT_LT(4 * padding(s), padding(shuffled(103, Key(0))));
  EXPECT_THROW(by_length(lengths, Key(0), 8, 7), ValueError);
}

TEST(Sampler, OfASubset) {
  EXPECT_THAT(of_subset(in_order(3), {7, 5, 9}).order(0), ElementsAre(7, 5, 9));
  const Sampler beyond = of_subset(in_order(4), {7, 5, 9});
  EXPECT_THROW(beyond.order(0), ValueError);
  EXPECT_THROW(of_subset(Sampler{.size = 3}, {7, 5, 9}), ValueError);
}

TEST(Split, PartsAreDisjointAndWhole) {
  const auto parts = split_indices(10, {0.7, 0.2, 0.1}, Key(1));
  ASSERT_EQ(parts.size(), 3u);
  EXPECT_EQ(parts[0].size(), 7u);
  EXPECT_EQ(parts[1].size(), 2u);
  EXPECT_EQ(parts[2].size(), 1u);
  std::set<int64_t> all;
  for (const auto& part : parts) all.insert(part.begin(), part.end());
  EXPECT_EQ(all.size(), 10u);
  // What rounding leaves over goes to the first.
  const auto thirds = split_indices(10, {1.0 / 3, 1.0 / 3, 1.0 / 3}, Key(1));
  EXPECT_EQ(thirds[0].size(), 4u);
  EXPECT_EQ(thirds[1].size(), 3u);
  EXPECT_EQ(thirds[2].size(), 3u);
  // Fractions that do not add up leave some out.
  EXPECT_EQ(split_indices(10, {0.25}, Key(1))[0].size(), 2u);
  EXPECT_THROW(split_indices(10, {0.9, 0.2}, Key(1)), ValueError);
  EXPECT_THROW(split_indices(10, {-0.1}, Key(1)), ValueError);
  EXPECT_THROW(split_indices(10, {NAN}, Key(1)), ValueError);
}

TEST(Split, OfATree) {
  const Array y = arange(6);
  const auto parts = split(std::pair{y, -y}, {0.5, 0.5}, Key(0));
  ASSERT_EQ(parts.size(), 2u);
  EXPECT_TRUE(array_equal(parts[0].first, -parts[0].second));
  EXPECT_EQ(sum(parts[0].first).item<int32_t>() + sum(parts[1].first).item<int32_t>(), 15);
}

TEST(Collate, FillsUpAndSaysWhere) {
  const Padded p = collate({array({1.0f, 2.0f, 3.0f}), zeros({0}), array({4.0f})}, {.fill = -1});
  EXPECT_EQ(p.values.shape(), (Shape{3, 3}));
  EXPECT_THAT(p.values.to_vector<float>(), ElementsAre(1, 2, 3, -1, -1, -1, 4, -1, -1));
  EXPECT_THAT(p.mask.to_vector<bool>(), ElementsAre(1, 1, 1, 0, 0, 0, 1, 0, 0));
  EXPECT_THAT(p.lengths.to_vector<int32_t>(), ElementsAre(3, 0, 1));
}

TEST(Collate, LengthsAreCutAndRounded) {
  const std::vector<Array> x = {ones({5, 2}, int32), ones({2, 2}, int32)};
  EXPECT_EQ(collate(x, {.multiple_of = 4}).values.shape(), (Shape{2, 8, 2}));
  const Padded cut = collate(x, {.length = 3});
  EXPECT_EQ(cut.values.shape(), (Shape{2, 3, 2}));
  EXPECT_THAT(cut.lengths.to_vector<int32_t>(), ElementsAre(3, 2));
  EXPECT_EQ(sum(cut.values).item<int32_t>(), 10);
  EXPECT_EQ(collate(x, {.length = 0}).values.shape(), (Shape{2, 0, 2}));
}

TEST(Collate, WhatDoesNotFit) {
  EXPECT_THROW(collate({}), ValueError);
  EXPECT_THROW(collate({Array(1.0f)}), ShapeError);
  EXPECT_THAT(message<ShapeError>([] {
                collate({zeros({2, 3}), zeros({2, 4})});
              }),
              HasSubstr("sequence 0 is f32[2,3] and sequence 1 is f32[2,4]"));
  EXPECT_THROW(collate({zeros({2}), zeros({2}, int32)}), DtypeError);
  EXPECT_THROW(collate({zeros({2}, uint8)}, {.fill = -1}), ValueError);
  EXPECT_THROW(collate({zeros({2}, int32)}, {.fill = NAN}), ValueError);
  EXPECT_THROW(collate({zeros({2})}, {.length = -2}), ValueError);
  EXPECT_THROW(collate({zeros({2})}, {.multiple_of = 0}), ValueError);
}

}  // namespace sampler_test
}  // namespace spruce::data
