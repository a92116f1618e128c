// SPDX-License-Identifier: Apache-2.0
// Convolutions with cells of a row in the lanes, against the kernel of f64 by small integers, whose
// sums are exact in both.
#include "spruce/core/cpu/conv/conv_over_cells.h"

#include <gtest/gtest.h>
#include <spruce/spruce.h>

#include "tests/core/cpu/conv_cases.h"

namespace spruce {
namespace conv_over_cells_test {

class Cases : public ConvCases {
 public:
  using ConvCases::ConvCases;

  // Few features and rows of up to some vectors, with everything else at random.
  ConvCase next() override {
    const int64_t groups = draw(0, 2) == 0 ? draw(2, 5) : 1;
    ConvCase c = sized(draw(1, 3), draw(1, 4), draw(1, 9), groups, draw(0, 1) == 0);
    ConvParams& p = c.params;
    p.reversed = draw(0, 1) == 0;
    const int64_t spatial = draw(1, 3);
    for (int64_t d = 0; d < spatial; ++d) {
      const bool last = d == spatial - 1;
      c.lhs.push_back(last ? draw(4, 120) : draw(1, spatial == 2 ? 20 : 6));
      c.rhs.push_back(draw(1, 4));
      p.strides.push_back(last || draw(0, 2) > 0 ? 1 : draw(1, 3));
      p.rhs_dilation.push_back(draw(0, 2) == 0 ? draw(1, 3) : 1);
      p.lhs_dilation.push_back(1);
      p.padding_low.push_back(draw(-2, 5));
      p.padding_high.push_back(draw(-2, 5));
    }
    return c;
  }
};

TEST(ConvCells, GiveWhatTheGeneralKernelGivesInTheMemoryThatTheySay) {
  constexpr uint64_t kSeed = 21;
  Cases cases(kSeed);
  const int before = threads();
  set_threads(1);  // all memory is taken here
  int narrow = 0, wide = 0, padded = 0;
  for (int i = 0; i < 3000; ++i) {
    const ConvCase c = cases.next();
    SCOPED_TRACE("case " + std::to_string(i) + " of seed " + std::to_string(kSeed) + ": " +
                 c.text());
    std::optional<ConvPlan> taken;
    ASSERT_NO_FATAL_FAILURE(
        check_kernel(cases, c, {cpu::conv_over_cells_workspace, cpu::conv_over_cells}, taken));
    if (!taken) continue;
    ++(taken->out[2] < 64 ? narrow : wide);
    padded += taken->low[2] > 0 ? 1 : 0;
  }
  set_threads(before);
  EXPECT_GT(narrow, 100);
  EXPECT_GT(wide, 100);
  EXPECT_GT(padded, 100);
}

TEST(ConvCells, DoNotDependOnThreadsOrOnOtherSamples) {
  Cases cases(22);
  expect_the_same_for_any_threads(cases, 80);
  const Array image = random::normal(Key(1), {5, 3, 150, 210}),
              filter = random::normal(Key(2), {3, 1, 3, 3});
  const ConvParams params{.padding_low = {1, 1}, .padding_high = {1, 1}, .feature_group_count = 3};
  const std::vector<float> all = on_any_threads(image, filter, params);
  const Array one = conv_general(image[slice(4, 5)], filter, params);
  EXPECT_EQ(one.to_vector<float>(),
            std::vector<float>(all.end() - int64_t{3} * 150 * 210, all.end()));
}

// Rows in several blocks beside each other, and blocks of a few rows below each other.
TEST(ConvCells, OfLargeSizes) {
  Cases cases(23);
  expect_exact(cases, {1, 1, 20003}, {1, 1, 31}, {});
  expect_exact(cases, {2, 3, 9001}, {2, 3, 5}, {.padding_low = {7}, .padding_high = {2}});
  expect_exact(cases, {1, 2, 90, 900}, {3, 2, 3, 5},
               {.padding_low = {2, 1}, .padding_high = {0, 3}});
  expect_exact(cases, {1, 1, 4100, 4200}, {1, 1, 1, 3},
               {.padding_low = {0, 1}, .padding_high = {0, 1}});
  expect_exact(cases, {1, 60, 33, 130}, {1, 60, 3, 3},
               {.padding_low = {1, 1}, .padding_high = {1, 1}});
}

}  // namespace conv_over_cells_test
}  // namespace spruce
