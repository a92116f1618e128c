// SPDX-License-Identifier: Apache-2.0
// The form of a tree: its text, its differences, and what tells one static value from another.
#include <gmock/gmock.h>
#include <spruce/spruce.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

namespace spruce {
namespace tree_structure_test {

using testing::HasSubstr;

struct Two {
  Array w, b;
};
struct One {
  Array w;
};
struct Config {
  Array w;
  double eps = 0;
};

std::string map_error(const auto& x, const auto& y) {
  try {
    tree::map([](const Array& a, const Array&) { return a; }, x, y);
  } catch (const TreeError& e) {
    return e.what();
  }
  return "nothing was thrown";
}

TEST(TreeStructure, TextSaysWhatEachLeafIs) {
  struct All {
    Array array;
    Buffer buffer;
    Key key;
    std::vector<One> more;
    std::optional<Array> none;
  };
  const All x{ones({2}), {ones({3})}, Key(1), {{ones({1})}}, std::nullopt};
  EXPECT_EQ(tree::structure(x).text(),
            "array: *\nbuffer: * (buffer)\nkey: * (key)\nmore: 1 entries\nmore.0.w: *\n"
            "none: 0 entries\n");
  EXPECT_EQ(tree::structure(ones({2})).text(), "(root): *\n");
  EXPECT_EQ(testing::PrintToString(tree::structure(x)), tree::structure(x).text());
  EXPECT_EQ(tree::structure(Buffer{ones({2})}).text(), "(root): * (buffer)\n");
  EXPECT_EQ(tree::structure(Key(1)).text(), "(root): * (key)\n");
}

TEST(TreeStructure, StaticNumbersArePrintedSoThatTheyReadBack) {
  struct Numbers {
    float tenth = 0.1f, whole = 1, big = 3e8f, negative = -2.5f;
    double small = 1e-8, smaller = 1e-9, third = 1.0 / 3, zero = 0, minus_zero = -0.0;
    double infinite = std::numeric_limits<double>::infinity();
    double nan = std::numeric_limits<double>::quiet_NaN();
    long double wide = 0.5L;
    int8_t byte = -3;
    bool flag = true;
  };
  EXPECT_EQ(tree::structure(Numbers{}).text(),
            "tenth: 0.1\nwhole: 1.0\nbig: 3e+08\nnegative: -2.5\nsmall: 1e-08\nsmaller: 1e-09\n"
            "third: 0.3333333333333333\nzero: 0.0\nminus_zero: -0.0\ninfinite: inf\nnan: nan\n"
            "wide: 0.5\nbyte: -3\nflag: true\n");
}

TEST(TreeStructure, TextsAndShapesAreStatic) {
  struct Texts {
    std::string name = "a\"b";
    const char* label = "c";
    const char* none = nullptr;
    Shape shape{2, 3};
    std::vector<bool> mask{true, false};
  };
  EXPECT_EQ(tree::structure(Texts{}).text(),
            "name: \"a\"b\"\nlabel: \"c\"\nnone: \"\"\nshape: [2,3]\nmask: 10\n");
}

TEST(TreeStructure, StaticNumbersDifferByAnyBit) {
  const auto of = [](double eps) { return tree::structure(Config{ones({2}), eps}); };
  EXPECT_EQ(of(1e-8), of(1e-8));
  EXPECT_FALSE(of(1e-8) == of(1e-9));
  EXPECT_EQ(of(1e-8).difference(of(1e-9)), "at eps: 1e-08 in the first, 1e-09 in the second");
  EXPECT_FALSE(of(1.0) == of(std::nextafter(1.0, 2.0)));
  EXPECT_FALSE(of(0.0) == of(-0.0));
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto other = std::bit_cast<double>(std::bit_cast<uint64_t>(nan) | 1);
  EXPECT_EQ(of(nan), of(nan));
  EXPECT_EQ(of(other), of(other));
  EXPECT_FALSE(of(nan) == of(other));
  EXPECT_FALSE(of(nan) == of(-nan));
}

float up(float x) { return x + 1; }
float down(float x) { return x - 1; }

TEST(TreeStructure, FunctionPointersDifferByWhatTheyPointTo) {
  struct Layer {
    Array w;
    float (*act)(float);
  };
  const Layer a{ones({2}), up}, b{ones({2}), up}, c{ones({2}), down};
  EXPECT_EQ(tree::structure(a), tree::structure(b));
  EXPECT_FALSE(tree::structure(a) == tree::structure(c));
  EXPECT_EQ(tree::structure(a).difference(tree::structure(c)),
            "at act: one function in the first, another in the second");
}

TEST(TreeStructure, ALeafThatOneTreeHasBesidesIsNamed) {
  const Two two{ones({2}), ones({2})};
  const One one{ones({2})};
  EXPECT_THAT(map_error(two, one), HasSubstr("have different forms: the first also has b: *\n"));
  EXPECT_THAT(map_error(one, two), HasSubstr("have different forms: the second also has b: *\n"));
}

TEST(TreeStructure, BranchesOfCondMustAgreeInSmallStaticNumbers) {
  const auto branch = [](double eps) { return [eps](const Array& x) { return Config{x, eps}; }; };
  const Array no(false), x = ones({2});
  EXPECT_EQ(cond(no, branch(1e-8), branch(1e-8), x).eps, 1e-8);
  try {
    cond(no, branch(1e-8), branch(1e-9), x);
    FAIL() << "nothing was thrown";
  } catch (const TreeError& e) {
    EXPECT_THAT(e.what(), HasSubstr("at eps: 1e-0"));
  }
}

TEST(TreeStructure, CompiledFunctionsAreKeyedByTheBitsOfStaticNumbers) {
  struct Wide {
    Array w;
    long double eps;
  };
  const auto f = jit([](const Config& c) { return c.w * static_cast<float>(c.eps); });
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (int i = 0; i < 2; ++i) {
    for (const double eps : {1e-8, 1e-9, 0.0, -0.0, nan}) f(Config{ones({2}), eps});
  }
  EXPECT_EQ(f.trace_count(), 5);
  EXPECT_EQ(f(Config{ones({1}), 1e-8}).item<float>(), 1e-8f);
  const auto g = jit([](const Wide& c) { return c.w * static_cast<float>(c.eps); });
  for (int i = 0; i < 8; ++i) {  // the bytes that pad a long double are whatever stood there
    Wide wide{ones({2}), 0};
    std::memset(static_cast<void*>(&wide.eps), i, sizeof wide.eps);
    wide.eps = 0.5L;
    g(wide);
  }
  EXPECT_EQ(g.trace_count(), 1);
}

}  // namespace tree_structure_test
}  // namespace spruce
