// SPDX-License-Identifier: Apache-2.0
// Convolutions with features in the lanes, against the kernel of f64 by small integers, whose sums
// are exact in both.
#include "spruce/core/cpu/conv/conv_over_channels.h"

#include <gtest/gtest.h>
#include <spruce/spruce.h>

#include "tests/core/cpu/conv_cases.h"

namespace spruce {
namespace conv_over_channels_test {

class Cases : public ConvCases {
 public:
  using ConvCases::ConvCases;

  // Of one of the two ways, with everything else at random.
  ConvCase next() override {
    const bool gradient = draw(0, 2) == 0;
    const int64_t groups = draw(0, 3) == 0 ? draw(2, 3) : 1, batch = draw(1, gradient ? 20 : 5),
                  inputs = draw(1, gradient ? 5 : 20), outputs = draw(1, 40);
    const bool of_batch = draw(0, 1) == 0;
    ConvCase c = sized(batch, inputs, outputs, groups, of_batch);
    ConvParams& p = c.params;
    p.reversed = !gradient && draw(0, 1) == 0;
    const int64_t spatial = draw(1, 3), most = spatial == 1 ? 60 : spatial == 2 ? 20 : 7;
    for (int64_t d = 0; d < spatial; ++d) {
      c.lhs.push_back(draw(1, most));
      c.rhs.push_back(gradient ? draw(most / 2, most) : draw(1, 4));
      const int64_t kind = draw(0, 3);
      p.strides.push_back(kind == 1 ? draw(1, 3) : 1);
      p.rhs_dilation.push_back(kind == 1 || kind == 2 ? draw(1, 2) : 1);
      p.lhs_dilation.push_back(kind == 3 && !gradient ? draw(1, 3) : 1);
      p.padding_low.push_back(draw(-2, 5));
      p.padding_high.push_back(draw(-2, 5));
    }
    return c;
  }
};

TEST(ConvFeatures, GiveWhatTheGeneralKernelGivesInTheMemoryThatTheySay) {
  constexpr uint64_t kSeed = 11;
  Cases cases(kSeed);
  const int before = threads();
  set_threads(1);  // all memory is taken here
  int to_window = 0, forward = 0, dilated = 0;
  for (int i = 0; i < 3000; ++i) {
    const ConvCase c = cases.next();
    SCOPED_TRACE("case " + std::to_string(i) + " of seed " + std::to_string(kSeed) + ": " +
                 c.text());
    std::optional<ConvPlan> taken;
    ASSERT_NO_FATAL_FAILURE(check_kernel(
        cases, c, {cpu::conv_over_channels_workspace, cpu::conv_over_channels}, taken));
    if (!taken) continue;
    ++(!taken->reversed && taken->window_size() > taken->out_size() ? to_window : forward);
    dilated += taken->dense() ? 0 : 1;
  }
  set_threads(before);
  EXPECT_GT(to_window, 100);
  EXPECT_GT(forward, 200);
  EXPECT_GT(dilated, 60);
}

TEST(ConvFeatures, DoNotDependOnThreadsOrOnOtherSamples) {
  Cases cases(12);
  expect_the_same_for_any_threads(cases, 80);
  // Threads share the rows of a sample.
  const Array large = random::normal(Key(3), {1, 24, 40, 40}),
              wide = random::normal(Key(4), {64, 24, 3, 3});
  on_any_threads(large, wide, {});
  const Array x = random::normal(Key(1), {6, 8, 12, 12}), w = random::normal(Key(2), {40, 8, 3, 3});
  const ConvParams padded{.padding_low = {1, 1}, .padding_high = {1, 1}};
  const Array all = conv_general(x, w, padded);
  for (int64_t n = 0; n < 6; ++n) {
    const Array one = conv_general(x[slice(n, n + 1)], w, padded);
    EXPECT_EQ(one.to_vector<float>(), Array(all[slice(n, n + 1)]).to_vector<float>()) << n;
  }
}

// Sizes that few other tests reach: rows of cells in several blocks, sums in several runs, more
// vectors than a tile holds, weights turned in several pieces, partial sums of samples.
TEST(ConvFeatures, OfLargeSizes) {
  Cases cases(13);
  const ConvParams padded{.padding_low = {1, 1}, .padding_high = {1, 1}};
  expect_exact(cases, {1, 24, 70, 90}, {100, 24, 3, 3}, padded);
  expect_exact(cases, {2, 300, 9, 11}, {530, 300, 3, 3}, padded);
  ConvParams back = padded;
  back.rhs_swapped = back.reversed = true;
  expect_exact(cases, {2, 300, 9, 11}, {300, 530, 3, 3}, back);
  back.lhs_dilation = {2, 2};
  expect_exact(cases, {2, 40, 21, 23}, {40, 70, 3, 3}, back);
  ConvParams to_window = padded;
  to_window.lhs_swapped = to_window.rhs_swapped = to_window.out_swapped = true;
  expect_exact(cases, {40, 40, 30, 30}, {40, 50, 30, 30}, to_window);
}

}  // namespace conv_over_channels_test
}  // namespace spruce
