// SPDX-License-Identifier: Apache-2.0
// jit: when it traces, what it captures, and what it may overwrite.
#include "spruce/transforms/compile/jit.h"

#include <gtest/gtest.h>

#include "spruce/core/ops/ops.h"
#include "spruce/core/tree/named_arrays.h"
#include "spruce/transforms/transforms.h"

namespace spruce {
namespace jit_test {

struct Scaled {
  Array x;
  int64_t times = 1;
};

TEST(JitTrace, OncePerShapeDtypeAndStaticField) {
  const auto f = jit([](const Scaled& s) { return s.x * static_cast<float>(s.times); });
  const Array x = array({1.0f, 2.0f});
  EXPECT_TRUE(array_equal(f(Scaled{x, 3}), x * 3.0f));
  EXPECT_TRUE(array_equal(f(Scaled{x + 1.0f, 3}), x * 3.0f + 3.0f));
  EXPECT_EQ(f.trace_count(), 1);
  EXPECT_TRUE(array_equal(f(Scaled{x, 4}), x * 4.0f));
  EXPECT_EQ(f.trace_count(), 2) << "another static field";
  (void)f(Scaled{array({1.0f, 2.0f, 3.0f}), 4});
  EXPECT_EQ(f.trace_count(), 3) << "another shape";
  EXPECT_EQ(f(Scaled{array({1.0, 2.0}, float64), 4}).dtype(), float64);
  EXPECT_EQ(f.trace_count(), 4) << "another dtype";
  (void)f(Scaled{x, 3});
  EXPECT_EQ(f.trace_count(), 4);
}

TEST(JitTrace, HundredsOfFormsAreTracedOnceEach) {
  const auto f = jit([](const Array& x) { return sum(x); }, {.name = "of many shapes"});
  testing::internal::CaptureStderr();  // the warning about so many
  for (int round = 0; round < 2; ++round) {
    for (int64_t n = 1; n <= 200; ++n) EXPECT_EQ(f(ones({n})).item<float>(), static_cast<float>(n));
  }
  (void)testing::internal::GetCapturedStderr();
  EXPECT_EQ(f.trace_count(), 200);
}

TEST(JitTrace, SizesOfContainersAndWeakness) {
  const auto f = jit([](const std::vector<Array>& xs) {
    Array total = xs[0];
    for (size_t i = 1; i < xs.size(); ++i) total = total + xs[i];
    return total;
  });
  EXPECT_EQ(f(std::vector<Array>{1.0f, 2.0f}).item<float>(), 3.0f);
  EXPECT_EQ(f(std::vector<Array>{1.0f, 2.0f, 3.0f}).item<float>(), 6.0f);
  EXPECT_EQ(f.trace_count(), 2);
  EXPECT_TRUE(f(std::vector<Array>{1.0f, 2.0f}).weak());
  EXPECT_FALSE(f(std::vector<Array>{array(1.0f), array(2.0f)}).weak());
  EXPECT_EQ(f.trace_count(), 3);
}

TEST(JitTrace, NamesOfNamedArrays) {
  const auto f = jit([](const NamedArrays& n) { return n.begin()->second * 2.0f; });
  NamedArrays a, b;
  a.insert("w", array(1.0f));
  b.insert("v", array(2.0f));
  EXPECT_EQ(f(a).item<float>(), 2.0f);
  EXPECT_EQ(f(b).item<float>(), 4.0f);
  EXPECT_EQ(f.trace_count(), 2);
  EXPECT_EQ(f(a).item<float>(), 2.0f);
  EXPECT_EQ(f.trace_count(), 2);
}

TEST(JitTrace, AFunctionThatThrewIsTracedAgain) {
  const auto f = jit([](const Array& x) { return x + array({1.0f, 2.0f}); });
  EXPECT_THROW((void)f(zeros({3})), ShapeError);
  EXPECT_EQ(Interpreter::current(), nullptr);
  EXPECT_TRUE(array_equal(f(zeros({2})), array({1.0f, 2.0f})));
}

TEST(JitTrace, ATracedValueHasNoValue) {
  EXPECT_THROW((void)jit([](const Array& x) { return x > 0.0f ? x : -x; })(array(1.0f)),
               TracerError);
  Array kept;
  (void)jit([&](const Array& x) {
    kept = x + x;
    return kept;
  })(array(1.0f));
  EXPECT_THROW((void)(kept + 1.0f), TracerError);
}

struct Named {
  std::string_view name;
  Array x;
};

TEST(JitResults, TextsOutliveTheArgumentsThatTheyCameFrom) {
  const auto f = jit([](const Named& n) { return n; });
  const std::string text = "a name that is too long to stand in a std::string itself";
  auto first = std::make_unique<std::string>(text);
  (void)f(Named{*first, ones({2})});
  first->assign(text.size(), '#');
  EXPECT_EQ(f(Named{text, ones({2})}).name, text);
  EXPECT_EQ(f.trace_count(), 1);
}

TEST(JitResults, ConstantsInputsAndRepeats) {
  const auto f = jit([](const Array& x, const Array&) {
    return std::tuple{array(5), x, x, x + 1.0f};
  });
  const Array x = array({1.0f, 2.0f});
  for (int i = 0; i < 2; ++i) {
    const auto [five, a, b, c] = f(x, array(true));
    EXPECT_EQ(five.item<int>(), 5);
    EXPECT_TRUE(array_equal(a, x));
    EXPECT_TRUE(array_equal(b, x));
    EXPECT_TRUE(array_equal(c, x + 1.0f));
  }
}

TEST(JitCapture, OuterTracersAreFollowed) {
  const auto f = [](const Array& x) {
    const auto times_x = jit([x](const Array& y) { return x * y * y; });
    return times_x(array(3.0f)) + times_x(x);
  };
  EXPECT_EQ(grad(f)(array(2.0f)).item<float>(), 9.0f + 12.0f);
  EXPECT_TRUE(allclose(vmap(grad(f))(array({1.0f, 2.0f})), array({12.0f, 21.0f})));
  EXPECT_EQ(jit(grad(f))(array(2.0f)).item<float>(), 21.0f);
}

TEST(JitCapture, AFunctionUsedInsideAndOutside) {
  const auto cube = jit([](const Array& x) { return x * x * x; });
  EXPECT_EQ(cube(array(2.0f)).item<float>(), 8.0f);
  EXPECT_EQ(grad(cube)(array(2.0f)).item<float>(), 12.0f);
  EXPECT_EQ(grad(grad(cube))(array(2.0f)).item<float>(), 12.0f);
  EXPECT_TRUE(allclose(vmap(cube)(array({1.0f, 2.0f})), array({1.0f, 8.0f})));
  EXPECT_EQ(cube(array(3.0f)).item<float>(), 27.0f);
}

TEST(JitDonation, OnlyWhatIsMovedIsTaken) {
  const auto f = jit([](const Array& x) { return x * 2.0f; });
  Array x = array({1.0f, 2.0f});
  (void)f(x);
  EXPECT_TRUE(x.defined()) << "an argument that was not moved stays";
  const Array copy = x;
  const Array y = f(std::move(x));
  EXPECT_FALSE(x.defined());
  EXPECT_TRUE(array_equal(copy, array({1.0f, 2.0f})))
      << "memory that another Array holds is not written";
  EXPECT_TRUE(array_equal(y, array({2.0f, 4.0f})));
}

TEST(JitDonation, WhicheverOperandIsMovedIsTaken) {
  const auto f = jit([](const Array& x, const Array& y) { return 2.0f * y + x; });
  const auto moved = [&](bool first) {
    Array x = ones({1000}), y = full({1000}, 3.0f);
    const float *at_x = x.data<float>().data(), *at_y = y.data<float>().data();
    const Array z = first ? f(std::move(x), y) : f(x, std::move(y));
    EXPECT_EQ(z.data<float>().data(), first ? at_x : at_y);
    EXPECT_EQ(z.to_vector<float>(), std::vector<float>(1000, 7.0f));
    EXPECT_EQ((first ? y : x).to_vector<float>(), std::vector<float>(1000, first ? 3.0f : 1.0f));
  };
  moved(true);
  moved(false);
}

TEST(JitDonation, AStateThatIsPassedThroughKeepsItsMemory) {
  const auto step = jit([](const Array& a, const Array& b, const Array& c) {
    return std::pair{0.5f * b + a, 0.5f * c + b};
  });
  Array a = ones({1000}), b = full({1000}, 2.0f);
  const float *at_a = a.data<float>().data(), *at_b = b.data<float>().data();
  const Array c = full({1000}, 4.0f);
  for (int i = 0; i < 3; ++i) std::tie(a, b) = step(std::move(a), std::move(b), c);
  EXPECT_EQ(a.data<float>().data(), at_a);
  EXPECT_EQ(b.data<float>().data(), at_b);
}

TEST(JitDonation, SharedMemoryIsNeverWritten) {
  const auto f = jit([](const Array& a, const Array& b) { return std::pair{a + 1.0f, b * 10.0f}; });
  Array a = array({1.0f, 2.0f}), b = a;
  const auto [x, y] = f(std::move(a), std::move(b));
  EXPECT_TRUE(array_equal(x, array({2.0f, 3.0f})));
  EXPECT_TRUE(array_equal(y, array({10.0f, 20.0f})));
  // A reshaped Array holds the same memory.
  Array c = array({1.0f, 2.0f});
  const Array view = reshape(c, {2, 1});
  (void)f(std::move(c), array({1.0f, 2.0f}));
  EXPECT_TRUE(array_equal(view, array({1.0f, 2.0f}, {2, 1})));
}

TEST(JitDonation, WhatWasMovedInIsWholeWhereNothingWasWritten) {
  // The second result does not fit into memory; the first may take that of the argument.
  const auto grow = jit([](const Array& x) {
    return std::pair{x + 1.0f, broadcast_to(sum(x), {1 << 25, 1 << 25})};
  });
  Array x = array({1.0f, 2.0f});
  const float* at = x.data<float>().data();
  EXPECT_THROW(grow(std::move(x)), DeviceError);
  ASSERT_TRUE(x.defined());
  EXPECT_EQ(x.data<float>().data(), at);
  EXPECT_TRUE(array_equal(x, array({1.0f, 2.0f})));
  // An argument that is moved and read at once.
  const auto add = jit([](const Array& a, const Array& b) { return a + b; });
  EXPECT_THROW(add(std::move(x), x), ValueError);
  ASSERT_TRUE(x.defined());
  EXPECT_TRUE(array_equal(x, array({1.0f, 2.0f})));
}

TEST(JitDonation, ConstantsOfTheFunctionAreNeverWritten) {
  const Array constant = array({1.0f, 2.0f});
  const auto f = jit([constant](const Array& x) {
    return std::pair{constant, x + constant * 2.0f};
  });
  for (int i = 0; i < 3; ++i) {
    auto [c, y] = f(array({0.0f, 0.0f}));
    EXPECT_TRUE(array_equal(c, array({1.0f, 2.0f})));
    EXPECT_TRUE(array_equal(y, array({2.0f, 4.0f})));
    const auto overwrite = jit([](const Array& x) { return x * 0.0f; });
    (void)overwrite(std::move(c));
  }
  EXPECT_TRUE(array_equal(constant, array({1.0f, 2.0f})));
}

TEST(Jit, FunctionsThatWereMovedFromAreWhatTheyWere) {
  auto f = jit([](const Array& x) { return x * 2.0f; });
  const auto g = std::move(f);
  const Array x = array({1.0f, 2.0f});
  EXPECT_TRUE(array_equal(f(x), g(x)));
  EXPECT_EQ(f.trace_count(), 1);
  auto lowered = f.lower(x);
  const auto other = std::move(lowered);
  EXPECT_EQ(lowered.text(), other.text());
  auto [y, pull] = vjp([](const Array& v) { return v * v; }, x);
  const auto moved_pull = std::move(pull);
  EXPECT_TRUE(array_equal(pull(ones({2})), moved_pull(ones({2}))));
  auto [z, push] = linearize([](const Array& v) { return v * v; }, x);
  const auto moved_push = std::move(push);
  EXPECT_TRUE(array_equal(push(x), moved_push(x)));
}

}  // namespace jit_test
}  // namespace spruce
