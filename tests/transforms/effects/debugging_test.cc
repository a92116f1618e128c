// SPDX-License-Identifier: Apache-2.0
// debug::print and check under each transform: how often, in which order, with which values.
#include "spruce/transforms/effects/debugging.h"

#include <gmock/gmock.h>

#include <functional>

#include "spruce/core/debug.h"
#include "spruce/core/ops/ops.h"
#include "spruce/core/ops/to_device.h"
#include "spruce/transforms/effects/host_call.h"
#include "spruce/transforms/transforms.h"
#include "tests/device/locked_device.h"

namespace spruce {
namespace debugging_test {

using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

std::string printed(const std::function<void()>& f) {
  testing::internal::CaptureStdout();
  f();
  return testing::internal::GetCapturedStdout();
}

template <class E, class F>
std::string message_of(F&& f) {
  try {
    f();
  } catch (const E& e) {
    return e.what();
  }
  return "nothing of that type was thrown";
}

const Array kThree = array({1.0f, 2.0f, 3.0f});

constexpr int kPrintLine = __LINE__ + 3, kCheckLine = kPrintLine + 5;

Array shown_square(const Array& x) {
  debug::print("x {}", x);
  return x * x;
}

Array positive_root(const Array& x) {
  check(x > 0.0f, "x must be positive, got {}", x);
  return sqrt(x);
}

TEST(Debugging, PrintsWhatTheFormatSays) {
  EXPECT_EQ(printed([] { debug::print("nothing to show"); }), "nothing to show\n");
  EXPECT_EQ(printed([] { debug::print("{} of {}: {{{}}}", 3, 0.5f, kThree); }),
            "3 of 0.5: {[1. 2. 3.]}\n");
  EXPECT_EQ(printed([] {
              debug::print(std::string("{}"), array({true, false}));
            }),
            "[ True False]\n");
}

TEST(Debugging, TakesText) {
  const std::string name = "{w}";
  const auto f = jit([&](const Array& x) {
    debug::print("{} {{}} is {} ({})", name, x, "a weight");
    check(x > 0.0f, "{} is {}", std::string_view(name), x);
    return x;
  });
  EXPECT_EQ(printed([&] { f(array(2.0f)); }), "{w} {} is 2.0 (a weight)\n");
  std::string what;
  printed([&] { what = message_of<CheckError>([&] { f(array(-2.0f)); }); });
  EXPECT_THAT(what, HasSubstr("check: {w} is -2.0"));
}

TEST(Debugging, RefusesFormatsThatDoNotFit) {
  EXPECT_THAT(message_of<ValueError>([] { debug::print("{} {}", 1); }),
              HasSubstr("debug::print: \"{} {}\" has 2 places {} for values, and 1 values were "
                        "given; write one {} for each\n  at "));
  EXPECT_THAT(message_of<ValueError>([] { debug::print("{:.2f}", 1); }),
              HasSubstr("has a lone { at character 0"));
  EXPECT_THAT(message_of<ValueError>([] { check(true, "done }", 1); }),
              HasSubstr("has a lone } at character 5"));
  EXPECT_THAT(message_of<DtypeError>([] { check(kThree, "three"); }),
              HasSubstr("check: the condition is f32[3]; it must be bool"));
  EXPECT_THAT(message_of<ValueError>([] { debug::print("{}", Array()); }),
              HasSubstr("debug::print: this Array is empty"));
}

TEST(Debugging, PrintsAtEachCallOfACompiledFunction) {
  const auto f = jit(shown_square);
  Array y;
  EXPECT_EQ(printed([&] { y = f(array(3.0f)); }), "x 3.0\n");
  EXPECT_EQ(y.item<float>(), 9.0f);
  EXPECT_EQ(printed([&] { f(array(4.0f)); }), "x 4.0\n");
  EXPECT_EQ(f.trace_count(), 1);
}

TEST(Debugging, PrintsWhereNothingNeedsTheResult) {
  const auto f = jit([](const Array& x) {
    (void)cond(
        x > 0.0f, [](const Array& a) { return shown_square(a); }, [](const Array& a) { return a; },
        x);
    debug::print("behind");
    return x;
  });
  EXPECT_EQ(printed([&] { f(array(3.0f)); }), "x 3.0\nbehind\n");
  EXPECT_EQ(printed([&] { f(array(-3.0f)); }), "behind\n");
}

TEST(Debugging, EqualLinesStayAsManyAsTheyAre) {
  const auto f = jit([](const Array& x) {
    debug::print("again");
    debug::print("again");
    const Array y = shown_square(x) + shown_square(x);
    debug::print("again");
    return y;
  });
  EXPECT_EQ(printed([&] { f(array(1.0f)); }), "again\nagain\nx 1.0\nx 1.0\nagain\n");
}

// Values that passes would rather compute in another order, or in one loop. All sums are whole
// numbers, so that their digits do not depend on how wide a processor's vectors are.
TEST(Debugging, KeepsTheOrderOfTheProgram) {
  const auto f = [](const Array& x) {
    const Array y = exp(x - 1.0f) * 2.0f;
    debug::print("1 {}", sum(y));
    const Array z =
        host_call([](const Array& a) { return a + 1.0f; }, {4, 64}, {.effects = true}, x);
    debug::print("2 {}", sum(z));
    const Array w = sum(y + z, 0);
    debug::print("3 {}", w[0]);
    debug::print("4");
    const auto [last, all] = scan(
        [](const Array& c, const Array& row) {
          debug::print("5 {}", sum(row));
          debug::print("6 {}", c);
          return std::pair{c + sum(row), row};
        },
        Array(0.0f), x);
    debug::print("7 {}", last);
    debug::print("8 {}", sum(x));
    return w;
  };
  const Array x = ones({4, 64});
  const std::string eager = printed([&] { f(x); });
  EXPECT_THAT(eager, HasSubstr("5 64.0\n6 0.0\n5 64.0\n6 64.0\n"));
  std::string digits;
  for (size_t i = 0; i < eager.size(); ++i) {
    if (i == 0 || eager[i - 1] == '\n') digits += eager[i];
  }
  EXPECT_EQ(digits, "12345656565678");
  EXPECT_EQ(printed([&] { jit(f)(x); }), eager);
  EXPECT_EQ(printed([&] { jit(jit(f))(x); }), eager);
}

TEST(Debugging, UnderVmapThereIsALineForEachExample) {
  const auto f = vmap(shown_square);
  const std::string want = "x 1.0\nx 2.0\nx 3.0\n";
  EXPECT_EQ(printed([&] { f(kThree); }), want);
  EXPECT_EQ(printed([&] { jit(f)(kThree); }), want);
  EXPECT_EQ(printed([&] { vmap(jit(shown_square))(kThree); }), want);
  EXPECT_EQ(printed([&] { f(zeros({0})); }), "");
  // What is the same for all is printed once, and fills the place of each.
  const auto g = vmap(
      [](const Array& x, const Array& y) {
        debug::print("once {}", y);
        debug::print("{} of {}", x, y);
        return x;
      },
      {0, none});
  EXPECT_EQ(printed([&] { g(kThree, array(7.0f)); }),
            "once 7.0\n1.0 of 7.0\n2.0 of 7.0\n3.0 of 7.0\n");
}

TEST(Debugging, NestedVmapsPrintRowByRow) {
  const Array rows = arange(6).reshape({2, 3}), columns = array({10, 20, 30});
  const auto f = vmap(vmap([](const Array& x, const Array& y) {
                        debug::print("{} {}", x, y);
                        return x;
                      }),
                      {0, none});
  const std::string want = "0 10\n1 20\n2 30\n3 10\n4 20\n5 30\n";
  EXPECT_EQ(printed([&] { f(rows, columns); }), want);
  EXPECT_EQ(printed([&] { jit(f)(rows, columns); }), want);
}

TEST(Debugging, DerivativesPrintTheValuesOnce) {
  const Array x = array(3.0f);
  const std::string want = "x 3.0\n";
  EXPECT_EQ(printed([&] { EXPECT_EQ(grad(shown_square)(x).item<float>(), 6.0f); }), want);
  EXPECT_EQ(printed([&] { jit(grad(shown_square))(x); }), want);
  EXPECT_EQ(printed([&] { grad(jit(shown_square))(x); }), want);
  EXPECT_EQ(printed([&] { grad(grad(shown_square))(x); }), want);
  EXPECT_EQ(printed([&] { hessian(shown_square)(x); }), want);
  EXPECT_EQ(printed([&] { jvp(shown_square, std::tuple{x}, std::tuple{x}); }), want);
  EXPECT_EQ(printed([&] { jacfwd(shown_square)(kThree); }), "x [1. 2. 3.]\n");
  EXPECT_EQ(printed([&] { jacrev(shown_square)(kThree); }), "x [1. 2. 3.]\n");
  EXPECT_EQ(printed([&] { vmap(grad(shown_square))(kThree); }), "x 1.0\nx 2.0\nx 3.0\n");
  const auto total = [](const Array& a) { return sum(vmap(shown_square)(a)); };
  EXPECT_EQ(printed([&] { jit(grad(total))(kThree); }), "x 1.0\nx 2.0\nx 3.0\n");
}

// Each step prints its carry; the last carry is x to the power of 2^4.
Array powers(const Array& x, const ScanOptions& options) {
  return scan(
             [](const Array& c, None) {
               debug::print("c {}", c);
               return std::pair{c * c, none};
             },
             x, none, options)
      .first;
}

TEST(Debugging, ScanPrintsAtEachStepAndNotOnTheWayBack) {
  const Array x = array(2.0f);
  const std::string want = "c 2.0\nc 4.0\nc 16.0\nc 256.0\n";
  for (const bool checkpoint : {false, true}) {
    for (const int64_t unroll : {1, 3}) {
      const auto f = [&](const Array& a) {
        return powers(a, {.length = 4, .unroll = unroll, .checkpoint = checkpoint});
      };
      EXPECT_EQ(printed([&] { f(x); }), want);
      EXPECT_EQ(printed([&] { jit(f)(x); }), want);
      EXPECT_EQ(printed([&] { EXPECT_EQ(grad(f)(x).item<float>(), 16.0f * 32768.0f); }), want);
      EXPECT_EQ(printed([&] { EXPECT_EQ(jit(grad(f))(x).item<float>(), 16.0f * 32768.0f); }), want);
      EXPECT_EQ(printed([&] { jvp(f, std::tuple{x}, std::tuple{x}); }), want);
      EXPECT_EQ(printed([&] { grad(grad(f))(x); }), want);
      EXPECT_EQ(printed([&] {
                  jit(vmap(grad(f)))(array({1.0f, 2.0f}));
                }),
                "c 1.0\nc 2.0\nc 1.0\nc 4.0\nc 1.0\nc 16.0\nc 1.0\nc 256.0\n");
    }
  }
}

// What no step changes, and what nothing needs, is printed at each step nevertheless.
TEST(Debugging, LoopsKeepWhatDoesNotDependOnTheStep) {
  const auto f = [](const Array& x) {
    return scan(
               [&](const Array& c, const Array& row) {
                 debug::print("x {}", x);
                 debug::print("row {}", row);
                 return std::pair{c, none};
               },
               x, array({5.0f, 6.0f}))
        .first;
  };
  const std::string want = "x 1.0\nrow 5.0\nx 1.0\nrow 6.0\n";
  EXPECT_EQ(printed([&] { f(array(1.0f)); }), want);
  EXPECT_EQ(printed([&] { jit(f)(array(1.0f)); }), want);
  EXPECT_EQ(printed([&] { jit(grad(f))(array(1.0f)); }), want);
  const auto nested = [&](const Array& x) {
    return fori_loop(
        0, 2, [&](const Array&, const Array& c) { return f(c); }, x);
  };
  EXPECT_EQ(printed([&] { jit(nested)(array(1.0f)); }), want + want);
}

Array doubled_to_ten(const Array& x) {
  return while_loop([](const Array& c) { return c < 10.0f; },
                    [](const Array& c) {
                      debug::print("c {}", c);
                      return c * 2.0f;
                    },
                    x, {.max_steps = 9});
}

TEST(Debugging, WhileLoopsPrintTheStepsThatAreTaken) {
  const std::string want = "c 3.0\nc 6.0\n";
  const Array x = array(3.0f);
  EXPECT_EQ(printed([&] { doubled_to_ten(x); }), want);
  EXPECT_EQ(printed([&] { jit(doubled_to_ten)(x); }), want);
  EXPECT_EQ(printed([&] { EXPECT_EQ(grad(doubled_to_ten)(x).item<float>(), 4.0f); }), want);
  EXPECT_EQ(printed([&] { jit(grad(doubled_to_ten))(x); }), want);
  // Examples that are done do not print: each loop runs by itself.
  const Array starts = array({3.0f, 20.0f, 6.0f});
  const std::string each = "c 3.0\nc 6.0\nc 6.0\n";
  EXPECT_EQ(printed([&] {
              EXPECT_TRUE(array_equal(vmap(doubled_to_ten)(starts), array({12.0f, 20.0f, 12.0f})));
            }),
            each);
  EXPECT_EQ(printed([&] { jit(vmap(doubled_to_ten))(starts); }), each);
  EXPECT_EQ(printed([&] { jit(vmap(grad(doubled_to_ten)))(starts); }), each);
  const auto total = [](const Array& a) { return sum(vmap(doubled_to_ten)(a)); };
  EXPECT_EQ(printed([&] {
              EXPECT_TRUE(array_equal(jit(grad(total))(starts), array({4.0f, 1.0f, 2.0f})));
            }),
            each);
}

Array root_or_minus(const Array& x) {
  return cond(
      x > 0.0f,
      [](const Array& a) {
        debug::print("root of {}", a);
        return positive_root(a);
      },
      [](const Array& a) {
        debug::print("minus {}", a);
        return -a;
      },
      x);
}

TEST(Debugging, BranchesActForThoseWhoTakeThem) {
  EXPECT_EQ(printed([&] { root_or_minus(array(4.0f)); }), "root of 4.0\n");
  EXPECT_EQ(printed([&] { jit(root_or_minus)(array(-4.0f)); }), "minus -4.0\n");
  const Array xs = array({4.0f, -4.0f, 9.0f});
  const std::string each = "root of 4.0\nminus -4.0\nroot of 9.0\n";
  const Array slopes = array({0.25f, -1.0f, 1.0f / 6.0f});
  EXPECT_EQ(printed([&] {
              EXPECT_TRUE(array_equal(vmap(root_or_minus)(xs), array({2.0f, 4.0f, 3.0f})));
            }),
            each);
  EXPECT_EQ(printed([&] { jit(vmap(root_or_minus))(xs); }), each);
  EXPECT_EQ(printed([&] { EXPECT_TRUE(allclose(vmap(grad(root_or_minus))(xs), slopes)); }), each);
  const auto total = [](const Array& a) { return sum(vmap(root_or_minus)(a)); };
  EXPECT_EQ(printed([&] { EXPECT_TRUE(allclose(jit(grad(total))(xs), slopes)); }), each);
  EXPECT_EQ(printed([&] { grad(total)(xs); }), each);
  const auto both = vmap(vmap(root_or_minus));
  EXPECT_EQ(printed([&] {
              jit(both)(stack({xs, xs}));
            }),
            "root of 4.0\nroot of 4.0\nminus -4.0\nminus -4.0\nroot of 9.0\nroot of 9.0\n");
  // One predicate for all of them.
  const auto shared = vmap(
      [](const Array& p, const Array& x) {
        return cond(
            p > 0.0f, shown_square, [](const Array& a) { return a; }, x);
      },
      {none, 0});
  EXPECT_EQ(printed([&] { jit(shared)(array(1.0f), xs); }), "x 4.0\nx -4.0\nx 9.0\n");
}

TEST(Debugging, AnAxisByNameTakesAllExamplesAtOnce) {
  const auto f = [](const Array& x) {
    return cond(
        x > 0.0f, [](const Array& a) { return shown_square(psum(a, "batch")); },
        [](const Array& a) { return a; }, x);
  };
  EXPECT_THAT(message_of<ValueError>([&] { vmap(f, {.axis_name = "batch"})(kThree); }),
              HasSubstr("cond: vmap runs one with effects"));
}

TEST(Debugging, ACheckpointPrintsOnce) {
  const auto f = [](const Array& x) { return sum(sin(checkpoint(shown_square)(x))); };
  const std::string want = "x [1. 2. 3.]\n";
  EXPECT_EQ(printed([&] { f(kThree); }), want);
  EXPECT_EQ(printed([&] { grad(f)(kThree); }), want);
  EXPECT_EQ(printed([&] { jit(grad(f))(kThree); }), want);
  EXPECT_EQ(printed([&] { jit(grad([&](const Array& x) { return sum(grad(f)(x)); }))(kThree); }),
            want);
  const auto loop = [](const Array& x) { return powers(x, {.length = 2}); };
  const auto kept = [&](const Array& x) { return sin(checkpoint(loop)(x)); };
  EXPECT_EQ(printed([&] { jit(grad(kept))(array(2.0f)); }), "c 2.0\nc 4.0\n");
}

TEST(Debugging, CheckThrowsAtTheCallWithValuesAndLine) {
  EXPECT_EQ(positive_root(array(4.0f)).item<float>(), 2.0f);
  const std::string line = "debugging_test.cc:" + std::to_string(kCheckLine);
  const auto eager = message_of<CheckError>([] { positive_root(array(-4.0f)); });
  EXPECT_THAT(eager, HasSubstr("check: x must be positive, got -4.0\n  at "));
  EXPECT_THAT(eager, EndsWith(line));
  const auto f = jit(positive_root);
  EXPECT_EQ(message_of<CheckError>([&] { f(array(-4.0f)); }),
            "check: x must be positive, got -4.0\n  at " + line);
  EXPECT_EQ(f(array(9.0f)).item<float>(), 3.0f) << "the function goes on to work";
  EXPECT_THAT(message_of<CheckError>([&] { jit(grad(positive_root))(array(-1.0f)); }),
              EndsWith(line));
  // All elements of a condition count.
  const auto all = jit([](const Array& x) {
    check(x > 0.0f, "not positive: {}", x);
    return x;
  });
  EXPECT_NO_THROW(all(kThree));
  EXPECT_THAT(message_of<CheckError>([&] { all(kThree - 1.0f); }),
              HasSubstr("not positive: [0. 1. 2.]"));
  EXPECT_NO_THROW(all(zeros({0})));
}

TEST(Debugging, CheckNamesTheFirstExampleThatFails) {
  const Array xs = array({4.0f, -1.0f, -2.0f});
  for (const auto& f : std::vector<std::function<Array(const Array&)>>{
           vmap(positive_root), jit(vmap(positive_root)), vmap(grad(positive_root))}) {
    EXPECT_THAT(message_of<CheckError>([&] { f(xs); }),
                HasSubstr("check: x must be positive, got -1.0, in example [1] of [3]\n"));
  }
  EXPECT_THAT(message_of<CheckError>([&] {
                vmap(vmap(positive_root))(stack({kThree, xs}));
              }),
              HasSubstr("got -1.0, in example [1,1] of [2,3]\n"));
  // A branch that an example does not take does not fail for it.
  EXPECT_EQ(printed([&] { jit(vmap(root_or_minus))(xs); }),
            "root of 4.0\nminus -1.0\nminus -2.0\n");
}

TEST(Debugging, ACheckThatFailsStopsTheProgram) {
  const auto f = [](const Array& x) {
    return scan(
               [](const Array& c, None) {
                 debug::print("c {}", c);
                 check(c < 10.0f, "{} is too large", c);
                 return std::pair{c * c, none};
               },
               x, none, {.length = 4})
        .first;
  };
  for (const auto& g :
       std::vector<std::function<Array(const Array&)>>{f, jit(f), grad(f), jit(grad(f))}) {
    EXPECT_EQ(printed([&] {
                EXPECT_THAT(message_of<CheckError>([&] { g(array(2.0f)); }),
                            HasSubstr("16.0 is too large"));
              }),
              "c 2.0\nc 4.0\nc 16.0\n");
  }
}

TEST(Debugging, CustomRulesPrintWhatRuns) {
  const auto f =
      custom_jvp(shown_square, [](const std::tuple<Array>& x, const std::tuple<Array>& t) {
        debug::print("rule");
        return std::pair{std::get<0>(x) * std::get<0>(x), 2.0f * std::get<0>(x) * std::get<0>(t)};
      });
  EXPECT_EQ(printed([&] { jit(f)(array(3.0f)); }), "x 3.0\n");
  EXPECT_EQ(printed([&] { jit(grad(f))(array(3.0f)); }), "rule\n");
}

TEST(Debugging, ValuesOfOtherDevicesAreBroughtToTheHost) {
  const Array x = to_device(kThree, test_device::locked_device());
  const auto f = [](const Array& a) {
    debug::print("{}", a);
    check(a < 3.0f, "{} is too large", a);
    return a + 1.0f;
  };
  for (const auto& g : std::vector<std::function<Array(const Array&)>>{f, jit(f)}) {
    EXPECT_EQ(printed([&] {
                EXPECT_THAT(message_of<CheckError>([&] { g(x); }),
                            HasSubstr("[1. 2. 3.] is too large"));
              }),
              "[1. 2. 3.]\n");
    EXPECT_EQ(printed([&] { g(x - 1.0f); }), "[0. 1. 2.]\n");
  }
}

TEST(Debugging, FilesDoNotTakeFunctionsThatPrint) {
  const auto path = testing::TempDir() + "debugging";
  EXPECT_THAT(message_of<ValueError>([&] { save_function(path, shown_square, kThree); }),
              HasSubstr("save_function: the function calls debug::print, which a file cannot hold; "
                        "leave it out of what is saved\n  at debugging_test.cc:" +
                        std::to_string(kPrintLine)));
  EXPECT_THAT(message_of<ValueError>([&] { save_function(path, positive_root, kThree); }),
              HasSubstr("the function calls check, which"));
  const auto loop = [](const Array& x) { return powers(x, {.length = 2}); };
  EXPECT_THAT(message_of<ValueError>([&] { save_function(path, loop, array(1.0f)); }),
              HasSubstr("the function calls debug::print, which"));
}

TEST(Debugging, GraphsAreTextAndBack) {
  const Graph g = make_graph(vmap(positive_root))(kThree);
  EXPECT_EQ(parse_graph(g.text(true)).text(), g.text());
  EXPECT_THAT(g.text(), HasSubstr("check[format=\"x must be positive, got {}\" place="));
  EXPECT_THAT(g.text(), HasSubstr("sizes=(3) mapped=(1,1)]"));
  const auto broken = [&](const std::string& from, const std::string& to) {
    std::string text = g.text();
    text.replace(text.find(from), from.size(), to);
    return message_of<GraphError>([&] { parse_graph(text); });
  };
  EXPECT_THAT(broken("got {}", "got {} {}"), HasSubstr("takes 3 inputs, there are 2"));
  EXPECT_THAT(broken("got {}", "got {"), HasSubstr("has a lone {"));
  EXPECT_THAT(broken("sizes=(3)", "sizes=(4)"), HasSubstr("lacks a mapped axis"));
  EXPECT_THAT(broken("sizes=(3)", "sizes=(3,-1)"), HasSubstr("sizes that do not fit"));
  EXPECT_THAT(broken("sizes=(3)", "sizes=(3,5)"), HasSubstr("no input has a mapped axis"));
  EXPECT_THAT(broken("mapped=(1,1)", "mapped=(2,1)"), HasSubstr("a wrong mask"));
}

TEST(Debugging, NanChecksRunPrintsToo) {
  set_debug_nans(true);
  const std::string text = printed([&] { jit(grad(doubled_to_ten))(array(3.0f)); });
  set_debug_nans(false);
  EXPECT_EQ(text, "c 3.0\nc 6.0\n");
}

// A check that comes before the step writes to what it was given leaves that as it was.
TEST(Check, AtTheBeginningLosesNoArgument) {
  const auto step = jit([](const Array& x) {
    check(all(x > 0.0f), "x is not positive");
    return x * 2.0f;
  });
  Array good = kThree + 0.0f, bad = -kThree;
  const void* memory = internal::mutable_data(good);
  good = step(std::move(good));
  EXPECT_EQ(internal::mutable_data(good), memory) << "it moves through";
  EXPECT_THROW((void)step(std::move(bad)), CheckError);
  ASSERT_TRUE(bad.defined());
  EXPECT_TRUE(array_equal(bad, -kThree));
}

}  // namespace debugging_test
}  // namespace spruce
