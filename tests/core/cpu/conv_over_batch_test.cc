// SPDX-License-Identifier: Apache-2.0
// Convolutions with one sample, group or summand a lane, against the kernel of f64 by small
// integers, whose sums are exact in both.
#include "spruce/core/cpu/conv/conv_over_batch.h"

#include <gtest/gtest.h>
#include <spruce/spruce.h>

#include "spruce/core/memory.h"
#include "spruce/core/rules/conv.h"
#include "tests/core/cpu/conv_cases.h"

namespace spruce {
namespace conv_over_batch_test {

class Cases : public ConvCases {
 public:
  using ConvCases::ConvCases;

  // One of the three kinds of lanes, with everything else at random.
  ConvCase next() override {
    const int64_t kind = draw(0, 2), lanes = draw(8, 40);
    int64_t batch = draw(1, 3), inputs = draw(1, 3), groups = 1;
    const int64_t outputs = draw(1, 13);
    (kind == 0 ? batch : kind == 1 ? groups : inputs) = lanes;
    if (kind == 1 && draw(0, 1) == 0) batch = 1;
    const bool of_batch = kind == 1 && draw(0, 1) == 0;
    ConvCase c = sized(batch, inputs, outputs, groups, of_batch);
    ConvParams& p = c.params;
    p.reversed = draw(0, 2) == 0;
    const int64_t spatial = draw(1, 3), most = spatial == 1 ? 40 : spatial == 2 ? 13 : 5;
    for (int64_t d = 0; d < spatial; ++d) {
      c.lhs.push_back(draw(1, most));
      c.rhs.push_back(kind == 0 ? draw(1, 4) : draw(1, most));
      p.strides.push_back(draw(0, 2) == 0 ? 2 : 1);
      p.padding_low.push_back(draw(-1, 3));
      p.padding_high.push_back(draw(-1, 4));
      p.rhs_dilation.push_back(draw(0, 3) == 0 ? 2 : 1);
      p.lhs_dilation.push_back(kind == 1 && draw(0, 3) == 0 ? 2 : 1);
    }
    return c;
  }
};

TEST(ConvLanes, GiveWhatTheGeneralKernelGives) {
  constexpr uint64_t kSeed = 7;
  Cases cases(kSeed);
  int taken = 0;
  for (int i = 0; i < 1000; ++i) {
    const ConvCase c = cases.next();
    const Array x = cases.values(c.lhs), w = cases.values(c.rhs);
    const Array want = conv_general(astype(x, float64), astype(w, float64), c.params);
    if (want.size() == 0) continue;
    const ConvPlan problem = plan_conv(c.lhs, c.rhs, want.shape(), c.params);
    Guarded out(want.size());
    if (!cpu::conv_over_batch(problem, x.data<float>().data(), w.data<float>().data(), out.data()))
      continue;
    ++taken;
    SCOPED_TRACE("case " + std::to_string(i) + " of seed " + std::to_string(kSeed) + ": " +
                 c.text());
    ASSERT_NO_FATAL_FAILURE(out.expect(want.to_vector<double>()));
  }
  EXPECT_GT(taken, 100);
}

TEST(ConvLanes, DoNotDependOnThreads) {
  Cases cases(8);
  expect_the_same_for_any_threads(cases, 60);
}

// Prepared: the same bits, with all memory from the workspace that was asked for.
void check_prepared(const Array& x, const Array& w, const ConvParams& params) {
  const Array want = conv_general(x, w, params);
  ConvParams full = params;
  const int spatial = x.rank() - 2;
  for (Shape* s : {&full.strides, &full.lhs_dilation, &full.rhs_dilation}) {
    if (s->empty()) *s = Shape::filled(spatial, 1);
  }
  for (Shape* s : {&full.padding_low, &full.padding_high}) {
    if (s->empty()) *s = Shape::filled(spatial, 0);
  }
  const Params p = Params::make(full);
  const Aval* in_avals[] = {&x.aval(), &w.aval()};
  const Aval* out_avals[] = {&want.aval()};
  const auto prepared = conv_general_p.prepare({in_avals, out_avals, p});
  if (prepared == nullptr) return;
  constexpr size_t kGuard = 64;
  const size_t bytes = prepared->workspace_bytes();
  std::vector<char> workspace(bytes + 3 * kGuard, 55);
  char* const block =
      workspace.data() + kGuard - reinterpret_cast<uintptr_t>(workspace.data()) % kGuard;
  std::vector<float> out(static_cast<size_t>(want.size()) + 2 * kGuard, -77.0f);
  const View in[] = {{const_cast<float*>(x.data<float>().data()), &x.aval()},
                     {const_cast<float*>(w.data<float>().data()), &w.aval()}};
  const View to{out.data() + kGuard, &want.aval()};
  const int64_t before = memory::allocation_count();
  prepared->run({in, {&to, 1}, p, block});
  if (bytes > 0) {
    EXPECT_EQ(memory::allocation_count(), before);
  }
  for (size_t k = 0; k < kGuard; ++k) {
    ASSERT_EQ(block[bytes + k], 55);
    ASSERT_EQ(out[k], -77.0f);
    ASSERT_EQ(out[out.size() - 1 - k], -77.0f);
  }
  ASSERT_EQ(std::vector<float>(out.begin() + kGuard, out.end() - kGuard), want.to_vector<float>());
}

TEST(ConvLanes, PreparedConvolutionsNeedNoOtherMemory) {
  const int threads_before = threads();
  set_threads(1);
  Cases cases(9);
  for (int i = 0; i < 150; ++i) {
    const ConvCase c = cases.next();
    SCOPED_TRACE(to_string(c.lhs) + to_string(c.rhs));
    check_prepared(random::normal(Key(i), c.lhs), random::normal(Key(i + 1), c.rhs), c.params);
    if (HasFatalFailure()) break;
  }
  // The three forms on blocked kernels, whole and in parts.
  for (const int64_t n : {3, 33}) {
    const Array x = random::normal(Key(1), {n, 16, 20, 20}),
                w = random::normal(Key(2), {32, 16, 3, 3}),
                g = random::normal(Key(3), {n, 32, 20, 20});
    const Shape one{1, 1};
    check_prepared(x, w, {.padding_low = one, .padding_high = one});
    check_prepared(
        g, w, {.padding_low = one, .padding_high = one, .rhs_swapped = true, .reversed = true});
    check_prepared(x, g,
                   {.padding_low = one,
                    .padding_high = one,
                    .lhs_swapped = true,
                    .rhs_swapped = true,
                    .out_swapped = true});
  }
  set_threads(threads_before);
}

}  // namespace conv_over_batch_test
}  // namespace spruce
