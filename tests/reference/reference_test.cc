// SPDX-License-Identifier: Apache-2.0
// Every operation, eager and compiled, against stored values and gradients of JAX and PyTorch.
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <iostream>
#include <limits>
#include <set>

#include "tests/reference/cases.h"
#include "tests/reference/compare.h"
#include "tests/reference/operations.h"

namespace reference {
namespace reference_test {

const File& file() {
  static const File cases = read_cases(SPRUCE_SOURCE_DIR "/tests/reference/cases.bin");
  return cases;
}

std::set<std::string> stored_operations() {
  std::set<std::string> names;
  for (const Case& c : file().cases) names.insert(c.op);
  return names;
}

std::string describe(const Case& c) {
  std::string out = c.op + " (" + c.source + ") of";
  for (const Value& v : c.inputs) out += " " + v.dtype + sp::to_string(sp::Shape(v.shape));
  return out + " with " + c.params.to_string();
}

Arrays to_arrays(const std::vector<Value>& values) {
  Arrays out;
  for (const Value& v : values) out.push_back(to_array(v));
  return out;
}

std::string compare(const Arrays& got, const std::vector<const Value*>& want, Closeness closeness,
                    double floor) {
  if (got.size() != want.size()) return "the number is " + std::to_string(got.size());
  for (size_t i = 0; i < got.size(); ++i) {
    const std::string found = difference(got[i], *want[i], closeness, floor);
    if (!found.empty()) return std::to_string(i) + ": " + found;
  }
  return {};
}

// f(args...) at once and compiled, against the same values.
template <class F, class... Args>
std::string check(const std::string& what, const std::vector<const Value*>& want,
                  Closeness closeness, double floor, bool traceable, const F& f,
                  const Args&... args) {
  std::string wrong = compare(f(args...), want, closeness, floor);
  if (!wrong.empty()) return what + " " + wrong;
  if (traceable) wrong = compare(sp::jit(f)(args...), want, closeness, floor);
  return wrong.empty() ? wrong : what + " under jit " + wrong;
}

std::string check_values(const Operation& op, const Case& c, const Arrays& inputs) {
  const auto run = [&](const Arrays& in) { return op.run(in, c.params); };
  std::vector<const Value*> want;
  for (const Value& v : c.outputs) want.push_back(&v);
  return check("output", want, op.values, 0, op.traceable, run, inputs);
}

std::string check_gradients(const Operation& op, const Case& c, const Arrays& inputs) {
  Arrays active;
  std::vector<const Value*> want;
  for (const auto& [input, value] : c.gradients) {
    active.push_back(inputs[input]);
    want.push_back(&value);
  }
  const auto floating_outputs = [&](const Arrays& x) {
    Arrays all = inputs;
    for (size_t i = 0; i < x.size(); ++i) all[c.gradients[i].first] = x[i];
    Arrays out;
    for (const Array& y : op.run(all, c.params)) {
      if (sp::is_floating(y.dtype())) out.push_back(y);
    }
    return out;
  };
  const auto pull_back = [&](const Arrays& x, const Arrays& cotangents) {
    const auto [out, pullback] = sp::vjp(floating_outputs, x);
    return pullback(cotangents);
  };
  const Arrays cotangents = to_arrays(c.cotangents);
  // Two units in the last place of a cotangent, which is about 2: where the terms of a gradient
  // cancel, as in softmin's, this is their own rounding.
  constexpr double kTerms = 0x1p-22;
  return check("gradient", want, Closeness::kScaled, kTerms, op.traceable, pull_back, active,
               cotangents);
}

class ReferenceCases : public testing::TestWithParam<std::string> {};

TEST_P(ReferenceCases, AgreeInValuesAndGradients) {
  const auto found = operations().find(GetParam());
  ASSERT_NE(found, operations().end()) << GetParam() << " has cases and no function of Spruce";
  for (const Case& c : file().cases) {
    if (c.op != GetParam()) continue;
    try {
      const Arrays inputs = to_arrays(c.inputs);
      std::string wrong = check_values(found->second, c, inputs);
      if (wrong.empty() && !c.gradients.empty()) wrong = check_gradients(found->second, c, inputs);
      EXPECT_EQ(wrong, "") << describe(c);
    } catch (const sp::Error& error) {
      ADD_FAILURE() << describe(c) << " throws " << error.what();
    }
  }
}

std::string test_name(const testing::TestParamInfo<std::string>& info) {
  std::string name = info.param;
  for (char& c : name) {
    if (c == '.') c = '_';
  }
  return name;
}

INSTANTIATE_TEST_SUITE_P(Operations, ReferenceCases, testing::ValuesIn(stored_operations()),
                         test_name);

TEST(ReferenceFile, HoldsAsMuchAsPromised) {
  size_t gradients = 0;
  for (const Case& c : file().cases) gradients += !c.gradients.empty();
  std::cout << file().cases.size() << " cases, " << gradients << " with gradients, of "
            << stored_operations().size() << " operations; " << file().header << "\n";
  EXPECT_GE(gradients, 2000u);
  EXPECT_GE(stored_operations().size(), 120u);
  for (const auto& [name, operation] : operations()) {
    EXPECT_EQ(stored_operations().count(name), 1u) << name << " has a function and no cases";
  }
}

TEST(ReferenceFile, ADifferenceIsSeen) {
  Value want{"f32", {3}, {1.0, 2.0, 3.0}, {}};
  const Array got = sp::array({1.0f, 2.0f, 3.00002f});
  EXPECT_EQ(difference(to_array(want), want, Closeness::kExact), "");
  EXPECT_NE(difference(got, want, Closeness::kScaled), "");
  EXPECT_NE(difference(sp::astype(got, sp::float64), want, Closeness::kScaled), "");
  EXPECT_NE(difference(sp::reshape(got, {3, 1}), want, Closeness::kScaled), "");
  want.reals[2] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_NE(difference(got, want, Closeness::kScaled), "");
}

TEST(ReferenceFile, ACutOrMissingFileIsAnError) {
  std::ifstream whole(SPRUCE_SOURCE_DIR "/tests/reference/cases.bin", std::ios::binary);
  std::string bytes(1000, '\0');
  whole.read(bytes.data(), 1000);
  const std::string path = testing::TempDir() + "cut_cases.bin";
  std::ofstream(path, std::ios::binary) << bytes;
  EXPECT_THROW(read_cases(path), std::runtime_error);
  std::ofstream(path, std::ios::binary) << "something else";
  EXPECT_THROW(read_cases(path), std::runtime_error);
  std::remove(path.c_str());
  EXPECT_THROW(read_cases(path), std::runtime_error);
}

}  // namespace reference_test
}  // namespace reference
