// SPDX-License-Identifier: Apache-2.0
// Reductions along short last axes, and elementwise operations that repeat such rows, take many
// rows at a time; each row has to give what it gives alone, to the last bit.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <utility>

#include "spruce/core/ops/cumulative.h"
#include "spruce/core/ops/index.h"
#include "spruce/core/ops/join.h"
#include "spruce/core/ops/math.h"
#include "spruce/core/ops/reduce.h"
#include "spruce/core/ops/shape.h"
#include "spruce/core/parallel.h"
#include "spruce/core/random/random.h"
#include "spruce/transforms/transforms.h"

namespace spruce {
namespace {

using Function = Array (*)(const Array&);

struct Case {
  const char* name;
  Function run;  // along the last axis
};

const Case kFunctions[] = {
    {"sum", [](const Array& x) { return sum(x, -1); }},
    {"prod", [](const Array& x) { return prod(x, -1); }},
    {"max", [](const Array& x) { return max(x, -1); }},
    {"min", [](const Array& x) { return min(x, -1); }},
    {"argmax", [](const Array& x) { return argmax(x, -1); }},
    {"argmin", [](const Array& x) { return argmin(x, -1); }},
    {"cumsum", [](const Array& x) { return cumsum(x, -1); }},
    {"cumsum backwards", [](const Array& x) { return cumsum(x, -1, {.reverse = true}); }},
    {"cummax", [](const Array& x) { return cummax(x, -1); }},
};

// f(x) as bits, NaN as one.
std::vector<double> bits(const Array& x) {
  std::vector<double> v = astype(x, float64).to_vector<double>();
  for (double& d : v) {
    if (std::isnan(d)) d = std::numeric_limits<double>::max();
  }
  return v;
}

// Values of which some are equal, some NaN and some infinite.
Array values(const Shape& shape, Dtype dtype) {
  const Array x = 3 * random::normal(Key(7), shape);
  if (is_integer(dtype)) return astype(x, dtype);
  const Array chosen = random::uniform(Key(8), shape);
  return astype(where(chosen < 0.01f, std::numeric_limits<float>::quiet_NaN(),
                      where(chosen > 0.99f, std::numeric_limits<float>::infinity(),
                            where(chosen < 0.3f, round(x), x))),
                dtype);
}

TEST(ShortRows, GiveWhatTheyGiveAlone) {
  for (const Dtype dtype : {float32, float64, bfloat16, float16, int32, int8, uint8, int64}) {
    for (const int64_t n : {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 23, 31, 32, 33, 64, 65}) {
      for (const int64_t rows : {8, 63, 64, 65, 150}) {
        const Array x = values({rows, n}, dtype);
        for (const Case& c : kFunctions) {
          std::vector<Array> alone;
          for (int64_t r = 0; r < rows; r += 7) alone.push_back(c.run(x[r]));
          const Array all = c.run(x)[slice(none, none, 7)];
          EXPECT_EQ(bits(all), bits(stack(alone)))
              << c.name << " of " << name(dtype) << "[" << rows << ", " << n << "]";
        }
      }
    }
  }
}

TEST(ShortRows, OfNoElements) {
  for (const Dtype dtype : {float32, bfloat16}) {
    const Array x = zeros({20, 0}, dtype);
    EXPECT_EQ(bits(sum(x, 1)), std::vector<double>(20, 0.0));
    EXPECT_EQ(bits(prod(x, 1)), std::vector<double>(20, 1.0));
  }
}

TEST(ShortRows, AreTheSameInALoopAndOnThreads) {
  for (const int64_t n : {2, 3, 10, 16, 31}) {
    const Array x = values({20000, n}, float32);
    for (const Case& c : kFunctions) {
      const Array eager = c.run(x);
      EXPECT_EQ(bits(jit(c.run)(x)), bits(eager)) << c.name << " " << n;
      const int before = threads();
      set_threads(before == 1 ? 3 : 1);
      EXPECT_EQ(bits(c.run(x)), bits(eager)) << c.name << " " << n;
      set_threads(before);
    }
  }
}

TEST(ShortRows, PositionsAreThoseOfTheFirstBest) {
  for (const int64_t n : {1, 2, 3, 4, 10, 16, 64, 65}) {
    const Array x = values({300, n}, float32);
    const std::vector<float> v = x.to_vector<float>();
    const std::vector<int64_t> at = argmax(x, 1, {.dtype = int64}).to_vector<int64_t>();
    for (int64_t r = 0; r < 300; ++r) {
      const float* const row = v.data() + r * n;
      int64_t best = 0;
      for (int64_t k = 1; k < n && !std::isnan(row[best]); ++k) {
        if (row[k] > row[best] || std::isnan(row[k])) best = k;
      }
      EXPECT_EQ(at[static_cast<size_t>(r)], best) << n << " " << r;
    }
  }
}

// Elements that change places within rows, copied and read in a loop.
TEST(ShortRows, HaveTheirElementsMoved) {
  struct Moved {
    const char* name;
    Array (*move)(const Array& rows);         // of all but the first and the last element
    int64_t (*source)(int64_t k, int64_t n);  // what becomes element k
  };
  const Moved all[] = {
      {"flip", [](const Array& x) { return flip(x, -1); },
       [](int64_t k, int64_t n) { return n - 1 - k; }},
      {"roll", [](const Array& x) { return roll(x, 1, -1); },
       [](int64_t k, int64_t n) { return (k + n - 1) % n; }},
      {"slice", [](const Array& x) { return x * 1; }, [](int64_t k, int64_t) { return k; }},
      {"flip of a roll", [](const Array& x) { return flip(roll(x, 2, -1), -1); },
       [](int64_t k, int64_t n) { return (2 * n - 3 - k) % n; }},
      {"every other one",
       [](const Array& x) {
         return x[{ellipsis, slice(none, none, 2)}];
       },
       [](int64_t k, int64_t) { return 2 * k; }}};
  for (const Dtype dtype : {float32, float64, bfloat16, int8, int64}) {
    for (const int64_t n : {2, 3, 4, 6, 7, 9, 14, 15}) {
      for (const int64_t rows : {5, 8, 1000}) {
        const Array x = astype(round(40 * random::normal(Key(3), {rows, n + 2})), dtype);
        const std::vector<double> from = bits(x);
        for (const Moved& m : all) {
          const auto move = [&](const Array& a) { return m.move(a[{ellipsis, slice(1, -1)}]); };
          const Array eager = move(x);
          const int64_t columns = eager.shape()[1];
          std::vector<double> want;
          for (int64_t i = 0; i < rows * columns; ++i)
            want.push_back(
                from[static_cast<size_t>(i / columns * (n + 2) + 1 + m.source(i % columns, n))]);
          const std::string what = std::string(m.name) + " of " + to_string(x.aval());
          EXPECT_EQ(bits(eager), want) << what;
          EXPECT_EQ(bits(jit([&](const Array& a) { return abs(move(a)); })(x)), bits(abs(eager)))
              << what;
        }
      }
    }
  }
}

// What an operation repeats, repeated in memory first.
void expect_repeated(const Array& x, const Array& y, const std::string& what) {
  const Shape shape = broadcast_shapes("test", x.shape(), y.shape());
  const Array wide_x = broadcast_to(x, shape), wide_y = broadcast_to(y, shape);
  EXPECT_EQ(bits(x + y), bits(wide_x + wide_y)) << what;
  EXPECT_EQ(bits(x * y), bits(wide_x * wide_y)) << what;
  const Array c = x > y, other = x * y;
  EXPECT_EQ(bits(c), bits(wide_x > wide_y)) << what;
  const auto in_a_loop = jit([](const Array& a, const Array& b) { return (a + b) * b; });
  EXPECT_EQ(bits(in_a_loop(x, y)), bits((wide_x + wide_y) * wide_y)) << what;
  const Array row = other[slice(0, 1)];
  EXPECT_EQ(bits(where(c, x, row)), bits(where(c, wide_x, broadcast_to(row, shape)))) << what;
}

TEST(ShortRows, AreRepeatedAsInMemory) {
  for (const Dtype dtype : {float32, float64, bfloat16, int32, uint8}) {
    const std::string type(name(dtype));
    for (const int64_t n : {1, 2, 3, 5, 8, 15, 16, 17, 31, 60, 63, 64}) {
      const Array whole = values({7, 90, n}, dtype);
      for (const Shape& shape : {Shape{n}, Shape{90, 1}, Shape{7, 1, n}, Shape{7, 90, 1},
                                 Shape{1, 90, n}, Shape{7, 1, 1}, Shape{1, 1, 1}, Shape{90, n}})
        expect_repeated(whole, values(shape, dtype),
                        type + to_string(shape) + " and " + std::to_string(n));
      // Neither has all elements.
      expect_repeated(values({7, 1, 40, 1}, dtype), values({1, 9, 1, n}, dtype), type);
      expect_repeated(values({7, 9, 1, n}, dtype), values({7, 1, 40, 1}, dtype), type);
    }
  }
}

// Arrays of few rows, where a loop takes many of these at once.
TEST(ShortRows, OfSmallArraysAreRepeatedAsInMemory) {
  for (const Dtype dtype : {float32, float64, bfloat16, uint8}) {
    for (const auto& [rows, n] : {std::pair{2, 2}, {3, 3}, {4, 4}, {2, 17}, {25, 5}}) {
      const std::string what =
          std::string(name(dtype)) + "[" + std::to_string(rows) + "," + std::to_string(n) + "]";
      const Array whole = values({2, 150, rows, n}, dtype);
      for (const Shape& shape :
           {Shape{n}, Shape{rows, 1}, Shape{rows, n}, Shape{150, 1, 1}, Shape{150, rows, 1},
            Shape{150, 1, n}, Shape{2, 1, rows, n}, Shape{2, 1, 1, n}, Shape{2, 150, 1, n},
            Shape{2, 150, rows, 1}, Shape{2, 1, rows, 1}})
        expect_repeated(whole, values(shape, dtype), what + " and " + to_string(shape));
      expect_repeated(values({150, rows, 1}, dtype), values({150, 1, n}, dtype), what);
      expect_repeated(values({2, 1, rows, 1}, dtype), values({150, 1, n}, dtype), what);
    }
  }
}

TEST(ShortRows, AreRepeatedAsInMemoryOnThreads) {
  const int before = threads();
  set_threads(3);
  for (const int64_t n : {9, 33}) {
    expect_repeated(values({5, 4000, n}, float32), values({n}, float32), "row");
    expect_repeated(values({5, 4000, n}, float32), values({4000, 1}, float32), "column");
    expect_repeated(values({100, 1, 80, 1}, float32), values({1, 3, 1, n}, float32), "both");
    expect_repeated(values({40000, 4, 1}, float32), values({40000, 1, 5}, float32), "boxes");
  }
  set_threads(before);
}

}  // namespace
}  // namespace spruce
