// SPDX-License-Identifier: Apache-2.0
// Contractions of random shapes and axes: the prepared kernel gives the bits of the plain one,
// both give the sum, and nothing beyond the result is written.
#include "spruce/core/rules/dot.h"

#include <gtest/gtest.h>
#include <spruce/spruce.h>

#include <cmath>
#include <cstring>
#include <random>

#include "spruce/core/cpu/gemm/gemm.h"
#include "spruce/core/parallel.h"

namespace spruce {
namespace dot_test {

struct Case {
  Shape a, b;
  DotParams axes;
};

class Cases {
 public:
  explicit Cases(uint64_t seed) : random_(seed) {}

  Case next() {
    Case c;
    const int64_t limit = draw(1, 3) == 1 ? 40 : 9;
    // The sizes of the axes of both, and where each goes.
    for (int64_t i = draw(0, 2); i > 0; --i) add(&c, limit, true, true);
    const int64_t batch = c.a.rank();
    for (int64_t i = draw(0, 2); i > 0; --i) add(&c, limit, true, true);
    for (int64_t i = draw(0, 2); i > 0; --i) add(&c, limit, true, false);
    for (int64_t i = draw(0, 2); i > 0; --i) add(&c, limit, false, true);
    const std::vector<int64_t> pa = shuffled(c.a.rank()), pb = shuffled(c.b.rank());
    Case d;
    d.a = Shape::filled(c.a.rank(), 0), d.b = Shape::filled(c.b.rank(), 0);
    for (int i = 0; i < c.a.rank(); ++i) d.a[at(pa, i)] = c.a[i];
    for (int i = 0; i < c.b.rank(); ++i) d.b[at(pb, i)] = c.b[i];
    for (int i = 0; i < shared_; ++i) {
      (i < batch ? d.axes.lhs_batch : d.axes.lhs_contract).push_back(at(pa, i));
      (i < batch ? d.axes.rhs_batch : d.axes.rhs_contract).push_back(at(pb, i));
    }
    shared_ = 0;
    return d;
  }
  int64_t draw(int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random_);
  }

 private:
  static int at(const std::vector<int64_t>& v, int i) {
    return static_cast<int>(v[static_cast<size_t>(i)]);
  }
  void add(Case* c, int64_t limit, bool left, bool right) {
    const int64_t size = draw(0, 60) == 0 ? 0 : draw(1, limit);
    if (left) c->a.push_back(size);
    if (right) c->b.push_back(size);
    if (left && right) ++shared_;
  }
  // Half of the time the axes stay in their order.
  std::vector<int64_t> shuffled(int n) {
    std::vector<int64_t> v;
    for (int i = 0; i < n; ++i) v.push_back(i);
    if (draw(0, 1) == 1) std::shuffle(v.begin(), v.end(), random_);
    return v;
  }

  std::mt19937_64 random_;
  int shared_ = 0;
};

template <class T>
std::vector<T> result(const KernelArgs& like, const PreparedKernel* prepared) {
  constexpr size_t kGuard = 64;
  const size_t n = static_cast<size_t>(like.out[0].numel());
  std::vector<T> memory(n + 2 * kGuard, T(-77));
  const View out{memory.data() + kGuard, like.out[0].aval};
  const KernelArgs args{like.in, {&out, 1}, like.params};
  if (prepared != nullptr)
    prepared->run(args);
  else
    dot_general_p.cpu(args);
  for (size_t i = 0; i < kGuard; ++i) {
    EXPECT_EQ(memory[i], T(-77));
    EXPECT_EQ(memory[n + kGuard + i], T(-77));
  }
  return {memory.begin() + kGuard, memory.end() - kGuard};
}

template <class T>
void check(const Case& c, double tolerance) {
  const Array a = astype(random::normal(Key(1), c.a), dtype_of<T>()),
              b = astype(random::normal(Key(2), c.b), dtype_of<T>());
  const Params params = Params::make(c.axes);
  const Aval* in_avals[] = {&a.aval(), &b.aval()};
  const Aval y = output_avals(dot_general_p, in_avals, params)[0];
  const Aval* out_avals[] = {&y};
  const View in[] = {{const_cast<T*>(a.data<T>().data()), &a.aval()},
                     {const_cast<T*>(b.data<T>().data()), &b.aval()}};
  const View out{nullptr, &y};
  const KernelArgs args{in, {&out, 1}, params};
  const std::vector<T> plain = result<T>(args, nullptr);
  if (const auto prepared = dot_general_p.prepare({in_avals, out_avals, params})) {
    const std::vector<T> same = result<T>(args, prepared.get());
    EXPECT_EQ(std::memcmp(plain.data(), same.data(), plain.size() * sizeof(T)), 0);
  }
  // The sum in f64 by broadcasting over all axes.
  const auto operand = [](const Array& x, const Axes& batch, const Axes& contract, bool left,
                          int other) {
    Axes perm, free;
    for (const int64_t i : batch) perm.push_back(i);
    for (int64_t i = 0; i < x.rank(); ++i) {
      if (!batch.contains(i) && !contract.contains(i)) free.push_back(i);
    }
    for (const int64_t i : free) perm.push_back(i);
    for (const int64_t i : contract) perm.push_back(i);
    Array moved = transpose(astype(x, float64), perm);
    Shape shape = moved.shape();
    for (int i = 0; i < other; ++i) shape.insert(batch.rank() + (left ? free.rank() : 0), 1);
    return reshape(moved, shape);
  };
  const int free_a = a.rank() - c.axes.lhs_batch.rank() - c.axes.lhs_contract.rank(),
            free_b = b.rank() - c.axes.rhs_batch.rank() - c.axes.rhs_contract.rank();
  Array product = operand(a, c.axes.lhs_batch, c.axes.lhs_contract, true, free_b) *
                  operand(b, c.axes.rhs_batch, c.axes.rhs_contract, false, free_a);
  Axes last;
  for (int i = 0; i < c.axes.lhs_contract.rank(); ++i)
    last.push_back(product.rank() - c.axes.lhs_contract.rank() + i);
  if (!last.empty()) product = sum(product, last);
  const std::vector<double> want = product.to_vector<double>();
  ASSERT_EQ(want.size(), plain.size());
  for (size_t i = 0; i < want.size(); ++i)
    ASSERT_NEAR(static_cast<double>(plain[i]), want[i], tolerance * (1 + std::abs(want[i])));
}

TEST(Dot, PreparedAndPlainGiveTheSumOfRandomContractions) {
  constexpr uint64_t kSeed = 20261121;
  SCOPED_TRACE(kSeed);
  Cases cases(kSeed);
  for (int i = 0; i < 400; ++i) {
    const Case c = cases.next();
    double work = 1;
    for (const int64_t n : c.a) work *= static_cast<double>(n);
    for (const int64_t n : c.b) work *= static_cast<double>(n);
    if (work > 2e7) continue;
    SCOPED_TRACE(to_string(c.a) + " " + to_string(c.b) + " " + Params::make(c.axes).text());
    check<float>(c, 2e-5);
    check<double>(c, 1e-12);
    if (HasFatalFailure()) return;
  }
}

// The axes of an array of such a shape in another order in memory, with room between rows: the
// memory and the strides.
template <class T>
struct Spread {
  Spread(const Shape& shape, const Axes& order, int64_t room) : strides(shape) {
    int64_t step = 1;
    for (int i = order.rank() - 1; i >= 0; --i) {
      strides[static_cast<int>(order[i])] = step;
      step *= shape[static_cast<int>(order[i])];
      if (i == order.rank() - 1) step += room;
    }
    memory.assign(static_cast<size_t>(step), T(-77));
  }
  // Calls f(element, place in row-major order).
  template <class F>
  void each(const Shape& shape, const F& f) {
    Shape index = Shape::filled(shape.rank(), 0);
    for (int64_t n = 0; n < shape.numel(); ++n) {
      int64_t at = 0;
      for (int i = 0; i < shape.rank(); ++i) at += index[i] * strides[i];
      f(memory[static_cast<size_t>(at)], static_cast<size_t>(n));
      for (int i = shape.rank() - 1; i >= 0 && ++index[i] == shape[i]; --i) index[i] = 0;
    }
  }
  Shape strides;
  std::vector<T> memory;
};

// Operands and results with strides that the kernel takes; how many of the three.
template <class T>
int check_strided(const Case& c, Cases& cases) {
  const Params params = Params::make(c.axes);
  const Array x = astype(random::normal(Key(1), c.a), dtype_of<T>()),
              y = astype(random::normal(Key(2), c.b), dtype_of<T>());
  const Aval out = output_avals(dot_general_p, std::vector{&x.aval(), &y.aval()}, params)[0];
  const Aval *in_avals[] = {&x.aval(), &y.aval()}, *out_avals[] = {&out};
  const auto order = [&](const Shape& shape) {
    Axes axes;
    while (axes.rank() < shape.rank()) {
      const int64_t axis = cases.draw(0, shape.rank() - 1);
      if (!axes.contains(axis)) axes.push_back(axis);
    }
    return axes;
  };
  Spread<T> a(c.a, order(c.a), cases.draw(0, 3)), b(c.b, order(c.b), cases.draw(0, 3)),
      z(out.shape, order(out.shape), cases.draw(0, 3));
  a.each(c.a, [&](T& to, size_t n) { to = x.data<T>()[n]; });
  b.each(c.b, [&](T& to, size_t n) { to = y.data<T>()[n]; });
  const auto takes = [&](bool output, size_t i, const Shape& strides) {
    return dot_general_p.takes_strides({in_avals, out_avals, params, output, i, strides});
  };
  const bool ta = takes(false, 0, a.strides), tb = takes(false, 1, b.strides),
             tz = takes(true, 0, z.strides);
  if (!ta) a = Spread<T>(c.a, Axes{}, 0), a.memory = x.to_vector<T>();
  if (!tb) b = Spread<T>(c.b, Axes{}, 0), b.memory = y.to_vector<T>();
  std::vector<T> dense(static_cast<size_t>(out.numel()));
  const Shape *in_strides[] = {ta ? &a.strides : nullptr, tb ? &b.strides : nullptr},
              *out_strides[] = {tz ? &z.strides : nullptr};
  const View in[] = {{a.memory.data(), &x.aval(), in_strides[0]},
                     {b.memory.data(), &y.aval(), in_strides[1]}};
  const View to{tz ? z.memory.data() : dense.data(), &out, out_strides[0]};
  const std::vector<T> want = dot_general(x, y, c.axes).to_vector<T>();
  const auto prepared =
      dot_general_p.prepare({in_avals, out_avals, params, in_strides, out_strides});
  for (const bool plain : {true, false}) {
    if (plain)
      dot_general_p.cpu({in, {&to, 1}, params});
    else if (prepared != nullptr)
      prepared->run({in, {&to, 1}, params});
    if (tz) z.each(out.shape, [&](T& from, size_t n) { dense[n] = from; });
    for (size_t n = 0; n < want.size(); ++n)
      EXPECT_NEAR(dense[n], want[n], 1e-4 * (1 + std::abs(want[n]))) << params.text();
  }
  // Nothing is written between the elements.
  size_t others = 0;
  for (const T& v : z.memory) others += v == T(-77);
  if (tz) {
    EXPECT_EQ(others, z.memory.size() - want.size());
  }
  return int{ta} + int{tb} + int{tz};
}

TEST(Dot, OperandsAndResultsWithStrides) {
  Cases cases(20261122);
  int taken = 0;
  for (int i = 0; i < 600; ++i) {
    const Case c = cases.next();
    double work = 1;
    for (const int64_t n : c.a) work *= static_cast<double>(n);
    for (const int64_t n : c.b) work *= static_cast<double>(n);
    if (work > 2e7 || c.a.numel() == 0 || c.b.numel() == 0) continue;
    SCOPED_TRACE(to_string(c.a) + " " + to_string(c.b));
    taken += check_strided<float>(c, cases) + check_strided<double>(c, cases);
    if (HasFailure()) return;
  }
  EXPECT_GT(taken, 400);
}

TEST(Dot, PreparedAndPlainAgreeOnSizesOfNetworks) {
  for (const Case& c :
       std::vector<Case>{{{25, 10, 40}, {25, 40, 40}, {{2}, {2}, {0}, {0}}},
                         {{100, 2}, {32, 2}, {{1}, {1}, {}, {}}},
                         {{64, 400}, {120, 400}, {{1}, {1}, {}, {}}},
                         {{64, 1, 84}, {64, 1, 120}, {{1}, {1}, {0}, {0}}},
                         {{40, 32, 16}, {32, 16}, {{1}, {0}, {}, {}}},
                         {{4, 30, 4, 32}, {4, 30, 4, 32}, {{3}, {3}, {0, 2}, {0, 2}}},
                         {{1, 700}, {90, 700}, {{1}, {1}, {}, {}}},
                         {{3, 700}, {90, 700}, {{1}, {1}, {}, {}}},
                         {{90, 700}, {700}, {{1}, {0}, {}, {}}},
                         {{700, 90}, {700}, {{0}, {0}, {}, {}}},
                         {{5, 3000}, {3000, 7}, {{1}, {0}, {}, {}}},
                         {{130, 600}, {40, 600}, {{1}, {1}, {}, {}}}}) {
    SCOPED_TRACE(to_string(c.a) + " " + to_string(c.b));
    check<float>(c, 1e-4);
    check<double>(c, 1e-11);
  }
}

TEST(Dot, OfBfloat16IsSummedInF32) {
  for (const Case& c :
       std::vector<Case>{{{64, 100}, {100, 48}, {{1}, {0}, {}, {}}},
                         {{300, 65}, {600, 65}, {{1}, {1}, {}, {}}},
                         {{70, 33}, {70, 90}, {{0}, {0}, {}, {}}},
                         {{70, 600}, {70, 90}, {{0}, {0}, {}, {}}},
                         {{4, 30, 4, 32}, {4, 30, 4, 32}, {{3}, {3}, {0, 2}, {0, 2}}},
                         {{1, 700}, {90, 700}, {{1}, {1}, {}, {}}},
                         {{900, 40}, {40, 1}, {{1}, {0}, {}, {}}},
                         {{3, 7}, {7, 5}, {{1}, {0}, {}, {}}}}) {
    SCOPED_TRACE(to_string(c.a) + " " + to_string(c.b));
    const Array a = astype(random::normal(Key(1), c.a), bfloat16),
                b = astype(random::normal(Key(2), c.b), bfloat16);
    const std::vector<double> got = astype(dot_general(a, b, c.axes), float64).to_vector<double>();
    const std::vector<double> want =
        dot_general(astype(a, float64), astype(b, float64), c.axes).to_vector<double>();
    ASSERT_EQ(got.size(), want.size());
    // Half a step of bf16, and what sums in f32 lose where terms cancel.
    for (size_t i = 0; i < want.size(); ++i)
      ASSERT_NEAR(got[i], want[i], std::abs(want[i]) * 0x1p-8 + 1e-4);
  }
}

// A product with strides of all layouts, against sums in f64, between guards.
template <class T>
void check_product(int64_t m, int64_t n, int64_t k, int layout, bool accumulate) {
  SCOPED_TRACE(std::to_string(m) + "x" + std::to_string(n) + "x" + std::to_string(k) + " layout " +
               std::to_string(layout));
  constexpr int64_t kGap = 3;  // rows are longer than they must be
  uint64_t state = static_cast<uint64_t>(m * 1000003 + n * 1009 + k);
  cpu::Gemm g;
  g.m = m, g.n = n, g.k = k, g.accumulate = accumulate;
  const bool a_rows = (layout & 1) == 0, b_rows = (layout & 2) == 0;
  const int64_t spread = (layout & 4) == 0 ? 1 : 2;  // no axis has neighbours
  g.a_row = a_rows ? k * spread + kGap : spread, g.a_col = a_rows ? spread : m * spread + kGap;
  g.b_row = b_rows ? n * spread + kGap : spread, g.b_col = b_rows ? spread : k * spread + kGap;
  g.c_row = n + kGap;
  const auto fill = [&](int64_t size) {
    std::vector<T> v(static_cast<size_t>(size));
    for (T& x : v) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      x = static_cast<T>(static_cast<double>(state >> 11) * 0x1p-52 - 1);
    }
    return v;
  };
  // No element beyond the last one is there.
  const auto reach = [](int64_t rows, int64_t row, int64_t columns, int64_t column) {
    return (rows - 1) * row + (columns - 1) * column + 1;
  };
  const std::vector<T> a = fill(reach(m, g.a_row, k, g.a_col)),
                       b = fill(reach(k, g.b_row, n, g.b_col));
  const std::vector<T> before = fill(reach(m, g.c_row, n, 1));
  g.a = a.data(), g.b = b.data();
  const auto product = [&](int count) {
    std::vector<T> c = before;
    g.c = c.data();
    set_threads(count);
    cpu::gemm(dtype_of<T>(), g);
    return c;
  };
  const int threads_before = threads();
  const std::vector<T> one = product(1), two = product(2), five = product(5);
  set_threads(threads_before);
  EXPECT_EQ(std::memcmp(one.data(), two.data(), one.size() * sizeof(T)), 0);
  EXPECT_EQ(std::memcmp(one.data(), five.data(), one.size() * sizeof(T)), 0);
  const double tolerance = (sizeof(T) <= 4 ? 2e-7 : 1e-15) * static_cast<double>(k + 10);
  const double rounding = sizeof(T) == 2 ? 0x1p-8 : 0;  // of a sum to bf16
  const auto at = [](int64_t i) { return static_cast<size_t>(i); };
  std::vector<double> sums(at(n));
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = n; j < g.c_row && i + 1 < m; ++j)
      ASSERT_EQ(one[at(i * g.c_row + j)], before[at(i * g.c_row + j)]);
    if (i % 9 != 0 && i + 15 < m) continue;  // sums take long
    for (int64_t j = 0; j < n; ++j)
      sums[at(j)] = accumulate ? static_cast<double>(before[at(i * g.c_row + j)]) : 0;
    for (int64_t p = 0; p < k; ++p) {
      const auto x = static_cast<double>(a[at(i * g.a_row + p * g.a_col)]);
      for (int64_t j = 0; j < n; ++j)
        sums[at(j)] += x * static_cast<double>(b[at(p * g.b_row + j * g.b_col)]);
    }
    for (int64_t j = 0; j < n; ++j)
      ASSERT_NEAR(static_cast<double>(one[at(i * g.c_row + j)]), sums[at(j)],
                  tolerance + rounding * std::abs(sums[at(j)]))
          << i;
  }
}

struct Size {
  int64_t m, n, k;
};

// Calls check(size, layout) for all layouts of check_product().
template <class F>
void in_all_layouts(const std::vector<Size>& sizes, const F& check) {
  for (const Size& s : sizes) {
    for (int layout = 0; layout < 5; ++layout) {
      check(s, layout);
      if (testing::Test::HasFatalFailure()) return;
    }
  }
}

TEST(Dot, LargeProductsOfAllLayoutsAreTheSameOnAnyThreads) {
  // Sizes at the edges of tiles, flat and tall, one and several blocks of the sum and groups of
  // columns (between which panels of rows are kept or, where they are many, packed again), and rows
  // that are a multiple of a page apart.
  in_all_layouts({{14, 32, 5000},
                  {15, 33, 4800},
                  {29, 257, 401},
                  {97, 129, 200},
                  {200, 70, 513},
                  {1021, 65, 67},
                  {513, 31, 300},
                  {170, 480, 410},
                  {130, 40, 1021},
                  {300, 700, 600},
                  {2060, 270, 512},
                  {1, 3000, 300},
                  {3000, 1, 300}},
                 [](const Size& s, int layout) {
                   check_product<float>(s.m, s.n, s.k, layout, layout == 1);
                   check_product<double>(s.m, s.n, s.k, layout, layout == 2);
                 });
}

TEST(Dot, ProductsOfBfloat16OfAllLayoutsAreTheSameOnAnyThreads) {
  // Odd and even sums of one and several blocks, and sizes around tiles of 14 and of 16 rows.
  in_all_layouts(
      {{14, 32, 5000},
       {15, 33, 640},
       {29, 257, 401},
       {97, 129, 200},
       {200, 70, 641},
       {513, 31, 96},
       {8, 500, 1021},
       {1, 3000, 300},
       {3000, 1, 300},
       {77, 1, 3001},
       {2, 50, 1},
       {3, 75, 64},
       {8, 500, 1020},
       {40, 1100, 300},
       {45, 47, 2049},
       {64, 1100, 1100}},
      [](const Size& s, int layout) { check_product<Bfloat16>(s.m, s.n, s.k, layout, false); });
}

// The product of a[7, m, k] and b[7, k, n], each perhaps stored transposed: next to what f64 gives,
// with the same bits for a matrix alone and as one of a batch.
void check_tiny_products(Dtype dtype, int64_t m, int64_t n, int64_t k, bool a_transposed,
                         bool b_transposed) {
  SCOPED_TRACE(std::string(name(dtype)) + " " + to_string(Shape{m, n, k}) +
               (a_transposed ? " a transposed" : "") + (b_transposed ? " b transposed" : ""));
  const auto transposed_if = [](bool transposed, const Array& x) {
    return transposed ? swapaxes(x, -1, -2) : x;
  };
  const Array a = astype(random::normal(Key(1), {7, m, k}), dtype),
              b = astype(random::normal(Key(2), {7, k, n}), dtype);
  const auto product = jit([&](const Array& x, const Array& y) {
    return matmul(transposed_if(a_transposed, x), transposed_if(b_transposed, y));
  });
  const Array x = transposed_if(a_transposed, a), y = transposed_if(b_transposed, b);
  const Array all = product(x, y);
  const Array want =
      sum(astype(expand_dims(a, 3), float64) * astype(expand_dims(b, 1), float64), 2);
  const bool single = dtype == float32;
  ASSERT_TRUE(allclose(astype(all, float64), want,
                       {.rtol = single ? 1e-6 : 1e-15, .atol = single ? 2e-6 : 1e-14}));
  for (const int64_t i : {0, 6}) ASSERT_TRUE(array_equal(product(x[i], y[i]), Array(all[i])));
}

TEST(Dot, OfTinyMatrices) {
  for (const Dtype dtype : {float32, float64}) {
    for (int64_t size = 0; size < 9 * 5 * 9; ++size) {
      const int64_t m = 1 + size / 45, n = 1 + size / 9 % 5, k = 1 + size % 9;
      for (const bool a_transposed : {false, true}) {
        for (const bool b_transposed : {false, true})
          ASSERT_NO_FATAL_FAILURE(check_tiny_products(dtype, m, n, k, a_transposed, b_transposed));
      }
    }
  }
}

TEST(Dot, OfManyRowsAndThreads) {
  const int before = threads();
  for (const Dtype dtype : {float32, bfloat16}) {
    const Array a = astype(random::normal(Key(1), {70001, 40}), dtype),
                b = astype(random::normal(Key(2), {40, 31}), dtype);
    set_threads(1);
    const Array one = matmul(a, b);
    set_threads(3);
    const Array three = matmul(a, b);
    set_threads(before);
    EXPECT_TRUE(array_equal(one, three));
    EXPECT_TRUE(allclose(astype(one, float32), matmul(astype(a, float32), astype(b, float32)),
                         {.rtol = 0x1p-8, .atol = 1e-3}));
  }
}

}  // namespace dot_test
}  // namespace spruce
