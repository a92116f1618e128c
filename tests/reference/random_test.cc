// SPDX-License-Identifier: Apache-2.0
// Every random function against stored values of JAX's partitionable threefry (generate_random.py).
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <fstream>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "spruce/spruce.h"

namespace random_test {

namespace sp = spruce;
using sp::Array;
using Json = nlohmann::json;

struct Case {
  explicit Case(const Json& c)
      : function(c["function"]),
        key(sp::Key::wrap(sp::array(c["key"].get<std::vector<uint32_t>>()))),
        dtype(c["dtype"] == "" ? sp::uint32 : sp::parse_dtype(std::string(c["dtype"]))),
        shape(c["shape"].get<std::vector<int64_t>>()),
        params(c["params"]),
        values(c["values"]),
        text(c.dump()) {}

  std::string function;
  sp::Key key;
  sp::Dtype dtype;
  sp::Shape shape;
  Json params;
  Json values;
  std::string text;
};

const std::vector<Case>& cases() {
  static const std::vector<Case> all = [] {
    std::ifstream in(SPRUCE_SOURCE_DIR "/tests/reference/random.json");
    const Json file = Json::parse(in);
    return std::vector<Case>(file["cases"].begin(), file["cases"].end());
  }();
  return all;
}

// What a function gives for a case, and how far it may be off: in units of the dtype's epsilon
// times the larger of 1 and the magnitude. 0 stands for the same bits.
struct Function {
  std::function<Array(const Case&)> run;
  double epsilons = 0;
  double f64_epsilons = epsilons;  // XLA's log1p of f64 is itself up to 38 off, its erf a few
};

template <class F>
Function floating(const F& f, double f64_epsilons = 4) {
  return {[f](const Case& c) { return f(c.key, c.shape, {.dtype = c.dtype}, sp::Loc::current()); },
          4, f64_epsilons};
}

Array table() { return sp::reshape(sp::arange(12.0f), {4, 3}); }

Array floats(const Json& values) { return sp::array(values.get<std::vector<float>>()); }

sp::random::ChoiceOptions choice_options(const Case& c) {
  sp::random::ChoiceOptions options{.replace = c.params["replace"]};
  if (c.params.contains("p")) options.p = floats(c.params["p"]);
  options.axis = c.params.value("axis", 0);
  return options;
}

Array categorical(const Case& c) {
  const auto shape = c.params["logits_shape"].get<std::vector<int64_t>>();
  const Array logits = sp::reshape(floats(c.params["logits"]), shape);
  const int64_t axis = c.params["axis"];
  return sp::random::categorical(c.key, logits, {.axis = axis, .shape = c.shape});
}

Array uniform(const Case& c) {
  const double low = c.params.value("low", 0.0), high = c.params.value("high", 1.0);
  return sp::random::uniform(c.key, c.shape, {.low = low, .high = high, .dtype = c.dtype});
}

Array randint_arrays(const Case& c) {
  const Array low = sp::array(c.params["low"].get<std::vector<int32_t>>());
  const Array high = sp::array(c.params["high"].get<std::vector<int32_t>>());
  return sp::random::randint(c.key, c.shape, low, high, {.dtype = c.dtype});
}

// The values that go through a function of a library are a few units off, as JAX's own are between
// machines.
const std::map<std::string, Function>& functions() {
  namespace random = sp::random;
  static const std::map<std::string, Function> all = {
      {"key", {[](const Case& c) { return sp::Key(c.values[0].get<uint64_t>()).data(); }}},
      {"split",
       {[](const Case& c) { return random::split(c.key, c.params["n"].get<int64_t>()).data(); }}},
      {"fold_in", {[](const Case& c) {
         return random::fold_in(c.key, c.params["data"].get<int64_t>()).data();
       }}},
      {"bits", {[](const Case& c) { return random::bits(c.key, c.shape, c.dtype); }}},
      {"uniform", {uniform}},
      {"normal", floating(random::normal)},
      {"gumbel", floating(random::gumbel)},
      {"exponential", floating(random::exponential, 40)},
      {"laplace", floating(random::laplace, 40)},
      {"cauchy", floating(random::cauchy)},
      {"logistic", floating(random::logistic, 40)},
      {"truncated_normal",
       {[](const Case& c) {
          const double low = c.params["low"], high = c.params["high"];
          return random::truncated_normal(c.key, low, high, c.shape, {.dtype = c.dtype});
        },
        4, 16}},
      {"bernoulli", {[](const Case& c) {
         return random::bernoulli(c.key, Array(c.params["p"].get<float>()), c.shape);
       }}},
      {"randint", {[](const Case& c) {
         const int64_t low = c.params["low"], high = c.params["high"];
         return random::randint(c.key, c.shape, low, high, {.dtype = c.dtype});
       }}},
      {"randint_arrays", {randint_arrays}},
      {"rademacher",
       {[](const Case& c) { return random::rademacher(c.key, c.shape, {.dtype = c.dtype}); }}},
      {"permutation",
       {[](const Case& c) { return random::permutation(c.key, c.params["n"].get<int64_t>()); }}},
      {"permutation_array", {[](const Case& c) {
         const bool independent = c.params.value("independent", false);
         const int64_t axis = c.params["axis"];
         return random::permutation(c.key, table(), {.axis = axis, .independent = independent});
       }}},
      {"choice", {[](const Case& c) {
         return random::choice(c.key, c.params["n"].get<int64_t>(), c.shape, choice_options(c));
       }}},
      {"choice_array", {[](const Case& c) {
         const sp::Shape drawn{c.params["axis"] == 0 ? c.shape[0] : c.shape[1]};
         return random::choice(c.key, table(), drawn, choice_options(c));
       }}},
      {"categorical", {categorical}},
  };
  return all;
}

double epsilon(sp::Dtype d) {
  if (d == sp::float64) return 0x1p-52;
  if (d == sp::float32) return 0x1p-23;
  return d == sp::float16 ? 0x1p-10 : 0x1p-7;
}

sp::Dtype bits_of(sp::Dtype d) {
  return sp::size_of(d) == 8 ? sp::uint64 : sp::size_of(d) == 4 ? sp::uint32 : sp::uint16;
}

// The stored integers as an array of the dtype; those of floats are their bits.
template <class T>
Array integers(const Json& values, const sp::Shape& shape) {
  return sp::array(values.get<std::vector<T>>(), shape);
}
Array stored(const Case& c, sp::Dtype dtype) {
  const sp::Shape shape = c.function == "key" ? sp::Shape{1} : c.shape;
  if (sp::is_floating(dtype)) {
    return sp::bitcast(sp::astype(integers<uint64_t>(c.values, shape), bits_of(dtype)), dtype);
  }
  if (sp::is_bool(dtype)) return sp::astype(integers<int32_t>(Json(c.values), shape), sp::bool_);
  if (sp::is_unsigned_integer(dtype)) return sp::astype(integers<uint64_t>(c.values, shape), dtype);
  return sp::astype(integers<int64_t>(c.values, shape), dtype);
}

// The largest distance in epsilons of max(1, |want|).
double distance(const Array& got, const Array& want) {
  const auto g = sp::astype(got, sp::float64).to_vector<double>();
  const auto w = sp::astype(want, sp::float64).to_vector<double>();
  double largest = 0;
  for (size_t i = 0; i < g.size(); ++i) {
    if (g[i] == w[i]) continue;
    const double off =
        std::abs(g[i] - w[i]) / (epsilon(got.dtype()) * std::max(1.0, std::abs(w[i])));
    largest = std::max(largest, std::isnan(off) ? HUGE_VAL : off);
  }
  return largest;
}

std::set<std::string> stored_functions() {
  std::set<std::string> names;
  for (const Case& c : cases()) names.insert(c.function);
  return names;
}

class RandomCases : public testing::TestWithParam<std::string> {};

TEST_P(RandomCases, AgreeWithJax) {
  const auto found = functions().find(GetParam());
  ASSERT_NE(found, functions().end()) << GetParam() << " has cases and no function of Spruce";
  double largest = 0;
  for (const Case& c : cases()) {
    if (c.function != GetParam()) continue;
    const Array got = found->second.run(c);
    if (c.function == "key") {
      const uint64_t seed = c.values[0];
      EXPECT_EQ(c.key.data().to_vector<uint32_t>(), got.to_vector<uint32_t>()) << seed;
      continue;
    }
    const Array want = stored(c, c.dtype);
    ASSERT_EQ(got.shape(), want.shape()) << c.text;
    EXPECT_EQ(got.dtype(), want.dtype()) << c.text;
    if (found->second.epsilons == 0) {
      EXPECT_TRUE(sp::array_equal(got, want)) << c.text << "\ngot " << got;
    } else {
      const double off = distance(got, want);
      largest = std::max(largest, off);
      const Function& f = found->second;
      EXPECT_LE(off, c.dtype == sp::float64 ? f.f64_epsilons : f.epsilons)
          << c.text << "\ngot " << got << "\nwant " << want;
    }
  }
  RecordProperty("epsilons", std::to_string(largest));
}

INSTANTIATE_TEST_SUITE_P(Functions, RandomCases, testing::ValuesIn(stored_functions()),
                         [](const auto& info) { return info.param; });

TEST(RandomFile, EveryFunctionHasCases) {
  for (const auto& [name, function] : functions()) {
    EXPECT_EQ(stored_functions().count(name), 1u) << name;
  }
  EXPECT_GE(cases().size(), 300u);
}

}  // namespace random_test
