// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "spruce/core/memory.h"
#include "spruce/transforms/control/loops/fori_loop.h"
#include "spruce/transforms/control/loops/map.h"
#include "spruce/transforms/control/loops/while_loop.h"
#include "tests/core/message.h"
#include "tests/transforms/control/twins.h"

namespace spruce::control {
namespace while_test {

// Doubles x by a until it is past a bound that is closed over.
Array grown(const Arrays& in, const WhileOptions& options) {
  struct State {
    Array x, steps;
  };
  const State last = while_loop([&](const State& s) { return s.x < in[1]; },
                                [&](const State& s) {
                                  return State{s.x * in[0] + 0.1 * sin(s.x), s.steps + 1};
                                },
                                State{in[2], array(0.0, float64)}, options);
  return last.x * last.steps;
}

// C++ cannot branch on mapped values: a fixed number of steps with selections.
Array grown_plain(const Arrays& in, int most) {
  Array x = in[2], steps = array(0.0, float64);
  for (int i = 0; i < most; ++i) {
    const Array more = x < in[1];
    x = where(more, x * in[0] + 0.1 * sin(x), x);
    steps = where(more, steps + 1.0, steps);
  }
  return x * steps;
}

const Arrays kPoint = {array(1.8, float64), array(9.0, float64), array(0.4, float64)};

TEST(WhileLoop, EqualsTheLoopInForwardMode) {
  expect_twins({"while_loop", [](const Arrays& in) { return grown(in, {}); },
                [](const Arrays& in) { return grown_plain(in, 30); }, kPoint, false});
}

TEST(WhileLoop, EqualsTheLoopWithABound) {
  expect_twins({"while_loop with a bound",
                [](const Arrays& in) { return grown(in, {.max_steps = 30}); },
                [](const Arrays& in) { return grown_plain(in, 30); }, kPoint});
  expect_twins({"while_loop with a bound that it meets",
                [](const Arrays& in) { return grown(in, {.max_steps = 3}); },
                [](const Arrays& in) { return grown_plain(in, 3); }, kPoint});
}

TEST(WhileLoop, EqualsTheLoopWithCheckpoints) {
  for (const int most : {1, 7, 30}) {
    expect_twins(
        {"while_loop with checkpoints, " + std::to_string(most),
         [=](const Arrays& in) { return grown(in, {.max_steps = most, .checkpoint = true}); },
         [=](const Arrays& in) { return grown_plain(in, most); }, kPoint});
  }
}

TEST(WhileLoop, MappedLoopsEndEachAtItsTime) {
  const auto halvings = [](const Array& n) {
    struct State {
      Array n, steps;
    };
    return while_loop([](const State& s) { return s.n > 1; },
                      [](const State& s) {
                        return State{floor_divide(s.n, 2), s.steps + 1};
                      },
                      State{n, Array(0)})
        .steps;
  };
  const Array ns = array({1, 2, 3, 8, 1000, 0});
  const Array want = array({0, 1, 1, 3, 9, 0});
  EXPECT_TRUE(array_equal(vmap(halvings)(ns), want));
  EXPECT_TRUE(array_equal(jit(vmap(halvings))(ns), want));
  EXPECT_EQ(vmap(halvings)(zeros({0}, int32)).shape(), Shape{0});
}

TEST(WhileLoop, OneConditionForAll) {
  const auto f = [](const Array& x) {
    return while_loop([](const std::pair<Array, Array>& s) { return s.first < 5; },
                      [&](const std::pair<Array, Array>& s) {
                        return std::pair{s.first + 1, s.second * x};
                      },
                      std::pair{array(0), array(1.0, float64)})
        .second;
  };
  const auto graph = make_graph(vmap(f))(array({1.0, 2.0}, float64)).text();
  EXPECT_EQ(graph.find("select"), std::string::npos) << graph;
  expect_close(vmap(f)(array({1.0, 2.0}, float64)), array({1.0, 32.0}, float64), "powers");
}

TEST(WhileLoop, WithinAScanWithinAWhileLoop) {
  const auto f = [](const Arrays& in) {
    const auto inner = [&](const Array& c, const Array& x) {
      const Array y = while_loop([&](const Array& z) { return z < x + 2.0; },
                                 [&](const Array& z) { return z * in[0]; }, c, {.max_steps = 8});
      return std::pair{y * 0.5, y};
    };
    const auto outer = [&](const std::pair<Array, Array>& s) {
      const auto [last, ys] = scan(inner, s.second, in[1]);
      return std::pair{s.first + 1, last + sum(ys) * 0.1};
    };
    return while_loop([](const std::pair<Array, Array>& s) { return s.first < 3; }, outer,
                      std::pair{array(0), array(0.7, float64)}, {.max_steps = 4})
        .second;
  };
  const auto plain = [](const Arrays& in) {
    Array s = array(0.7, float64);
    for (int i = 0; i < 3; ++i) {
      Array total = array(0.0, float64);
      for (int64_t j = 0; j < 3; ++j) {
        Array z = s;
        for (int k = 0; k < 8; ++k) z = where(z < in[1][j] + 2.0, z * in[0], z);
        total = total + z;
        s = z * 0.5;
      }
      s = s + total * 0.1;
    }
    return s;
  };
  expect_twins({"nested loops", f, plain, {array(1.7, float64), numbers({3}, 6)}});
}

TEST(ForiLoop, CountsAndDifferentiates) {
  const auto f = [](const Arrays& in) {
    return fori_loop(
        2, 7, [&](const Array& i, const Array& c) { return c * in[0] + sin(in[1] * i); }, in[1]);
  };
  const auto plain = [](const Arrays& in) {
    Array c = in[1];
    for (int i = 2; i < 7; ++i) c = c * in[0] + sin(in[1] * i);
    return c;
  };
  expect_twins({"fori_loop", f, plain, {array(0.8, float64), array(0.3, float64)}});
  EXPECT_EQ(fori_loop(
                5, 2, [](const Array&, const Array& c) { return c + 1; }, 7)
                .item<int>(),
            7);
  const int64_t big = int64_t{1} << 40;
  EXPECT_EQ(
      fori_loop(
          big, big + 3, [](const Array& i, const Array& c) { return c + i; }, array(int64_t{0}))
          .item<int64_t>(),
      3 * big + 3);
}

TEST(ForiLoop, BoundsThatAreTooFarApartAreErrors) {
  const auto run = [](auto lower, auto upper) {
    return fori_loop(
        lower, upper, [](const Array&, const Array& x) { return x; }, 1.0f);
  };
  EXPECT_THROW((void)run(INT64_MIN, INT64_MAX), ValueError);
  EXPECT_THROW((void)run(INT64_MIN, int64_t{0}), ValueError);
  EXPECT_THROW((void)run(0, UINT64_MAX), ValueError);
  EXPECT_EQ(run(INT64_MAX, INT64_MIN).item<float>(), 1.0f);
  EXPECT_EQ(run(INT64_MIN, INT64_MIN + 2).item<float>(), 1.0f);
}

TEST(ForiLoop, BoundsMayBeTraced) {
  const auto sum_to = [](const Array& n) {
    return fori_loop(
        array(0), n, [](const Array& i, const Array& c) { return c + i; }, array(0));
  };
  EXPECT_TRUE(array_equal(jit(vmap(sum_to))(array({0, 1, 5, 10})), array({0, 0, 10, 45})));
  const auto power = [](const Array& x) {
    return fori_loop(array(0), array(3), [&](const Array&, const Array& c) { return c * x; },
                     array(1.0, float64), {.max_steps = 5});
  };
  EXPECT_DOUBLE_EQ(grad(power)(array(2.0, float64)).item<double>(), 12.0);
}

// The index has a dtype that holds both bounds: u8 would turn over at 255 and never reach 300.
TEST(ForiLoop, BoundsOfDifferentDtypesAreCountedInOneThatHoldsBoth) {
  const auto run = [](const Array& lower, const Array& upper) {
    return fori_loop(
        lower, upper, [](const Array& i, const Array& c) { return c + (i - i + 1).astype(int32); },
        array(0));
  };
  for (const Dtype dtype : {int32, int64, int16, uint32}) {
    const Array first = array(250).astype(uint8), last = array(300).astype(dtype);
    EXPECT_EQ(run(first, last).item<int>(), 50);
    EXPECT_EQ(jit(run)(first, last).item<int>(), 50);
    EXPECT_EQ(run(last, first).item<int>(), 0);
    EXPECT_TRUE(
        array_equal(vmap(run)(array({250, 255}).astype(uint8), array({300, 256}).astype(dtype)),
                    array({50, 1})));
  }
  EXPECT_EQ(run(array(250).astype(uint8), Array(300)).item<int>(), 50);
  EXPECT_EQ(run(array(-2).astype(int8), array(3).astype(uint8)).item<int>(), 5);
  EXPECT_THROW((void)run(array(0).astype(int64), array(3).astype(uint64)), DtypeError);
  const auto index = fori_loop(
      array(0).astype(uint8), array(3).astype(uint8),
      [](const Array& i, const Array&) { return i; }, array(0).astype(uint8));
  EXPECT_EQ(index.dtype(), uint8);
}

// What the examples that are done compute is not their result, and its slope is not finite.
TEST(WhileLoop, ExamplesThatAreDoneLeaveNoNanInGradients) {
  using State = std::pair<Array, Array>;
  // One step for each example that begins above 0; log and sqrt of the others are NaN.
  const auto loop = [](const Array& w, const Array& x) {
    return while_loop([](const State& s) { return all(s.second > 0.0); },
                      [&](const State& s) {
                        return State(s.first + sum(w * log(s.second)) * sqrt(s.second),
                                     s.second - 4.0);
                      },
                      State(0.0 * x, x), {.max_steps = 3})
        .first;
  };
  const Array x = array({4.0, 0.0, -1.0}, float64), w = array({0.5, 2.0}, float64);
  const auto total = [&](const Array& w, const Array& x) {
    return sum(vmap([&](const Array& y) { return loop(w, y); })(x));
  };
  const double log4 = std::log(4.0);
  const Array by_w = full({2}, 2 * log4, float64);
  const Array by_x = array({2.5 * 0.5 + 2.5 * log4 / 4, 0.0, 0.0}, float64);
  EXPECT_TRUE(allclose(grad<0>(total)(w, x), by_w));
  EXPECT_TRUE(allclose(jit(grad<0>(total))(w, x), by_w));
  EXPECT_TRUE(allclose(grad<0>(jit(total))(w, x), by_w));
  EXPECT_TRUE(allclose(grad<1>(total)(w, x), by_x));
  const auto mapped = [&](const Array& y) { return grad<1>(loop)(w, y); };
  EXPECT_TRUE(allclose(vmap(mapped)(x), by_x));
  // A number that all share, and two batches, of which one never takes a step.
  const auto scaled = [&](const Array& c) { return total(c * w, x); };
  EXPECT_NEAR(grad(scaled)(array(1.0, float64)).item<double>(), 5 * log4, 1e-12);
  const Array rows = stack({x, array({0.0, -1.0, -2.0}, float64)});
  const auto nested = [&](const Array& w) {
    return sum(vmap([&](const Array& row) { return total(w, row); })(rows));
  };
  EXPECT_TRUE(allclose(grad(nested)(w), by_w));
  const auto slope = [&](const Array& x) { return sum(grad<1>(total)(w, x)); };
  EXPECT_TRUE(all(isfinite(grad(slope)(x))).item<bool>());
}

TEST(WhileLoop, CheckpointsTakeTheMemoryOfTheSquareRoot) {
  const Array x = numbers({1000}, 3);
  const auto peak = [&](const WhileOptions& options) {
    const auto slope = jit(grad([=](const Array& x) {
      using State = std::pair<Array, Array>;
      return sum(while_loop([](const State& s) { return s.first < 400; },
                            [](const State& s) { return State(s.first + 1, sin(s.second * 1.01)); },
                            State(array(0), x), options)
                     .second);
    }));
    // The first call takes the workspace, and keeps it.
    const int64_t before = memory::live_bytes();
    memory::reset_peak();
    slope(x);
    return memory::peak_bytes() - before;
  };
  const int64_t all = peak({.max_steps = 400});
  const int64_t root = peak({.max_steps = 400, .checkpoint = true});
  // 20 carries, and the residuals of 20 steps.
  EXPECT_GT(all, 400 * 8000);
  EXPECT_LT(root, 100 * 8000);
}

// Errors speak of fori_loop and of the carry that it was given.
TEST(ForiLoop, NamesItsOwnLeaves) {
  using Pair = std::pair<Array, std::vector<Array>>;
  const Pair start(ones({2}), {ones({3})});
  const auto wide = [](const Array&, const Pair& c) {
    return Pair(c.first, {c.second[0].astype(float64)});
  };
  const auto longer = [](const Array&, const Pair& c) {
    return Pair(c.first, {c.second[0], c.second[0]});
  };
  const auto text = [](const auto& f) {
    try {
      (void)f();
    } catch (const Error& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  const auto begins = [](const std::string& s, const std::string& head) {
    EXPECT_EQ(s.substr(0, head.size()), head);
  };
  const std::string dtype = "fori_loop: carry.1.0 is f32[3] before the body and f64[3] after it";
  begins(text([&] { return fori_loop(0, 3, wide, start); }), dtype);
  begins(text([&] { return fori_loop(array(0), array(3), wide, start); }), dtype);
  const std::string form =
      "fori_loop: the carry before the body and the one after it have different forms: at 1: 1 "
      "entries in the first, 2 entries in the second";
  begins(text([&] { return fori_loop(0, 3, longer, start); }), form);
  begins(text([&] { return fori_loop(array(0), array(3), longer, start); }), form);
  EXPECT_THROW(fori_loop(array(0.0f), array(3), wide, start), DtypeError);
  EXPECT_THROW(fori_loop(array(0), zeros({2}, int32), wide, start), ShapeError);
}

// Weights that the body closes over are kept once, not once a step.
TEST(ForiLoop, NamesTheUseOfAValueThatHasEnded) {
  Array kept;
  const auto keep = [&](const Array&, const Array& c) { return kept = c * 2.0f; };
  fori_loop(0, 3, keep, ones({2}));
  const std::string end = ": a traced value of fori_loop of type f32[2]";
  const auto begins = [&](const char* who, const auto& f) {
    const std::string text = message<TracerError>(f);
    EXPECT_EQ(text.find(who + end), 0u) << text;
  };
  const auto run = [](const auto& f) {
    return fori_loop(
        0, 3, [&](const Array&, const Array& c) { return f(c); }, ones({2}));
  };
  begins("add", [&] { return run([&](const Array& c) { return c + kept; }); });
  begins("fori_loop", [&] { return run([&](const Array&) { return kept; }); });
  begins("fori_loop", [&] { return fori_loop(0, 3, keep, kept); });
  begins("map", [&] { return map([](const Array& x) { return x; }, kept); });
  begins("while_loop", [&] {
    return while_loop([](const Array& c) { return sum(c) < 9; }, [](const Array& c) { return c; },
                      kept);
  });
}

TEST(WhileLoop, ReverseModeKeepsCarriesAlone) {
  const Array w = numbers({50, 50}, 4), x = numbers({50}, 5);
  const auto temporaries = [&](bool checkpoint) {
    const auto slope = jit(grad([=](const Array& w, const Array& x) {
      return sum(while_loop([](const Array& c) { return sum(c) < 100.0; },
                            [&](const Array& c) { return tanh(matmul(w, c)) + x; }, x,
                            {.max_steps = 400, .checkpoint = checkpoint}));
    }));
    return slope.lower(w, x).memory().temporaries;
  };
  const int64_t carry = 50 * 8, weights = 50 * carry;
  EXPECT_LT(temporaries(false), 3 * 400 * carry + 5 * weights);
  EXPECT_LT(temporaries(true), 100 * carry + 5 * weights);
}

TEST(WhileLoop, RunsLongWithoutDepth) {
  const Array n = while_loop([](const Array& n) { return n < 100000; },
                             [](const Array& n) { return n + 1; }, array(0));
  EXPECT_EQ(n.item<int>(), 100000);
}

TEST(WhileLoop, BoundsBelowZeroAreErrors) {
  const auto more = [](const Array& x) { return x < 3.0; };
  const auto next = [](const Array& x) { return x + 1.0; };
  EXPECT_EQ(while_loop(more, next, 0.0, {.max_steps = -1}).item<double>(), 3.0);
  EXPECT_EQ(while_loop(more, next, 0.0, {.max_steps = 0}).item<double>(), 0.0);
  EXPECT_THROW(while_loop(more, next, 0.0, {.max_steps = -2}), ValueError);
  const auto step = [](const Array&, const Array& x) { return x + 1.0; };
  try {
    fori_loop(array(0), array(3), step, 0.0, {.max_steps = -5});
    FAIL();
  } catch (const ValueError& e) {
    EXPECT_NE(std::string(e.what()).find("fori_loop: max_steps is -5"), std::string::npos);
  }
}

}  // namespace while_test
}  // namespace spruce::control
