// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/ops/linalg.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "spruce/core/ops/shape.h"
#include "spruce/core/parallel.h"

namespace spruce {
namespace linalg_test {

std::vector<double> normals(std::mt19937& rng, int64_t n) {
  std::vector<double> v(static_cast<size_t>(n));
  std::normal_distribution<double> normal;
  for (double& x : v) x = normal(rng);
  return v;
}

// Multiples of 1/8 in [-2, 2]: products and short sums of them are exact in every floating dtype
// but f16 and bf16.
Array eighths(std::mt19937& rng, const Shape& shape, Dtype dtype = float64) {
  std::vector<double> v(static_cast<size_t>(shape.numel()));
  for (double& x : v) x = std::uniform_int_distribution<int>(-16, 16)(rng) / 8.0;
  return astype(array(v, shape), dtype);
}

std::vector<double> as_doubles(const Array& x) { return astype(x, float64).to_vector<double>(); }

std::vector<double> product(const std::vector<double>& a, const std::vector<double>& b, int64_t m,
                            int64_t k, int64_t n) {
  std::vector<double> c(static_cast<size_t>(m * n), 0.0);
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t p = 0; p < k; ++p) {
      for (int64_t j = 0; j < n; ++j) {
        c[static_cast<size_t>(i * n + j)] +=
            a[static_cast<size_t>(i * k + p)] * b[static_cast<size_t>(p * n + j)];
      }
    }
  }
  return c;
}

struct Sizes {
  int64_t m, k, n;
};

// All tile edges, both sides of each switch between kernels, and vectors.
std::vector<Sizes> sizes() {
  std::vector<Sizes> all;
  for (const int64_t m : {1, 5, 13, 29}) {
    for (const int64_t n : {1, 7, 16, 33}) {
      for (const int64_t k : {1, 9, 40}) all.push_back({m, k, n});
    }
  }
  for (const Sizes& s :
       {Sizes{70, 64, 130}, Sizes{130, 400, 60}, Sizes{128, 200, 128}, Sizes{1, 300, 200},
        Sizes{300, 200, 1}, Sizes{257, 129, 65}, Sizes{15, 800, 300}, Sizes{600, 50, 200},
        Sizes{430, 500, 70}, Sizes{260, 300, 21}, Sizes{300, 420, 300}, Sizes{64, 512, 700},
        Sizes{30, 500, 1100}, Sizes{40, 200, 180}}) {
    all.push_back(s);
  }
  return all;
}

TEST(Matmul, IsTheDefinitionForEverySizeLayoutAndDtype) {
  std::mt19937 rng(1);
  for (const Sizes& s : sizes()) {
    const Array a = eighths(rng, {s.m, s.k}), b = eighths(rng, {s.k, s.n});
    const std::vector<double> want = product(as_doubles(a), as_doubles(b), s.m, s.k, s.n);
    for (const Dtype dtype : {float64, float32}) {
      const Array x = astype(a, dtype), y = astype(b, dtype);
      EXPECT_EQ(as_doubles(matmul(x, y)), want) << s.m << "x" << s.k << "x" << s.n;
      EXPECT_EQ(as_doubles(dot_general(x, transpose(y), {{1}, {1}, {}, {}})), want);
      EXPECT_EQ(as_doubles(dot_general(transpose(x), y, {{0}, {0}, {}, {}})), want);
      EXPECT_EQ(as_doubles(dot_general(transpose(x), transpose(y), {{0}, {1}, {}, {}})), want);
    }
  }
}

TEST(Matmul, IsExactForIntegersAndLogicalForBool) {
  const Array a = array({int8_t{100}, int8_t{100}, int8_t{1}, int8_t{-128}}, {2, 2});
  EXPECT_EQ(matmul(a, a).to_vector<int8_t>(),
            (std::vector<int8_t>{116, 16, -28, 100}));  // modulo 256
  const Array b = array({true, false, false, false}, {2, 2});
  EXPECT_EQ(matmul(b, array({true, false, true, true}, {2, 2})).to_vector<bool>(),
            (std::vector<bool>{true, false, false, false}));
  const Array c = array({int64_t{1} << 40, int64_t{3}}, {1, 2});
  EXPECT_EQ(matmul(c, reshape(c, {2, 1})).item<int64_t>(), 9);  // 2^80 wraps to 0
}

TEST(Matmul, IsWithinRoundingOfTheTruth) {
  std::mt19937 rng(2);
  const int64_t m = 40, k = 2000, n = 50;
  const std::vector<double> a = normals(rng, m * k), b = normals(rng, k * n);
  const Array x = array(a, {m, k}), y = array(b, {k, n});
  for (const Dtype dtype : {float64, float32, bfloat16, float16}) {
    // Against the product of the rounded operands: what is left is the error of the sums and of the
    // last rounding.
    const std::vector<double> p = as_doubles(astype(x, dtype)), q = as_doubles(astype(y, dtype));
    const std::vector<double> want = product(p, q, m, k, n),
                              got = as_doubles(matmul(astype(x, dtype), astype(y, dtype)));
    const double sum_eps = dtype == float64 ? 1e-15 : 1e-6, last = dtype == bfloat16  ? 0.004
                                                                   : dtype == float16 ? 0.0005
                                                                                      : 0;
    for (size_t i = 0; i < want.size(); ++i)
      EXPECT_NEAR(got[i], want[i], 45 * 20 * sum_eps + last * std::abs(want[i]));
  }
}

TEST(Matmul, HasTheSameBitsForAnyNumberOfThreads) {
  const int before = threads();
  std::mt19937 rng(3);
  for (const Sizes& s :
       {Sizes{64, 64, 64}, Sizes{200, 300, 150}, Sizes{128, 784, 512}, Sizes{700, 600, 1100},
        Sizes{16, 20000, 16}, Sizes{1, 784, 512}, Sizes{2000, 2000, 1}, Sizes{400, 600, 96}}) {
    for (const Dtype dtype : {float32, float64}) {
      const Array a = astype(array(normals(rng, s.m * s.k), {s.m, s.k}), dtype),
                  b = astype(array(normals(rng, s.k * s.n), {s.k, s.n}), dtype);
      const Array bt = transpose(b), at = transpose(a);
      const auto run = [&](int n) {
        set_threads(n);
        std::vector<std::vector<double>> out;
        out.push_back(as_doubles(matmul(a, b)));
        out.push_back(as_doubles(dot_general(a, bt, {{1}, {1}, {}, {}})));
        out.push_back(as_doubles(dot_general(at, b, {{0}, {0}, {}, {}})));
        return out;
      };
      const auto one = run(1);
      for (const int n : {2, 3, 8})
        EXPECT_EQ(run(n), one) << s.m << "x" << s.k << "x" << s.n << " on " << n;
    }
  }
  set_threads(before);
}

TEST(Matmul, BroadcastsLeadingAxesAndTakesVectors) {
  std::mt19937 rng(4);
  struct Case {
    Shape a, b, out;
  };
  for (const Case& c :
       {Case{{2, 3}, {3}, {2}}, Case{{3}, {3, 4}, {4}}, Case{{3}, {3}, {}},
        Case{{5, 2, 3}, {3}, {5, 2}}, Case{{3}, {5, 3, 2}, {5, 2}},
        Case{{5, 2, 3}, {3, 4}, {5, 2, 4}}, Case{{2, 3}, {5, 3, 4}, {5, 2, 4}},
        Case{{5, 2, 3}, {5, 3, 4}, {5, 2, 4}}, Case{{1, 2, 3}, {5, 3, 4}, {5, 2, 4}},
        Case{{6, 1, 2, 3}, {5, 3, 4}, {6, 5, 2, 4}}, Case{{6, 1, 2, 3}, {1, 5, 3, 4}, {6, 5, 2, 4}},
        Case{{6, 5, 2, 3}, {6, 1, 3, 4}, {6, 5, 2, 4}}, Case{{0, 2, 3}, {3, 4}, {0, 2, 4}},
        Case{{1, 2, 3}, {0, 3, 4}, {0, 2, 4}}, Case{{2, 0}, {0, 3}, {2, 3}}}) {
    const Array a = eighths(rng, c.a), b = eighths(rng, c.b), y = matmul(a, b);
    ASSERT_EQ(y.shape(), c.out) << to_string(c.a) << to_string(c.b);
    // The same, one matrix at a time over explicitly repeated operands.
    const Array a2 = c.a.rank() == 1 ? reshape(a, {1, c.a[0]}) : a,
                b2 = c.b.rank() == 1 ? reshape(b, {c.b[0], 1}) : b;
    const auto front = [](const Shape& s) {
      return Shape(std::span<const int64_t>(s.data(), s.size() - 2));
    };
    const Shape all = broadcast_shapes("test", front(a2.shape()), front(b2.shape()));
    const int64_t m = a2.shape(-2), k = a2.shape(-1), n = b2.shape(-1);
    Shape sa = all, sb = all;
    sa.push_back(m), sa.push_back(k), sb.push_back(k), sb.push_back(n);
    const std::vector<double> x = as_doubles(broadcast_to(a2, sa)),
                              z = as_doubles(broadcast_to(b2, sb));
    std::vector<double> want;
    for (int64_t i = 0; i < all.numel(); ++i) {
      const auto part = product({x.begin() + i * m * k, x.begin() + (i + 1) * m * k},
                                {z.begin() + i * k * n, z.begin() + (i + 1) * k * n}, m, k, n);
      want.insert(want.end(), part.begin(), part.end());
    }
    EXPECT_EQ(as_doubles(y), want) << to_string(c.a) << to_string(c.b);
  }
}

std::string message_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const ShapeError& e) {
    return e.what();
  }
  return "";
}

TEST(Matmul, SaysWhatDoesNotFit) {
  std::mt19937 rng(5);
  const Array x = eighths(rng, {64, 784}, float32), w = eighths(rng, {783, 10}, float32);
  EXPECT_THAT(message_of([&] { matmul(x, w); }),
              testing::StartsWith("matmul: the contracted sizes differ: a f32[64,784] has 784 on "
                                  "axis 1, b f32[783,10] has 783 on axis 0"));
  EXPECT_THAT(
      message_of([&] { matmul(x, 2.0f); }),
      testing::StartsWith(
          "matmul: an operand has no axes: a f32[64,784], b f32*[]; multiply by it with *"));
  EXPECT_THAT(message_of([&] {
                matmul(eighths(rng, {2, 3, 4}), eighths(rng, {5, 4, 2}));
              }),
              testing::StartsWith("matmul: shapes [2] and [5] do not broadcast"));
  EXPECT_THAT(message_of([&] {
                dot_general(x, w, {{0, 0}, {0, 1}, {}, {}});
              }),
              testing::HasSubstr("given twice"));
  EXPECT_THAT(message_of([&] {
                dot_general(x, x, {{0}, {}, {}, {}});
              }),
              testing::HasSubstr("are not as many contracted axes"));
}

TEST(DotGeneral, ReadsAxesInAnyOrder) {
  // Against the same contraction with the axes brought in order by transposition.
  std::mt19937 rng(6);
  struct Case {
    Shape a, b;
    DotParams axes;
    Axes a_order, b_order;  // batch, free, contracted; batch, contracted, free
  };
  for (const Case& c :
       {Case{{2, 3, 4}, {4, 5, 2}, {{2}, {0}, {0}, {2}}, {0, 1, 2}, {2, 0, 1}},
        Case{{3, 4, 2}, {4, 2, 5}, {{1}, {0}, {2}, {1}}, {2, 0, 1}, {1, 0, 2}},
        Case{{2, 3, 4, 5}, {5, 3, 6}, {{1, 3}, {1, 0}, {}, {}}, {0, 2, 1, 3}, {1, 0, 2}},
        Case{{4, 2, 3}, {3, 4}, {{2, 0}, {0, 1}, {}, {}}, {1, 2, 0}, {0, 1}},
        Case{{2, 3, 2, 4}, {2, 4, 2, 5}, {{3}, {1}, {0, 2}, {2, 0}}, {0, 2, 1, 3}, {2, 0, 1, 3}}}) {
    for (const Dtype dtype : {float32, float64, int32}) {
      const Array a = astype(eighths(rng, c.a) * 8.0, dtype),
                  b = astype(eighths(rng, c.b) * 8.0, dtype);
      const Array y = dot_general(a, b, c.axes);
      const Array x = transpose(a, c.a_order), z = transpose(b, c.b_order);
      const int nb = c.axes.lhs_batch.rank(), nk = c.axes.lhs_contract.rank();
      int64_t count = 1, k = 1;
      for (int i = 0; i < nb; ++i) count *= x.shape(i);
      for (int i = 0; i < nk; ++i) k *= x.shape(x.rank() - nk + i);
      const int64_t m = x.size() / count / k, n = z.size() / count / k;
      const Array want = matmul(reshape(x, {count, m, k}), reshape(z, {count, k, n}));
      EXPECT_EQ(as_doubles(y), as_doubles(want)) << to_string(c.a) << to_string(c.b);
    }
  }
}

TEST(Linalg, ProductsOfVectorsAndTheLike) {
  const Array a = array({1.0, 2.0, 3.0}, float64), b = array({4.0, 5.0, 6.0}, float64);
  EXPECT_EQ(dot(a, b).item<double>(), 32.0);
  EXPECT_EQ(vdot(reshape(a, {3, 1}), b).item<double>(), 32.0);
  EXPECT_EQ(vecdot(reshape(a, {1, 3}), reshape(b, {1, 3})).to_vector<double>(),
            (std::vector<double>{32}));
  EXPECT_EQ(inner(a, b).item<double>(), 32.0);
  EXPECT_EQ(as_doubles(outer(a, b)), (std::vector<double>{4, 5, 6, 8, 10, 12, 12, 15, 18}));
  EXPECT_EQ(as_doubles(cross(a, b)), (std::vector<double>{-3, 6, -3}));
  EXPECT_EQ(as_doubles(kron(array({1.0, 2.0}, float64), a)),
            (std::vector<double>{1, 2, 3, 2, 4, 6}));
  EXPECT_EQ(kron(reshape(a, {3, 1}), b).shape(), (Shape{3, 3}));
  EXPECT_EQ(dot(a, 2.0).to_vector<double>(), (std::vector<double>{2, 4, 6}));
  EXPECT_EQ(tensordot(reshape(a, {1, 3}), b, 1).to_vector<double>(), (std::vector<double>{32}));
  EXPECT_EQ(tensordot(a, b, 0).shape(), (Shape{3, 3}));
  EXPECT_EQ(tensordot(reshape(a, {3, 1}), reshape(b, {1, 3}), {0, 1}, {1, 0}).item<double>(), 32.0);
  EXPECT_THROW(vdot(a, array({1.0}, float64)), ShapeError);
  EXPECT_THROW(cross(a, array({1.0, 2.0}, float64)), ShapeError);
  EXPECT_THROW(tensordot(a, b, 2), ShapeError);
  EXPECT_THROW(tensordot(a, b, {0}, {0, 1}), ShapeError);
}

TEST(Linalg, DiagonalsOfEveryOffset) {
  std::mt19937 rng(7);
  for (const auto& [n, m] :
       std::vector<std::pair<int64_t, int64_t>>{{3, 4}, {4, 3}, {1, 1}, {0, 3}, {3, 0}}) {
    const Array x = reshape(astype(eighths(rng, {n * m}), float64), {n, m});
    const std::vector<double> v = as_doubles(x);
    for (int64_t k = -6; k <= 6; ++k) {
      std::vector<double> want;
      double sum = 0;
      for (int64_t i = 0; i < n; ++i) {
        if (i + k >= 0 && i + k < m)
          want.push_back(v[static_cast<size_t>(i * m + i + k)]), sum += want.back();
      }
      EXPECT_EQ(as_doubles(diagonal(x, {.offset = k})), want) << n << "x" << m << " offset " << k;
      EXPECT_EQ(as_doubles(diag(x, {.offset = k})), want);
      EXPECT_EQ(trace(x, {.offset = k}).item<double>(), sum);
    }
  }
  for (int64_t k = -3; k <= 3; ++k) {
    const Array y = diag(array({1.0, 2.0}, float64), {.offset = k});
    ASSERT_EQ(y.shape(), (Shape{2 + std::abs(k), 2 + std::abs(k)}));
    EXPECT_EQ(as_doubles(diagonal(y, {.offset = k})), (std::vector<double>{1, 2}));
    double sum = 0;
    for (const double x : as_doubles(y)) sum += x;
    EXPECT_EQ(sum, 3.0);
  }
  const Array z = eighths(rng, {2, 3, 4});
  EXPECT_EQ(diagonal(z, {.axis1 = 2, .axis2 = 0}).shape(), (Shape{3, 2}));
  EXPECT_EQ(diagonal(z, {.offset = INT64_MIN}).shape(), (Shape{4, 0}));
  EXPECT_THROW(diagonal(array({1.0}, float64)), ShapeError);
  EXPECT_THROW(diagonal(z, {.axis1 = 1, .axis2 = 1}), ShapeError);
  EXPECT_THROW(diag(z), ShapeError);
  EXPECT_THROW(diag(array({1.0}, float64), {.offset = INT64_MIN}), ShapeError);
}

}  // namespace linalg_test
}  // namespace spruce
