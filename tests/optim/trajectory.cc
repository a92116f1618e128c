// SPDX-License-Identifier: Apache-2.0
#include "tests/optim/trajectory.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <sstream>

namespace spruce::optim {
namespace {

struct Case {
  const char *name, *numbers;
};

constexpr Case kCases[] = {
#include "tests/optim/optax_cases.inc"
};

constexpr int kSteps[] = {1, 2, 5, 20, 200};
constexpr size_t kNumbers = 10;  // of the parameters

std::vector<double> values(const Params& p) {
  std::vector<double> out = p.a.to_vector<double>();
  out.push_back(p.b.item<double>());
  for (const double v : reshape(p.w, {6}).to_vector<double>()) out.push_back(v);
  return out;
}

void expect_near(const std::vector<double>& got, const double* want, const std::string& where) {
  for (size_t i = 0; i < kNumbers; ++i) {
    EXPECT_NEAR(got[i], want[i], 1e-9 * std::max(0.1, std::abs(want[i])))
        << where << ", number " << i;
  }
}

}  // namespace

Params start() {
  return {array({1.0, -2.0, 0.5}, float64), array(3.0, float64),
          reshape(array({0.5, -1.5, 2.5, -0.25, 1.25, 0.75}, float64), {2, 3})};
}

Params gradient(const Params& p, const Array& t) {
  const Array at = 1.3 * t;
  const Array six = reshape(arange(6, float64), {2, 3});
  return {sin(at + arange(3, float64)) + 0.1 * p.a, sin(at + 3.0) + 0.1 * p.b,
          sin(at + 4.0 + six) + 0.1 * p.w};
}

Array loss(const Params& p) { return 0.5 * (sum(square(p.a)) + square(p.b) + sum(square(p.w))); }

std::vector<double> numbers_of(const std::string& name) {
  for (const Case& c : kCases) {
    if (name != c.name) continue;
    std::vector<double> out;
    std::istringstream in(c.numbers);
    for (std::string item; std::getline(in, item, ',');) out.push_back(std::stod(item));
    return out;
  }
  ADD_FAILURE() << "no case " << name;
  return {};
}

void expect_trajectory(const std::string& name, const Erased& optimizer) {
  const std::vector<double> want = numbers_of(name);
  ASSERT_EQ(want.size(), kNumbers * std::size(kSteps)) << name;
  const auto step = [&](const Params& p, const std::vector<Array>& state, const Array& t) {
    const auto [updates, next] = optimizer.update(gradient(p, t), state, p);
    return std::pair{apply_updates(p, updates), next};
  };
  const auto compiled = jit(step);
  Params p = start(), q = start();
  std::vector<Array> state = optimizer.init(), state_q = state;
  size_t next = 0;
  for (int t = 0; t < kSteps[std::size(kSteps) - 1]; ++t) {
    std::tie(p, state) = step(p, state, array(t, float64));
    std::tie(q, state_q) = compiled(q, state_q, array(t, float64));
    if (t + 1 != kSteps[next]) continue;
    const std::string where = name + " after step " + std::to_string(t + 1);
    expect_near(values(p), &want[next * kNumbers], where);
    expect_near(values(q), &want[next * kNumbers], where + " under jit");
    ++next;
    if (testing::Test::HasFailure()) return;
  }
  EXPECT_EQ(compiled.trace_count(), 1) << name;
}

}  // namespace spruce::optim
