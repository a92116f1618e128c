// SPDX-License-Identifier: Apache-2.0
#include "spruce/transforms/compile/profile.h"

#include <gmock/gmock.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "spruce/core/ops/ops.h"
#include "spruce/core/parallel.h"
#include "spruce/transforms/transforms.h"

namespace spruce {
namespace profile_test {

using testing::HasSubstr;

const auto kStep = [](const Array& w, const Array& x) { return sort(matmul(x, w), 0); };

TEST(Profile, HasTheTimeOfEachEquation) {
  const auto f = jit(kStep);
  const Array w = ones({64, 64}), x = ones({64, 64});
  (void)f(w, x);
  const Profile p = profile([&] {
    for (int i = 0; i < 5; ++i) (void)f(w, x);
  });
  double sum = 0;
  bool product = false;
  for (const Profile::Row& r : p.rows) {
    EXPECT_EQ(r.calls, 5) << r.equation;
    EXPECT_GT(r.seconds, 0) << r.equation;
    EXPECT_FALSE(r.nested);
    sum += r.seconds;
    if (r.equation.find("dot_general") != std::string::npos) {
      product = true;
      EXPECT_THAT(r.place, HasSubstr("profile_test.cc:"));
    }
  }
  EXPECT_TRUE(product) << p.text();
  EXPECT_LE(sum, p.seconds);
  EXPECT_EQ(p.events.size(), 5 * p.rows.size());
  for (size_t i = 1; i < p.rows.size(); ++i) EXPECT_GE(p.rows[i - 1].seconds, p.rows[i].seconds);
  EXPECT_THAT(p.text(), HasSubstr(" dot_general "));
  EXPECT_THAT(p.text(1), HasSubstr("others\n"));
  EXPECT_EQ(testing::PrintToString(p), p.text());
}

TEST(Profile, StepsOfALoopAreWithinItOnAnyThread) {
  const auto f = jit([](const Array& x) { return map([](const Array& y) { return sort(y); }, x); });
  const Array x = ones({16, 100, 300});
  (void)f(x);
  const int before = threads();
  for (const int n : {1, 3}) {
    set_threads(n);
    const Profile p = profile([&] { (void)f(x); });
    int64_t sorts = 0;
    for (const Profile::Row& r : p.rows) {
      if (r.equation.find(" = sort") == std::string::npos) continue;
      EXPECT_TRUE(r.nested) << p.text();
      sorts += r.calls;
    }
    EXPECT_EQ(sorts, 16) << p.text();
  }
  set_threads(before);
}

TEST(Profile, NothingIsKeptBetweenProfiles) {
  const auto f = jit(kStep);
  (void)f(ones({4, 4}), ones({4, 4}));
  EXPECT_FALSE(profile([&] { (void)f(ones({4, 4}), ones({4, 4})); }).rows.empty());
  (void)f(ones({4, 4}), ones({4, 4}));
  EXPECT_TRUE(profile([] {}).rows.empty());
}

TEST(Profile, TracesAreJson) {
  const auto f = jit(kStep);
  const Profile p = profile([&] { (void)f(ones({8, 8}), ones({8, 8})); });
  const auto trace = nlohmann::json::parse(p.trace());
  ASSERT_EQ(trace["traceEvents"].size(), p.events.size());
  for (const auto& e : trace["traceEvents"]) {
    EXPECT_EQ(e["ph"], "X");
    EXPECT_GE(e["ts"].get<double>(), 0);
    EXPECT_GE(e["dur"].get<double>(), 0);
    EXPECT_TRUE(e["args"]["equation"].is_string());
  }
  const std::string path = testing::TempDir() + "profile_test.json";
  p.save_trace(path);
  std::ifstream in(path);
  EXPECT_EQ(nlohmann::json::parse(in), trace);
  EXPECT_EQ(nlohmann::json::parse(Profile().trace())["traceEvents"].size(), 0u);
}

TEST(Profile, OneAtATimeAndThroughExceptions) {
  EXPECT_THROW((void)profile([] { (void)profile([] {}); }), ValueError);
  EXPECT_THROW((void)profile([] { throw std::runtime_error("of the user"); }), std::runtime_error);
  EXPECT_TRUE(profile([] {}).rows.empty());
}

TEST(Profile, SeesAllThreads) {
  const auto f = jit(kStep);
  const Array w = ones({16, 16});
  (void)f(w, w);
  const Profile p = profile([&] {
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&] {
        for (int i = 0; i < 10; ++i) (void)f(w, w);
      });
    }
    for (std::thread& t : threads) t.join();
  });
  for (const Profile::Row& r : p.rows) EXPECT_EQ(r.calls, 40) << r.equation;
}

}  // namespace profile_test
}  // namespace spruce
