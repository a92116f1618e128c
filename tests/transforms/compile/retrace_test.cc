// SPDX-License-Identifier: Apache-2.0
// Why jit traces again, and what it says of what it made.
#include "spruce/transforms/compile/retrace.h"

#include <gmock/gmock.h>

#include <cstdlib>

#include "spruce/core/ops/ops.h"
#include "spruce/transforms/transforms.h"

namespace spruce {
namespace retrace_test {

using testing::HasSubstr;
using testing::MatchesRegex;
using testing::Not;

struct Net {
  std::vector<Array> weights;
  std::map<std::string, Array> extra;
  std::optional<Array> scale;
  double rate = 0.1;
};
Net net() { return {{zeros({3, 4}), zeros({4})}, {{"gain", array(2.0f)}}, array(1.0f), 0.1}; }

Array first(const Net& n, const Array& x) { return n.weights[0] * sum(x); }

TEST(ExplainRetrace, SaysWhatChanged) {
  const auto f = jit(first, {.name = "step"});
  EXPECT_EQ(f.explain_retrace(), "step: has not been traced yet");
  (void)f(net(), zeros({64, 784}));
  EXPECT_EQ(f.explain_retrace(), "step: has been traced once");
  (void)f(net(), zeros({32, 784}));
  EXPECT_EQ(f.explain_retrace(),
            "step: trace 2 differs from trace 1:\n"
            "  argument 1 is f32[32,784], was f32[64,784]");
  Net n = net();
  n.rate = 0.2;
  n.weights[1] = zeros({4}, float64);
  (void)f(n, zeros({64, 784}));
  EXPECT_EQ(f.explain_retrace(),
            "step: trace 3 differs from trace 1:\n"
            "  argument 0 at rate is 0.2, was 0.1\n"
            "  argument 0 at weights.1 is f64[4], was f32[4]");
  n = net();
  n.weights.push_back(zeros({1}));
  n.scale.reset();
  (void)f(n, zeros({64, 784}));
  EXPECT_EQ(f.explain_retrace(),
            "step: trace 4 differs from trace 1:\n"
            "  argument 0 at scale is 0 entries, was 1 entries\n"
            "  argument 0 at weights is 3 entries, was 2 entries\n"
            "  argument 0 at weights.2 is f32[1], was not there\n"
            "  argument 0 at scale is not there, was f32[]");
  n = net();
  n.extra = {{"loss", array(2.0f)}};
  (void)f(n, zeros({64, 784}));
  EXPECT_THAT(f.explain_retrace(), HasSubstr("argument 0 at extra is loss, was gain"));
  n = net();
  n.weights[1] = Array();
  (void)f(n, zeros({64, 784}));
  EXPECT_EQ(f.explain_retrace(),
            "step: trace 6 differs from trace 1:\n"
            "  argument 0 at weights.1 is no array, was f32[4]");
  (void)f(net(), zeros({64, 784}));
  EXPECT_EQ(f.trace_count(), 6);
}

TEST(ExplainRetrace, NamesTypesAndWeakness) {
  const auto f = jit([](const auto& x) {
    if constexpr (std::is_same_v<std::decay_t<decltype(x)>, Array>)
      return x + 1.0f;
    else
      return x[0] + 1.0f;
  });
  (void)f(array(1.0f));
  (void)f(Array(1.0f));
  EXPECT_EQ(f.explain_retrace(),
            "jit: trace 2 differs from trace 1:\n  argument 0 is f32*[], was f32[]");
  (void)f(std::vector<Array>{array(1.0f)});
  EXPECT_THAT(f.explain_retrace(),
              HasSubstr("argument 0 has the C++ type std::vector<spruce::Array"));
  EXPECT_THAT(f.explain_retrace(), HasSubstr("was spruce::Array"));
}

TEST(ExplainRetrace, KnowsOfCapturedTracers) {
  const auto loss = [](const Array& x) {
    const auto inner = jit([&](const Array& y) { return x * y; }, {.name = "inner"});
    (void)inner(array(1.0f));
    const Array out = inner(array(1.0f));
    EXPECT_THAT(inner.explain_retrace(),
                HasSubstr("inner: trace 2 was due because the function uses a traced value"));
    return out;
  };
  (void)grad(loss)(array(2.0f));
}

TEST(ExplainRetrace, WarnsOnceAfterTheTenth) {
  const auto f = jit([](const Array& x) { return x + 1.0f; }, {.name = "grow"});
  testing::internal::CaptureStderr();
  for (int64_t n = 1; n <= 10; ++n) (void)f(zeros({n}));
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  testing::internal::CaptureStderr();
  for (int64_t n = 11; n <= 30; ++n) (void)f(zeros({n}));
  const std::string warning = testing::internal::GetCapturedStderr();
  EXPECT_THAT(warning, HasSubstr("spruce: warning:"));
  EXPECT_THAT(warning, HasSubstr("grow: trace 11 differs from trace 10:\n"
                                 "  argument 0 is f32[11], was f32[10]\n"));
  EXPECT_EQ(std::count(warning.begin(), warning.end(), '\n'), 2);
  EXPECT_THAT(f.explain_retrace(), HasSubstr("trace 30 differs from trace 29"));
}

TEST(CompileLog, HasALineForEachPhase) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(
      {
        ::setenv("SPRUCE_LOG", "compile", 1);
        (void)jit([](const Array& x) { return sin(x) + 1.0f; }, {.name = "step"})(array(1.0f));
        std::exit(0);
      },
      testing::ExitedWithCode(0),
      "spruce: compile step: trace [0-9.]+ ms, 2 equations\n(.*\n)*"
      "spruce: compile step: dead_code [0-9.]+ ms, [0-9]+ equations\n(.*\n)*"
      "spruce: compile step: plan [0-9.]+ ms, [0-9]+ equations\n");
}

TEST(Lower, ShowsGraphCostAndMemory) {
  const auto f = jit([](const Array& w, const Array& x) { return tanh(matmul(x, w)); });
  const Lowered low = f.lower(zeros({8, 4}), zeros({2, 8}));
  EXPECT_EQ(f.trace_count(), 1);
  EXPECT_EQ(low.text(), low.graph().text());
  EXPECT_THAT(low.text(), HasSubstr("= dot_general["));
  EXPECT_GE(low.cost().total.flops, 2 * 2 * 8 * 4);
  const MemoryAnalysis m = low.memory();
  EXPECT_EQ(m.arguments, 4 * (32 + 16));
  EXPECT_EQ(m.results, 4 * 8);
  EXPECT_EQ(m.constants, 0);
  EXPECT_GE(m.workspace, m.temporaries);
  EXPECT_EQ(m.peak(), m.arguments + m.results + m.temporaries);
  EXPECT_THAT(m.text(), HasSubstr("arguments               192 bytes\n"));
  EXPECT_EQ(testing::PrintToString(low), low.text());
  EXPECT_EQ(testing::PrintToString(m), m.text());
  (void)f(zeros({8, 4}), zeros({2, 8}));
  EXPECT_EQ(f.trace_count(), 1) << "what lower made is used";
}

TEST(Lower, OutlivesTheFunctionAndCountsConstants) {
  const auto low = [] {
    const Array big = arange(1000.0f);
    return jit([=](const Array& x) { return x * big; }).lower(zeros({1000}));
  }();
  EXPECT_EQ(low.memory().constants, 4000);
  EXPECT_EQ(low.memory().donated, 4000);
  EXPECT_EQ(low.graph().equations.size(), 1u);
}

}  // namespace retrace_test
}  // namespace spruce
