// SPDX-License-Identifier: Apache-2.0
// Operators know the line that they stand on.
#include <gmock/gmock.h>

#include "spruce/core/ops/ops.h"
#include "spruce/transforms/transforms.h"

namespace spruce {
namespace operators_test {

using testing::Each;
using testing::HasSubstr;

std::string here(int line) { return "operators_test.cc:" + std::to_string(line); }

std::vector<std::string> places(const Graph& g) {
  std::vector<std::string> out;
  for (const Equation& e : g.equations) out.push_back(e.place);
  return out;
}

TEST(Operators, ErrorsNameTheirLine) {
  const Array a = ones({2}), b = ones({3});
  const auto message = [](const auto& f) -> std::string {
    try {
      f();
    } catch (const Error& e) {
      return e.what();
    }
    return "";
  };
  EXPECT_THAT(message([&] { (void)(a + b); }), HasSubstr(here(__LINE__)));
  EXPECT_THAT(message([&] { (void)(a < b); }), HasSubstr(here(__LINE__)));
  EXPECT_THAT(message([&] { (void)(a & 1); }), HasSubstr(here(__LINE__)));
  EXPECT_THAT(message([&] { (void)~a; }), HasSubstr(here(__LINE__)));
  Array c = a;
  EXPECT_THAT(message([&] { c *= b; }), HasSubstr(here(__LINE__)));
  EXPECT_TRUE(array_equal(a, c)) << "what failed changed nothing";
}

TEST(Operators, GraphsNameTheirLine) {
  const Array x = ones({2});
  const int line = __LINE__ + 1;
  const auto f = [](const Array& a) { return 2.0f * a - a / (a + 1.0f); };
  const auto graph = make_graph(f)(x);
  EXPECT_EQ(graph.equations.size(), 4u) << graph;
  EXPECT_THAT(places(graph), Each(here(line)));
  // So do gradients.
  EXPECT_THAT(places(make_graph(grad([&](const Array& a) { return f(a)[0]; }))(x)),
              testing::Contains(here(line)));
  // And compiled functions within others, of which the derivative is taken too.
  const auto compiled = jit(f);
  EXPECT_THAT(places(make_graph(compiled)(x)), Each(here(line)));
  EXPECT_THAT(places(make_graph(grad([&](const Array& a) { return compiled(a)[0]; }))(x)),
              testing::Contains(here(line)));
}

TEST(Operators, PlacesOutliveTheFunctionThatTheyAreIn) {
  const Array x = ones({2});
  const int line = __LINE__ + 1;
  const auto pullback = vjp(jit([](const Array& a) { return a * a; }), x).second;
  const auto graph = make_graph([&](const Array& ct) { return pullback(ct); })(x);
  EXPECT_THAT(places(graph), testing::Contains(here(line)));
}

TEST(Operators, TakeWhatConvertsToAnArray) {
  struct Wrapped {
    Array value;
    operator Array() const { return value; }
  };
  const Wrapped w{array({1.0f, 2.0f})};
  EXPECT_TRUE(array_equal(w.value + 1, array({2.0f, 3.0f})));
  EXPECT_TRUE(array_equal(1 + w.value, array({2.0f, 3.0f})));
  EXPECT_TRUE(array_equal(w.value * w, array({1.0f, 4.0f})));
  EXPECT_TRUE(array_equal(w.value == 2.0f, array({false, true})));
  EXPECT_TRUE(array_equal(2.0f == w.value, array({false, true})));
}

TEST(Operators, ReuseTheMemoryOfTemporaries) {
  Array a = ones({1000});
  const void* memory = a.data<float>().data();
  const Array b = std::move(a) + 1.0f;
  EXPECT_EQ(b.data<float>().data(), memory);
}

}  // namespace operators_test
}  // namespace spruce
