// SPDX-License-Identifier: Apache-2.0
// The registry is complete: samples, and rules that some case exercises. A new primitive that lacks
// them fails here.
#include <algorithm>
#include <iostream>
#include <set>

#include "tests/transforms/properties.h"

namespace spruce::properties {
namespace properties_registry_test {

TEST(Registry, EveryPrimitiveHasSamplesOrIsListed) {
  std::set<std::string_view> listed;
  for (const Covered& c : covered_elsewhere()) {
    EXPECT_NE(find_primitive(c.primitive), nullptr)
        << c.primitive << " is listed and does not exist";
    listed.insert(c.primitive);
  }
  for (const Primitive* p : all_primitives()) {
    const bool has_samples = p->samples != nullptr && !p->samples().empty();
    EXPECT_NE(has_samples, listed.count(p->name) == 1)
        << p->name << " must have samples, or stand in covered_elsewhere() with its own tests";
  }
  std::cout << "properties: " << primitives_with_samples().size()
            << " primitives by their samples, " << listed.size() << " by tests of their own\n";
}

TEST(Registry, WhatIsListedHasItsTests) {
  std::set<std::string> suites;
  const testing::UnitTest& all = *testing::UnitTest::GetInstance();
  for (int i = 0; i < all.total_test_suite_count(); ++i) suites.insert(all.GetTestSuite(i)->name());
  for (const Covered& c : covered_elsewhere())
    EXPECT_TRUE(suites.count(c.suite)) << c.suite << " for " << c.primitive;
}

TEST(Registry, NamesAreFoundAndInOrder) {
  std::string before;
  for (const Primitive* p : all_primitives()) {
    EXPECT_LT(before, p->name);
    EXPECT_EQ(find_primitive(p->name), p);
    before = p->name;
  }
  EXPECT_EQ(find_primitive("no such primitive"), nullptr);
}

using Rules = PerPrimitive;

TEST_P(Rules, AreThere) {
  EXPECT_NE(p().shape == nullptr, p().shapes == nullptr) << "exactly one of shape and shapes";
  EXPECT_TRUE(p().cpu != nullptr || p().call != nullptr || p().kind == PrimitiveKind::kView)
      << "a kernel";
  bool has_inputs = false, has_derivative = false, has_params = false;
  for (const Case& c : all_cases(p(), float32)) {
    has_inputs = has_inputs || !c.sample.in.empty();
    has_derivative = has_derivative || !partials(c).empty();
    has_params = has_params || !c.sample.params.empty();
  }
  EXPECT_TRUE(!has_inputs || p().batch != nullptr || p().expand != nullptr) << "a batch rule";
  EXPECT_TRUE(!has_derivative || p().jvp != nullptr || p().expand != nullptr) << "a jvp rule";
  EXPECT_EQ(has_params, p().params != nullptr) << "a parser for the parameters";
}

TEST_P(Rules, HaveCases) {
  const auto some = [&](const auto& test) {
    std::vector<Case> cases = all_cases(p(), float32);
    for (Case& c : cases_in(p(), float64)) cases.push_back(std::move(c));
    return std::any_of(cases.begin(), cases.end(), test);
  };
  const auto maps = [](const Case& c) { return !c.sample.in.empty(); };
  EXPECT_TRUE(p().batch == nullptr || some(maps)) << "a batch rule without a case";
  EXPECT_TRUE(some([](const Case&) { return true; })) << "no case at all";
}

INSTANTIATE_TEST_SUITE_P(Properties, Rules, testing::ValuesIn(primitives_with_samples()), name_of);

}  // namespace properties_registry_test
}  // namespace spruce::properties
