// SPDX-License-Identifier: Apache-2.0
// Pure updates: values, derivatives, what is reused and what never is. index_test.cc has set and
// add at all indices.
#include <gtest/gtest.h>

#include <random>

#include "spruce/core/memory.h"
#include "spruce/core/ops/create.h"
#include "spruce/core/ops/index.h"
#include "spruce/core/ops/math.h"
#include "spruce/core/ops/reduce.h"
#include "spruce/core/ops/shape.h"
#include "spruce/core/ops/take.h"
#include "spruce/transforms/transforms.h"
#include "tests/core/message.h"

namespace spruce {
namespace at_test {

using Floats = std::vector<float>;
using Ints = std::vector<int32_t>;

TEST(At, EachUpdate) {
  const Array x = array({1.0f, 2.0f, 3.0f, 4.0f, 5.0f, 6.0f}, {2, 3});
  EXPECT_EQ(x.at(1).set(0.5f).to_vector<float>(), (Floats{1, 2, 3, 0.5f, 0.5f, 0.5f}));
  EXPECT_EQ(x.at(slice(), 1).add(array({10.0f, 20.0f})).to_vector<float>(),
            (Floats{1, 12, 3, 4, 25, 6}));
  EXPECT_EQ(x.at(0, slice(1, none)).subtract(1.0f).to_vector<float>(), (Floats{1, 1, 2, 4, 5, 6}));
  EXPECT_EQ(x.at(array({1, 1}), 0).multiply(3.0f).to_vector<float>(), (Floats{1, 2, 3, 36, 5, 6}));
  EXPECT_EQ(x.at(array({1, 1}), 0).divide(2.0f).to_vector<float>(), (Floats{1, 2, 3, 1, 5, 6}));
  EXPECT_EQ(x.at(ellipsis).min(3.5f).to_vector<float>(), (Floats{1, 2, 3, 3.5f, 3.5f, 3.5f}));
  EXPECT_EQ(x.at(x > 4.0f).max(5.5f).to_vector<float>(), (Floats{1, 2, 3, 4, 5.5f, 6}));
  EXPECT_EQ(x.at(ellipsis).set(7.0f).shape(), (Shape{2, 3}));
  EXPECT_EQ(array(3.0f).at().set(7.0f).item<float>(), 7.0f);
  EXPECT_EQ(zeros({0, 3}).at(slice(), 1).set(1.0f).shape(), (Shape{0, 3}));
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_TRUE(std::isnan(x.at(0, 0).min(nan)[{0, 0}].item<float>()));
  EXPECT_TRUE(std::isnan(x.at(0, 0).set(nan).at(0, 0).max(1.0f)[{0, 0}].item<float>()));
}

TEST(At, LastValueStays) {
  const Array x = zeros({3}, int32);
  EXPECT_EQ(x.at(array({1, 1, 0, 1})).set(array({5, 6, 7, 8})).to_vector<int32_t>(),
            (Ints{7, 8, 0}));
  // The gradient goes to the value that stayed.
  const auto f = [](const Array& v) {
    return sum(zeros({3}).at(array({1, 1, 0, 1})).set(v) * array({1.0f, 10.0f, 100.0f}));
  };
  EXPECT_EQ(grad(f)(ones({4})).to_vector<float>(), (Floats{0, 0, 1, 10}));
}

TEST(At, ManyDuplicatesInHalfPrecisionAddUp) {
  for (const Dtype dtype : {float16, bfloat16}) {
    const Array sum = zeros({2}, dtype).at(zeros({1000}, int32)).add(ones({1000}, dtype));
    EXPECT_EQ(astype(sum, float32).to_vector<float>(), (Floats{1000, 0}));
  }
}

TEST(At, RowsOfABatchAreIndependentOnAnyNumberOfThreads) {
  const int64_t rows = 70, n = 500;
  const Array k = random::randint(Key(1), {rows, n}, 0, n), w = random::normal(Key(2), {rows, n});
  const auto scattered = [&] {
    return grad([&](const Array& x) { return sum(w * take_along_axis(x, k, -1)); })(
        zeros({rows, n}));
  };
  std::vector<float> expected(static_cast<size_t>(rows * n));
  const auto index = k.to_vector<int32_t>();
  const auto value = w.to_vector<float>();
  for (size_t i = 0; i < expected.size(); ++i)
    expected[i / n * n + static_cast<size_t>(index[i])] += value[i];
  const int before = threads();
  for (const int count : {1, 2, 5}) {
    set_threads(count);
    EXPECT_EQ(scattered().to_vector<float>(), expected) << count;
  }
  set_threads(before);
}

TEST(At, DtypesAndShapesOfValues) {
  EXPECT_EQ(zeros({2}, bfloat16).at(0).set(1.5f).dtype(), bfloat16);
  EXPECT_EQ(zeros({2}).at(0).set(1).dtype(), float32);
  EXPECT_EQ(zeros({2}).at(0).set(array(1)).dtype(), float32);
  EXPECT_EQ(zeros({2}, int64).at(slice()).set(ones({1, 1, 2}, int8)).dtype(), int64);
  EXPECT_EQ(message([] { return zeros({2}, int32).at(0).set(1.5f); }),
            "at.set: the array i32[2] cannot hold values of type f32*[]; convert them with "
            "astype(i32), or the array first");
  EXPECT_EQ(message([] { return zeros({2}).at(0).add(array(1.5, float64)); }),
            "at.add: the array f32[2] cannot hold values of type f64[]; convert them with "
            "astype(f32), or the array first");
  EXPECT_EQ(message([] {
              return zeros({4, 3}).at(slice(1, 3)).set(ones({2, 2}));
            }),
            "at.set: values of type f32[2,2] do not broadcast to the place of shape [2,3] in "
            "f32[4,3]; reshape them or change "
            "the index");
  EXPECT_EQ(message([] { return zeros({4}, int32).at(0).divide(2); }),
            "at.divide: takes a floating array, got i32[4]; convert it with astype first");
}

TEST(At, ReusesMemoryThatWasMovedIn) {
  Array x = zeros({100, 100});
  const void* memory = x.data<float>().data();
  x = std::move(x).at(3).set(1.0f);
  EXPECT_EQ(x.data<float>().data(), memory);
  x = std::move(x).at(slice(0, 2), slice(none, none, 2)).add(2.0f);
  x = std::move(x).at(array({5, 5})).multiply(2.0f);
  x = std::move(x).at(x > 1.0f).min(0.5f);
  EXPECT_EQ(x.data<float>().data(), memory);
  EXPECT_EQ(sum(x).item<float>(), 100.0f + 2 * 50 * 0.5f);
}

TEST(At, LeavesSharedMemoryAlone) {
  Array x = zeros({4});
  const Array other = x;
  const Array shaped = x.reshape({2, 2});
  x = std::move(x).at(0).set(1.0f);
  EXPECT_EQ(other.to_vector<float>(), (Floats{0, 0, 0, 0}));
  EXPECT_EQ(shaped.to_vector<float>(), (Floats{0, 0, 0, 0}));
  const auto place = x.at(1);
  EXPECT_EQ(place.set(5.0f).to_vector<float>(), (Floats{1, 5, 0, 0}));
  EXPECT_EQ(place.set(6.0f).to_vector<float>(), (Floats{1, 6, 0, 0}));
  const auto moved = std::move(x).at(1);
  EXPECT_EQ(moved.set(5.0f).to_vector<float>(), (Floats{1, 5, 0, 0}));
  EXPECT_EQ(moved.get().item<float>(), 0.0f);
}

TEST(At, LeavesArraysAloneWhenItThrows) {
  Array x = zeros({4});
  Array y = x;
  EXPECT_THROW((void)std::move(y).at(9).set(1.0f), IndexError);
  EXPECT_EQ(x.to_vector<float>(), (Floats{0, 0, 0, 0}));
}

// Handles that share memory in every way, next to plain vectors that do not.
TEST(At, RandomAliasing) {
  std::mt19937 rng(3);
  const auto below = [&](int n) { return static_cast<int>(rng() % static_cast<unsigned>(n)); };
  struct Held {
    Array array;
    Floats values;
  };
  std::vector<Held> held(6, {zeros({4, 3}), Floats(12, 0.0f)});
  int reused = 0;
  for (int step = 0; step < 4000; ++step) {
    Held &a = held[static_cast<size_t>(below(6))], &b = held[static_cast<size_t>(below(6))];
    const int row = below(4), kind = below(6);
    const auto value = static_cast<float>(step);
    if (kind == 0) {
      a = b;
    } else if (kind == 1) {
      a = {b.array.reshape({3, 4}).reshape({4, 3}), b.values};
    } else if (kind == 2) {
      a.array = a.array.at(row).set(value);
      for (int k = 0; k < 3; ++k) a.values[static_cast<size_t>(row * 3 + k)] = value;
    } else if (kind == 3) {
      const void* before = a.array.data<float>().data();
      a.array = std::move(a.array).at(row, 1).add(value);
      a.values[static_cast<size_t>(row * 3 + 1)] += value;
      reused += a.array.data<float>().data() == before;
    } else if (kind == 4 && &a != &b) {
      const Array v = b.array[row];
      a.array = std::move(a.array).at(0).set(v);
      for (size_t k = 0; k < 3; ++k) a.values[k] = b.values[static_cast<size_t>(row) * 3 + k];
    } else if (kind == 5) {
      const Array flat = a.array.reshape({12});
      a.array = std::move(a.array).at(slice(none, none, -1)).set(flat.reshape({4, 3}));
      const Floats old = a.values;
      for (size_t r = 0; r < 4; ++r) std::copy_n(&old[r * 3], 3, &a.values[(3 - r) * 3]);
    }
    for (const Held& h : held)
      ASSERT_EQ(h.array.to_vector<float>(), h.values) << "step " << step << " kind " << kind;
  }
  EXPECT_GT(reused, 100);
}

TEST(At, IsPureUnderTransforms) {
  const auto f = [](const Array& x) {
    Array y = x * 2.0f;
    y = std::move(y).at(0).set(sum(x));
    return sum(y * y);
  };
  const Array x = array({1.0f, 2.0f, 3.0f});
  EXPECT_EQ(f(x).item<float>(), 36.0f + 16 + 36);
  EXPECT_EQ(grad(f)(x).to_vector<float>(), (Floats{12, 28, 36}));
  EXPECT_EQ(jit(grad(f))(x).to_vector<float>(), (Floats{12, 28, 36}));
  EXPECT_EQ(
      vmap(grad(f))(array({1.0f, 2.0f, 3.0f, 1.0f, 2.0f, 3.0f}, {2, 3}))[1].to_vector<float>(),
      (Floats{12, 28, 36}));
}

TEST(At, DerivativesOfProducts) {
  // Several factors of one element, one of them zero: x0 * 3 * 0 * 2.
  const Array i = array({0, 0, 2, 0});
  const auto f = [&](const Array& x, const Array& v) { return x.at(i).multiply(v)[0]; };
  const Array x = array({5.0, 1.0, 1.0}, float64), v = array({3.0, 0.0, 7.0, 2.0}, float64);
  const auto g = grad<0, 1>(f)(x, v);
  EXPECT_EQ(std::get<0>(g).to_vector<double>(), (std::vector<double>{0, 0, 0}));
  EXPECT_EQ(std::get<1>(g).to_vector<double>(), (std::vector<double>{0, 30, 0, 0}));
  // d2 / dv0 dv1 = 5 * 2, d2 / dv1 dv3 = 5 * 3.
  const Array h = hessian([&](const Array& v) { return f(x, v); })(v);
  EXPECT_EQ(h[1].to_vector<double>(), (std::vector<double>{10, 0, 0, 15}));
  EXPECT_EQ(h[0].to_vector<double>(), (std::vector<double>{0, 10, 0, 0}));
}

TEST(At, TiesOfExtremaShareTheDerivative) {
  const Array i = array({0, 0, 1});
  const auto f = [&](const Array& x, const Array& v) { return sum(x.at(i).max(v)); };
  const auto g = grad<0, 1>(f)(array({2.0f, 5.0f, 1.0f}), array({2.0f, 2.0f, 4.0f}));
  EXPECT_TRUE(allclose(std::get<0>(g), array({1.0f / 3, 1.0f, 1.0f})));
  EXPECT_TRUE(allclose(std::get<1>(g), array({1.0f / 3, 1.0f / 3, 0.0f})));
}

TEST(At, EmbeddingRowsAddUp) {
  const Array table = array({1.0f, 2.0f, 3.0f, 4.0f, 5.0f, 6.0f}, {3, 2});
  const Array tokens = array({2, 0, 2, 2}, {2, 2});
  const auto f = [&](const Array& table) {
    return sum(take(table, tokens, 0) * array({1.0f, 10.0f}));
  };
  EXPECT_EQ(grad(f)(table).to_vector<float>(), (Floats{1, 10, 0, 0, 3, 30}));
}

}  // namespace at_test
}  // namespace spruce
