// SPDX-License-Identifier: Apache-2.0
// Decompositions and what is made of them: numbers and derivatives of first and second order
// against JAX's (linalg_cases.py), compiled and over batches too; larger matrices by what defines
// them; what has no decomposition; errors.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>

#include "spruce/core/ops/ops.h"
#include "spruce/core/random/random.h"
#include "spruce/transforms/transforms.h"
#include "tests/core/message.h"

namespace spruce {
namespace linalg_test {

namespace la = linalg;
using testing::HasSubstr;

struct Row {
  const char* name;
  std::vector<int64_t> a_shape;
  std::vector<double> a;
  std::vector<int64_t> b_shape;
  std::vector<double> b;
  double value;
  std::vector<double> da, db;    // the gradient
  std::vector<double> dda, ddb;  // and that of it times sin(1), sin(2), ...
};
const std::vector<Row>& rows() {
  static const std::vector<Row> all = {
#include "tests/transforms/linalg/linalg_cases.inc"
  };
  return all;
}

Array waves(const Array& x, const UnaryFunction& f) {
  return reshape(f(arange(1, x.size() + 1, 1, float64)), x.shape());
}

Array weighted(const Array& x) { return sum(waves(x, cos) * x); }

Array spd(const Array& a) { return matmul(a, swapaxes(a, -1, -2)) + eye(a.shape(-1), float64); }

Array of_symmetric(const Array& a) {
  const auto [w, v] = la::eigh(a);
  return weighted(matmul(v * expand_dims(exp(w), -2), swapaxes(v, -1, -2)));
}

Array of_svd(const Array& a) {
  const auto [u, s, vh] = la::svd(a, {.full_matrices = false});
  return weighted(s) + weighted(matmul(u * expand_dims(s * s, -2), vh));
}

using Function = std::function<Array(const Array&, const Array&)>;

const std::map<std::string, Function>& functions() {
  using A = const Array&;
  static const std::map<std::string, Function> all = {
      {"cholesky", [](A a, A) { return weighted(la::cholesky(spd(a))); }},
      {"cholesky_upper", [](A a, A) { return weighted(la::cholesky(spd(a), {.upper = true})); }},
      {"solve_triangular", [](A a, A b) { return weighted(la::solve_triangular(a, b)); }},
      {"solve_lower",
       [](A a, A b) { return weighted(la::solve_triangular(a, b, {.lower = true})); }},
      {"solve_transposed",
       [](A a, A b) {
         return weighted(la::solve_triangular(a, b, {.transpose = true, .unit_diagonal = true}));
       }},
      {"cho_solve", [](A a, A b) { return weighted(la::cho_solve(la::cholesky(spd(a)), b)); }},
      {"lu",
       [](A a, A) {
         const auto [p, l, u] = la::lu(a);
         return weighted(p) + weighted(l) + weighted(u);
       }},
      {"lu_solve", [](A a, A b) { return weighted(la::lu_solve(la::lu_factor(a), b)); }},
      {"solve", [](A a, A b) { return weighted(la::solve(a, b)); }},
      {"inv", [](A a, A) { return weighted(la::inv(a)); }},
      {"det", [](A a, A) { return weighted(la::det(a)); }},
      {"slogdet",
       [](A a, A) {
         const auto [s, l] = la::slogdet(a);
         return weighted(s) + weighted(l);
       }},
      {"qr",
       [](A a, A) {
         const auto [q, r] = la::qr(a);
         return weighted(q) + weighted(r);
       }},
      {"eigh", [](A a, A) { return of_symmetric(a); }},
      {"eigvalsh", [](A a, A) { return weighted(la::eigvalsh(a)); }},
      {"svd", [](A a, A) { return of_svd(a); }},
      {"svdvals", [](A a, A) { return weighted(la::svdvals(a)); }},
      {"pinv", [](A a, A) { return weighted(la::pinv(a)); }},
      {"lstsq",
       [](A a, A b) {
         const la::LeastSquares s = la::lstsq(a, b);
         return b.rank() == 1 ? weighted(s.x) : weighted(s.x) + weighted(s.residuals);
       }},
      {"expm", [](A a, A) { return weighted(la::expm(a)); }},
      {"expm_large", [](A a, A) { return weighted(la::expm(6 * a)); }},
      {"power", [](A a, A) { return weighted(la::matrix_power(a, 5)); }},
      {"power_of_inverse", [](A a, A) { return weighted(la::matrix_power(a, -2)); }},
      {"multi_dot",
       [](A a, A b) {
         return weighted(la::multi_dot({a, outer(b, b), transpose(a), a, b}));
       }},
      {"norm_2", [](A a, A) { return norm(a, {.ord = 2}); }},
      {"norm_minus_2", [](A a, A) { return norm(a, {.ord = -2}); }},
      {"norm_nuc", [](A a, A) { return norm(a, {.ord = "nuc"}); }},
      {"cond", [](A a, A) { return la::cond(a); }},
      {"block_diag",
       [](A a, A b) {
         return weighted(la::block_diag({a, b, a}));
       }},
  };
  return all;
}

void expect_close(const Array& got, const std::vector<double>& want, double tol,
                  const std::string& what) {
  const std::vector<double> x = got.to_vector<double>();
  ASSERT_EQ(x.size(), want.size()) << what;
  double scale = 1;
  for (const double v : want) scale = std::max(scale, std::abs(v));
  for (size_t i = 0; i < x.size(); ++i) ASSERT_NEAR(x[i], want[i], tol * scale) << what << " " << i;
}

// The largest difference of two arrays.
double apart(const Array& x, const Array& y) {
  return x.size() == 0 ? 0 : max(abs(x - y)).item<double>();
}

TEST(Linalg, NumbersAndDerivativesOfJax) {
  for (const Row& row : rows()) {
    SCOPED_TRACE(row.name);
    const Function& f = functions().at(row.name);
    const Array a = array(row.a, Shape(row.a_shape)), b = array(row.b, Shape(row.b_shape));
    const auto gradients = [&](const Array& x, const Array& y) { return grad<0, 1>(f)(x, y); };
    const auto along = [&](const Array& x, const Array& y) {
      const auto [gx, gy] = gradients(x, y);
      return sum(waves(gx, sin) * gx) + sum(waves(gy, sin) * gy);
    };
    const auto all = [&](const Array& x, const Array& y) {
      return std::tuple(f(x, y), gradients(x, y), grad<0, 1>(along)(x, y));
    };
    const auto check = [&](const auto& got, const char* how) {
      const auto& [value, first, second] = got;
      expect_close(value, {row.value}, 1e-10, how);
      expect_close(std::get<0>(first), row.da, 1e-9, how);
      expect_close(std::get<1>(first), row.db, 1e-9, how);
      expect_close(std::get<0>(second), row.dda, 1e-8, how);
      expect_close(std::get<1>(second), row.ddb, 1e-8, how);
    };
    check(all(a, b), "eager");
    check(jit(all)(a, b), "compiled");
    const auto mapped = jit(vmap(all))(stack({a, 2 * a, a}), stack({b, b, b}));
    check(tree::map([](const Array& x) { return x[2]; }, mapped), "mapped");
  }
}

Array drawn(uint64_t seed, const Shape& shape) {
  return random::normal(Key(seed), shape, {.dtype = float64});
}

TEST(Linalg, LargeMatrices) {
  for (const int64_t n : {1, 2, 31, 64, 65, 130, 300}) {
    SCOPED_TRACE(n);
    const double tol = 1e-12 * static_cast<double>(n);
    const Array a = drawn(1, {n, n}), b = drawn(2, {n, 9}), one = eye(n, float64);
    const Array s = matmul(a, transpose(a)) / static_cast<double>(n) + one;
    const Array l = la::cholesky(s);
    EXPECT_LT(apart(matmul(l, transpose(l)), s), tol);
    EXPECT_EQ(apart(triu(l, 1), zeros_like(l)), 0);
    for (const bool lower : {false, true}) {
      for (const bool turned : {false, true}) {
        const Array t = lower ? l : transpose(l);
        const Array x = la::solve_triangular(t + (lower ? triu(a, 1) : tril(a, -1)), b,
                                             {.lower = lower, .transpose = turned});
        EXPECT_LT(apart(matmul(turned ? transpose(t) : t, x), b), tol);
        const Array y =
            la::solve_triangular(t, b[{slice(), 0}], {.lower = lower, .transpose = turned});
        EXPECT_LT(apart(y, x[{slice(), 0}]), tol);
      }
    }
    const auto [p, low, up] = la::lu(a);
    EXPECT_LT(apart(matmul(p, matmul(low, up)), a), tol);
    EXPECT_LE(max(abs(low)).item<double>(), 1);
    EXPECT_LT(apart(matmul(s, la::solve(s, b)), b), tol);
    const auto [w, v] = la::eigh(s);
    EXPECT_LT(apart(matmul(v * w, transpose(v)), s), tol);
    EXPECT_LT(apart(matmul(transpose(v), v), one), tol);
    EXPECT_TRUE(all(w[slice(1, none)] >= w[slice(none, -1)]).item<bool>());
  }
}

// The compiler fuses what is around the decompositions in f32: the same derivatives as eagerly.
TEST(Linalg, CompiledDerivativesInF32) {
  for (const int64_t n : {5, 64, 70}) {
    SCOPED_TRACE(n);
    const Array a = astype(drawn(6, {n, n}), float32);
    const Array s = matmul(a, transpose(a)) / static_cast<double>(n) + eye(n);
    const std::pair<const char*, std::function<Array(const Array&)>> all[] = {
        {"cholesky", [](const Array& x) { return sum(la::cholesky(x)); }},
        {"eigvalsh", [](const Array& x) { return sum(sqrt(la::eigvalsh(x))); }},
        {"solve", [](const Array& x) { return sum(la::solve(x, ones({x.shape(0)}))); }},
        {"lu", [](const Array& x) { return sum(la::lu(x).l); }},
        {"slogdet", [](const Array& x) { return la::slogdet(x).logabsdet; }},
        {"svdvals", [](const Array& x) { return sum(la::svdvals(x)); }}};
    for (const auto& [name, f] : all) {
      const Array eager = grad(f)(s), compiled = jit(grad(f))(s);
      EXPECT_LT(apart(compiled, eager), 1e-3 * (1 + max(abs(eager)).item<float>())) << name;
    }
  }
}

// One matrix for many right sides is taken apart once, and these are solved side by side.
TEST(Linalg, OneMatrixForManyRightSides) {
  const Array a = drawn(1, {4, 4}), b = drawn(2, {3, 5, 4, 2});
  const Array x = la::solve(a, b);
  EXPECT_EQ(x.shape(), b.shape());
  EXPECT_LT(apart(matmul(a, x), b), 1e-12);
  const Array up = triu(a) + 3 * eye(4, float64);
  EXPECT_LT(apart(matmul(up, la::solve_triangular(up, b)), b), 1e-12);
  const auto of_one = [&](const Array& y) { return la::solve_triangular(up, y); };
  EXPECT_LT(apart(jit(vmap(vmap(of_one)))(b), la::solve_triangular(up, b)), 1e-12);
  const std::string text =
      make_graph(vmap([&](const Array& y) { return la::solve(a, y); }))(b[0]).text();
  EXPECT_THAT(text, HasSubstr("f64[4,10]"));
  EXPECT_EQ(la::solve(a, zeros({0, 4, 2}, float64)).shape(), (Shape{0, 4, 2}));
}

TEST(Linalg, SavedAndLoaded) {
  const std::string path = testing::TempDir() + "/solve.fn";
  const Array a = drawn(1, {3, 3}), b = drawn(2, {3});
  const auto f = [](const Array& x, const Array& y) { return la::solve(x, y); };
  save_function(path, f, a, b);
  const auto loaded = load_function<Array(Array, Array)>(path);
  const auto of = [&](const auto& g) {
    return grad<0, 1>([&](const Array& x, const Array& y) { return sum(g(x, y)); })(a, b);
  };
  EXPECT_LT(apart(std::get<0>(of(loaded)), std::get<0>(of(f))), 1e-12);
  EXPECT_LT(apart(std::get<1>(of(loaded)), std::get<1>(of(f))), 1e-12);
}

// What went wrong on a device once: signs of zeros, the least numbers, equal neighbours.
TEST(Linalg, MatricesAtTheEdges) {
  const Array zeros_first = array({{-0.0, 1.0}, {1.0, 2.0}}, float64);
  EXPECT_GT((la::qr(zeros_first).r[{0, 0}]).item<double>(), 0);
  const Array least = array(std::vector<double>{2e-312, 1e-312, 1e-312, 3e-312}, {2, 2});
  const Array w = la::eigvalsh(least, {.symmetrize_input = false}) * 1e300;
  EXPECT_NEAR(w[1].item<double>() * 1e12, 3.618033988749895, 1e-9);
  const Array pieces =
      floor(expand_dims(arange(500, float64), 1) / array({50.0, 100.0, 125.0}, float64));
  const auto [u, s, vh] = la::svd(pieces, {.full_matrices = false});
  EXPECT_LT(apart(matmul(u * s, vh), pieces), 1e-11);
  EXPECT_LT(apart(matmul(transpose(u), u), eye(3, float64)), 1e-12);
}

TEST(Linalg, RectangularMatrices) {
  for (const auto& [m, n] : {std::pair{5, 3}, {3, 5}, {70, 40}, {40, 70}, {200, 33}, {1, 6}}) {
    SCOPED_TRACE(std::to_string(m) + " " + std::to_string(n));
    const Array a = drawn(3, {m, n});
    for (const char* mode : {"reduced", "complete"}) {
      const auto [q, r] = la::qr(a, {.mode = mode});
      EXPECT_LT(apart(matmul(q, r), a), 1e-11);
      EXPECT_LT(apart(matmul(transpose(q), q), eye(q.shape(1), float64)), 1e-11);
      EXPECT_EQ(apart(tril(r, -1), zeros_like(r)), 0);
    }
    for (const bool full : {false, true}) {
      const auto [u, s, vh] = la::svd(a, {.full_matrices = full});
      const int64_t k = std::min(m, n);
      EXPECT_LT(apart(matmul(u[{slice(), slice(none, k)}] * s, vh[slice(none, k)]), a), 1e-11);
      EXPECT_LT(apart(matmul(transpose(u), u), eye(u.shape(1), float64)), 1e-11);
      EXPECT_LT(apart(matmul(vh, transpose(vh)), eye(vh.shape(0), float64)), 1e-11);
      EXPECT_TRUE(all(s[slice(1, none)] <= s[slice(none, -1)]).item<bool>());
    }
    const Array p = la::pinv(a);
    EXPECT_LT(apart(matmul(a, matmul(p, a)), a), 1e-11);
  }
}

// Both iterations have cases of their own for zeros, rows of one size and rows that are graded.
TEST(Linalg, SingularAndEigenvaluesOfAwkwardMatrices) {
  for (const int64_t n : {1, 2, 3, 8, 9, 33}) {
    const Array g = drawn(static_cast<uint64_t>(n), {n, n}), rows = arange(n, float64);
    const Array few = g[{slice(), slice(none, 2)}], step = expand_dims(rows, 1);
    const std::vector<std::pair<const char*, Array>> cases = {
        {"zeros", zeros_like(g)},
        {"ones", ones_like(g)},
        {"identity", eye(n, float64)},
        {"rank 2", matmul(few, transpose(few))},
        {"small rows last", g * exp(step * -3.0)},
        {"small rows first", g * exp(step * 3.0)},
        {"large columns last", g * exp(rows * 2.0)},
        {"mostly zeros", where(g > 1.0, g, zeros_like(g))},
        {"bidiagonal", triu(g) - triu(g, 2)},
        {"zeros on the diagonal", triu(g, 1)},
        {"tiny", g * 1e-300},
        {"huge", g * 1e300}};
    for (const auto& [name, a] : cases) {
      SCOPED_TRACE(std::string(name) + " " + std::to_string(n));
      const double tol = 1e-14 * (10 + static_cast<double>(n));
      const auto [u, s, vh] = la::svd(a);
      const double largest = s[0].item<double>();
      const Array unit = largest > 0 ? array(1 / largest, float64) : ones({}, float64);
      EXPECT_LT(apart(matmul(u * (s * unit), vh), a * unit), tol);
      EXPECT_LT(apart(matmul(transpose(u), u), eye(n, float64)), tol);
      EXPECT_LT(apart(matmul(vh, transpose(vh)), eye(n, float64)), tol);
      EXPECT_LT(apart(la::svdvals(a) * unit, s * unit), tol);
      const Array symmetric = (a + transpose(a)) * unit;
      const auto [w, v] = la::eigh(symmetric);
      EXPECT_LT(apart(matmul(v * w, transpose(v)), symmetric), 2 * tol);
      EXPECT_LT(apart(matmul(transpose(v), v), eye(n, float64)), tol);
      EXPECT_EQ(apart(la::eigvalsh(symmetric), w), 0);
    }
  }
}

TEST(Linalg, SingularMatrices) {
  const Array a = matmul(drawn(4, {6, 2}), drawn(5, {2, 5}));  // of rank 2
  const auto [u, s, vh] = la::svd(a);
  EXPECT_LT(apart(matmul(transpose(u), u), eye(6, float64)), 1e-12);
  EXPECT_LT(apart(matmul(vh, transpose(vh)), eye(5, float64)), 1e-12);
  EXPECT_LT(apart(s[slice(2, none)], zeros({3}, float64)), 1e-12);
  EXPECT_EQ(la::matrix_rank(a).item<int32_t>(), 2);
  EXPECT_EQ(la::matrix_rank(zeros({3, 3})).item<int32_t>(), 0);
  EXPECT_EQ(la::matrix_rank(a, {.rtol = 2}).item<int32_t>(), 0);
  const Array p = la::pinv(a);
  EXPECT_LT(apart(matmul(a, matmul(p, a)), a), 1e-12);
  EXPECT_EQ(la::lstsq(a, ones({6}, float64)).rank.item<int32_t>(), 2);
  const Array flat = ones({3, 3});
  EXPECT_EQ(la::det(flat).item<float>(), 0);
  EXPECT_EQ(la::slogdet(flat).sign.item<float>(), 0);
  EXPECT_EQ(la::slogdet(flat).logabsdet.item<float>(), -std::numeric_limits<float>::infinity());
  // The cofactors, also where there is no inverse.
  const auto slope = [](const Array& x) {
    return grad([](const Array& v) { return sum(la::det(v)); })(x);
  };
  EXPECT_EQ(apart(slope(flat), zeros({3, 3})), 0);
  EXPECT_EQ(apart(slope(array({{1.0, 2.0}, {2.0, 4.0}})), array({{4.0, -2.0}, {-2.0, 1.0}})), 0);
  EXPECT_EQ(apart(slope(array({{1.0, 0.0, 0.0}, {0.0, 2.0, 0.0}, {0.0, 0.0, 0.0}})),
                  array({{0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}, {0.0, 0.0, 2.0}})),
            0);
  EXPECT_EQ(apart(slope(array({{5.0}})), ones({1, 1})), 0);
  EXPECT_TRUE(all(isnan(la::cholesky(-eye(3)))).item<bool>());
  const Array broken = array({{1.0f, NAN}, {0.0f, 1.0f}});
  EXPECT_TRUE(all(isnan(la::eigh(broken).eigenvalues)).item<bool>());
  EXPECT_TRUE(all(isnan(la::svdvals(broken))).item<bool>());
  EXPECT_TRUE(isnan(la::det(array({{0.0f, 1.0f}, {NAN, 1.0f}}))).item<bool>());
  EXPECT_EQ(la::matrix_rank(eye(128, bfloat16)).item<int32_t>(), 128);
  EXPECT_EQ(apart(la::pinv(eye(64, float16)), eye(64, float16)), 0);
  const Array wide = astype(array({{60000.0f, 1.0f}, {1.0f, 60000.0f}}), float16);
  EXPECT_TRUE(all(isfinite(la::eigvalsh(wide))).item<bool>());
  const Array turns = astype(array({{0.5f, 0.25f}, {-0.25f, 0.5f}}) * 5, float16);
  EXPECT_TRUE(
      all(isfinite(grad([](const Array& x) { return astype(sum(la::expm(x)), float32); })(turns)))
          .item<bool>());
  EXPECT_EQ(la::solve_triangular(full({1, 1}, 1e-310, float64), full({1}, 1e-310, float64))
                .item<double>(),
            1);
  EXPECT_EQ(la::trace(ones({2, 3, 3})).to_vector<float>(), (std::vector<float>{3, 3}));
  EXPECT_EQ(la::diagonal(ones({2, 3, 4})).shape(), (Shape{2, 3}));
  // Of what stands in a triangle alone, the rest is not read.
  EXPECT_EQ(la::cholesky(array({{4.0f, NAN}, {2.0f, 5.0f}}), {.symmetrize_input = false})
                .to_vector<float>(),
            (std::vector<float>{2, 0, 1, 2}));
}

TEST(Linalg, DerivativesWhereValuesAreTheSame) {
  const Array one = eye(3, float64);
  EXPECT_LT(apart(grad([](const Array& a) { return sum(la::eigvalsh(a)); })(one), one), 1e-12);
  EXPECT_LT(apart(grad([](const Array& a) { return norm(a, {.ord = "nuc"}); })(one), one), 1e-12);
  const auto of_inverse = [](const Array& a) { return sum(la::pinv(a)); };
  EXPECT_LT(apart(grad(of_inverse)(one), -ones({3, 3}, float64)), 1e-12);
}

TEST(Linalg, OfOneDtype) {
  for (const Dtype d : {float16, bfloat16, float32, float64}) {
    const Array a = astype(array({{4.0f, 2.0f}, {2.0f, 5.0f}}), d), b = astype(ones({2}), d);
    for (const Array& x : {la::cholesky(a), la::solve(a, b), la::inv(a), la::det(a), la::pinv(a),
                           la::qr(a).q, la::eigvalsh(a), la::svdvals(a), la::expm(a)})
      EXPECT_EQ(x.dtype(), d);
  }
  EXPECT_EQ(la::det(array({{2, 1}, {1, 3}})).dtype(), float32);
  EXPECT_FLOAT_EQ(la::det(array({{2, 1}, {1, 3}})).item<float>(), 5);
  EXPECT_EQ(la::solve(eye(2), ones({2}, float64)).dtype(), float64);
}

TEST(Linalg, WithoutElements) {
  EXPECT_EQ(la::det(zeros({0, 0})).item<float>(), 1);
  EXPECT_EQ(la::inv(zeros({0, 0})).shape(), (Shape{0, 0}));
  EXPECT_EQ(la::solve(zeros({4, 0, 0}), zeros({0, 3})).shape(), (Shape{4, 0, 3}));
  EXPECT_EQ(la::svd(zeros({3, 0})).u.shape(), (Shape{3, 3}));
  EXPECT_EQ(apart(la::qr(zeros({3, 0}), {.mode = "complete"}).q, eye(3)), 0);
  EXPECT_EQ(la::expm(zeros({2, 0, 0})).shape(), (Shape{2, 0, 0}));
  EXPECT_EQ(la::pinv(zeros({0, 3})).shape(), (Shape{3, 0}));
}

TEST(Linalg, SolvesWithOneDecomposition) {
  const auto loss = [](const Array& a, const Array& b) { return sum(la::solve(a, b)); };
  const std::string text = make_graph(grad<0, 1>(loss))(eye(3), ones({3})).text();
  size_t count = 0;
  for (size_t at = text.find(" = lu "); at != std::string::npos; at = text.find(" = lu ", at + 1))
    ++count;
  EXPECT_EQ(count, 1u);
}

TEST(Linalg, Errors) {
  const Array a = ones({2, 3}), v = ones({3});
  const std::string a_text = to_string(a.aval()), v_text = to_string(v.aval());
  EXPECT_THAT(message<ShapeError>([&] { return la::inv(a); }),
              HasSubstr("linalg::inv: takes square matrices, f[..., n, n], got " + a_text +
                        "; linalg::pinv takes others"));
  EXPECT_THAT(message<ShapeError>([&] { return la::qr(v).q; }),
              HasSubstr("linalg::qr: takes matrices, f[..., m, n], got " + v_text));
  EXPECT_THAT(message<ShapeError>([&] {
                return la::solve(ones({2, 2}), v);
              }),
              HasSubstr("linalg::solve: takes a, f[..., n, n], and b, f[n] or f[..., n, k], got "));
  EXPECT_THAT(message<ShapeError>([&] {
                return la::solve(ones({2, 3, 3}), ones({4, 3, 1}));
              }),
              HasSubstr("linalg::solve: "));
  EXPECT_THAT(message<ValueError>([&] { return la::qr(a, {.mode = "full"}).q; }),
              HasSubstr("linalg::qr: mode \"full\" is unknown; give \"reduced\" or "
                        "\"complete\""));
  EXPECT_THAT(message<DerivativeError>(
                  [&] { return grad([](const Array& x) { return sum(la::svd(x).u); })(a); }),
              HasSubstr("linalg::svd: singular vectors that belong to no singular value, here of " +
                        a_text));
  EXPECT_THAT(message<DerivativeError>([&] {
                return grad([](const Array& x) { return sum(la::qr(x, {.mode = "complete"}).q); })(
                    ones({3, 2}));
              }),
              HasSubstr("linalg::qr: columns of q that are orthogonal to all of a matrix, here "));
  EXPECT_THAT(message<ValueError>([&] { return la::multi_dot({a}); }),
              HasSubstr("linalg::multi_dot: takes two arrays or more"));
  EXPECT_THAT(message<ShapeError>([&] {
                return la::multi_dot({a, a});
              }),
              HasSubstr("linalg::multi_dot: arrays 0 and 1 do not fit: " + a_text + ", " + a_text));
  EXPECT_THAT(message<ShapeError>([&] {
                return la::block_diag({ones({1, 1, 1})});
              }),
              HasSubstr("linalg::block_diag: takes matrices and vectors, got "));
  EXPECT_THAT(message<ShapeError>([&] {
                return la::cond(zeros({0, 2}));
              }),
              HasSubstr("linalg::cond: a matrix without elements, here "));
  EXPECT_THAT(message<ValueError>([&] { return la::inv(Array()); }), HasSubstr("linalg::inv: "));
  EXPECT_THAT(message<ShapeError>([&] { return la::eigvalsh(a); }),
              HasSubstr("linalg::eigvalsh: takes square "));
  EXPECT_THAT(message<ShapeError>([&] { return la::cond(v); }),
              HasSubstr("linalg::cond: takes matrices, "));
  EXPECT_THAT(message<ShapeError>([&] { return la::lstsq(a, v); }),
              HasSubstr("linalg::lstsq: takes a, f[..., m, n]"));
}

}  // namespace linalg_test
}  // namespace spruce
