// SPDX-License-Identifier: Apache-2.0
// vmap against a loop over slices, for each subset of the inputs that may be mapped.
#include "spruce/core/ops/create.h"
#include "spruce/core/ops/index.h"
#include "spruce/core/ops/join.h"
#include "spruce/core/ops/shape.h"
#include "spruce/core/ops/to_device.h"
#include "spruce/transforms/vmap/vmap.h"
#include "tests/transforms/properties.h"

namespace spruce::properties {
namespace properties_vmap_test {

constexpr int kDraws = 3;

// Which inputs are mapped: all subsets; of many inputs each by itself, and all.
std::vector<std::vector<bool>> subsets(size_t n) {
  std::vector<std::vector<bool>> all;
  if (n == 0) return all;
  if (n > 4) {
    for (size_t i = 0; i < n; ++i) {
      all.emplace_back(n, false);
      all.back()[i] = true;
    }
    all.emplace_back(n, true);
    return all;
  }
  for (size_t bits = 1; bits < (size_t{1} << n); ++bits) {
    all.emplace_back();
    for (size_t i = 0; i < n; ++i) all.back().push_back((bits >> i & 1) != 0);
  }
  return all;
}

Array stacked(const Arrays& slices, int64_t size) {
  if (size > 0) return stack(Arrays(slices.begin(), slices.begin() + size));
  Shape shape = slices[0].shape();
  shape.insert(0, 0);
  return to_device(zeros(shape, slices[0].dtype()), slices[0].device());
}

void expect_loop(const Case& c, const std::vector<bool>& mapped, int64_t size) {
  std::vector<Arrays> draws;
  for (int k = 0; k < kDraws; ++k) draws.push_back(inputs(c, k));
  Arrays batched, shared;
  for (size_t i = 0; i < mapped.size(); ++i) {
    Arrays slices;
    for (const Arrays& d : draws) slices.push_back(d[i]);
    if (mapped[i])
      batched.push_back(stacked(slices, size));
    else
      shared.push_back(slices[0]);
  }
  const auto merged = [&](const Arrays& b, const Arrays& s) {
    Arrays in;
    size_t at_b = 0, at_s = 0;
    for (const bool m : mapped) in.push_back(m ? b[at_b++] : s[at_s++]);
    return outputs(c, in);
  };
  const Arrays got = vmap(merged, {.in_axes = {0, none}})(batched, shared);
  std::vector<Arrays> results;
  for (const Arrays& draw : draws) {
    Arrays in;
    for (size_t i = 0; i < mapped.size(); ++i) in.push_back(mapped[i] ? draw[i] : draws[0][i]);
    results.push_back(outputs(c, in));
  }
  Arrays want;
  for (size_t k = 0; k < results[0].size(); ++k) {
    Arrays slices;
    for (const Arrays& r : results) slices.push_back(r[k]);
    want.push_back(stacked(slices, size));
  }
  std::string what = "vmap over " + std::to_string(size) + " of inputs";
  for (const bool m : mapped) what += m ? " 0" : " none";
  expect_close(got, want, tolerance(want), what);
}

// The first input mapped by the outer vmap, the last by the inner one.
void expect_nested_loop(const Case& c) {
  std::vector<Arrays> draws;
  for (int k = 0; k < kDraws; ++k) draws.push_back(inputs(c, k));
  const Arrays fixed = draws[0];
  const size_t last = fixed.size() - 1;
  const auto with = [&](const Array& first, const Array& final) {
    Arrays in = fixed;
    in[0] = first;
    in[last] = final;
    return outputs(c, in);
  };
  const Array firsts = stack({draws[0][0], draws[1][0]});
  const Array finals = stack({draws[0][last], draws[1][last], draws[2][last]});
  const auto inner = vmap(with, {.in_axes = {none, 0}});
  const Arrays got = vmap(inner, {.in_axes = {0, none}})(firsts, finals);
  for (int64_t i = 0; i < 2; ++i) {
    for (int64_t k = 0; k < 3; ++k) {
      Arrays slices;
      for (const Array& a : got) slices.push_back(a[i][k]);
      const Arrays want =
          with(draws[static_cast<size_t>(i)][0], draws[static_cast<size_t>(k)][last]);
      expect_close(slices, want, tolerance(want), "vmap of vmap");
    }
  }
}

using Vmap = PerPrimitive;

TEST_P(Vmap, IsALoop) {
  std::vector<Case> cases = all_cases(p(), float32);
  for (Case& c : cases_in(p(), float64)) cases.push_back(std::move(c));
  for (Case& c : integer_cases(p())) cases.push_back(std::move(c));
  for (const Case& c : cases) {
    for (const std::vector<bool>& mapped : subsets(c.sample.in.size())) {
      for (const int64_t size : {3, 1, 0}) {
        run_case(c, [&] { expect_loop(c, mapped, size); });
      }
    }
  }
}

TEST_P(Vmap, OfVmapIsALoop) {
  for (const Case& c : all_cases(p(), float32)) {
    if (c.sample.in.size() < 2) continue;
    run_case(c, [&] { expect_nested_loop(c); });
  }
}

INSTANTIATE_TEST_SUITE_P(Properties, Vmap, testing::ValuesIn(primitives_with_samples()), name_of);

}  // namespace properties_vmap_test
}  // namespace spruce::properties
