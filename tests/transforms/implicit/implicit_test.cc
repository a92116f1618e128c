// SPDX-License-Identifier: Apache-2.0
// Implicit derivatives: linear solves, roots and conjugate gradients, against derivatives of what
// they solve.
#include <gtest/gtest.h>
#include <spruce/spruce.h>

#include <cmath>
#include <limits>

namespace spruce {
namespace implicit_test {

// A matrix that is symmetric and positive definite, from any.
Array definite(const Array& m) { return matmul(m, transpose(m)) + 2.0 * identity(3, float64); }
const Array kM = array({{1.0, 0.5, -0.3}, {0.2, 2.0, 0.1}, {-0.4, 0.6, 1.5}}, float64);
const Array kB = array({1.0, -2.0, 0.5}, float64);

// By Gauss and Jordan, so that it can be differentiated without any rule.
Array direct(const Array& m, const Array& y) {
  Array a = m, b = y;
  for (int i = 0; i < 3; ++i) {
    const Array row = a[i] / a[{i, i}], rhs = b[i] / a[{i, i}];
    const Array others = where(arange(3) == i, 0.0, a[{slice(), i}]);
    b = where(arange(3) == i, rhs, b - others * rhs);
    a = where(expand_dims(arange(3) == i, 1), row, a - outer(others, row));
  }
  return b;
}

Array by_cg(const Array& m, const Array& b) {
  const Array a = definite(m);
  return cg([&](const Array& x) { return matmul(a, x); }, b, {.tol = 1e-14});
}
Array by_solve(const Array& m, const Array& b) {
  const auto solve = [&](const auto& map, const Array& y) {
    const Array columns = vmap(map, {.out_axes = 1})(identity(3, float64));
    return direct(columns, y);
  };
  return custom_linear_solve([&](const Array& x) { return matmul(m, x); }, b, solve, solve);
}

using Solution = Array (*)(const Array&, const Array&);

void expect_derivatives(Solution f, Solution exact) {
  const auto near = [](const Array& a, const Array& b) {
    return allclose(a, b, {.rtol = 1e-8, .atol = 1e-9});
  };
  EXPECT_TRUE(near(f(kM, kB), exact(kM, kB)));
  EXPECT_TRUE(near(jacrev<0>(f)(kM, kB), jacrev<0>(exact)(kM, kB)));
  EXPECT_TRUE(near(jacfwd<0>(f)(kM, kB), jacrev<0>(exact)(kM, kB)));
  EXPECT_TRUE(near(jacrev<1>(f)(kM, kB), jacrev<1>(exact)(kM, kB)));
  const auto loss = [](Solution g) {
    return [g](const Array& m, const Array& b) { return sum(sin(g(m, b))); };
  };
  const auto h = hessian<0, 1>(loss(f))(kM, kB), expected = hessian<0, 1>(loss(exact))(kM, kB);
  EXPECT_TRUE(near(std::get<0>(std::get<0>(h)), std::get<0>(std::get<0>(expected))));
  EXPECT_TRUE(near(std::get<1>(std::get<0>(h)), std::get<1>(std::get<0>(expected))));
  EXPECT_TRUE(near(std::get<1>(std::get<1>(h)), std::get<1>(std::get<1>(expected))));
  EXPECT_TRUE(near(jit(grad(loss(f)))(kM, kB), grad(loss(exact))(kM, kB)));
  const Array ms = stack({kM, 1.5 * kM}), bs = stack({kB, kB + 1.0});
  EXPECT_TRUE(near(vmap(grad(loss(f)))(ms, bs), vmap(grad(loss(exact)))(ms, bs)));
  EXPECT_TRUE(
      near(vmap(f, {.in_axes = {none, 0}})(kM, bs), vmap(exact, {.in_axes = {none, 0}})(kM, bs)));
  EXPECT_TRUE(
      near(vmap(f, {.in_axes = {0, none}})(ms, kB), vmap(exact, {.in_axes = {0, none}})(ms, kB)));
  EXPECT_TRUE(near(jit(vmap(grad(loss(f))))(ms, bs), vmap(grad(loss(exact)))(ms, bs)));
}

TEST(Implicit, ConjugateGradients) {
  expect_derivatives(by_cg, [](const Array& m, const Array& b) { return direct(definite(m), b); });
}

TEST(Implicit, LinearSolveWithItsTranspose) { expect_derivatives(by_solve, direct); }

TEST(Implicit, ConjugateGradientsOfTreesWithAPreconditioner) {
  using Pair = std::pair<Array, Array>;
  const Array d = array({1.0, 100.0}, float64), e = array({{4.0}, {2500.0}}, float64);
  int runs = 0;
  const auto map = [&](const Pair& x) { return Pair{d * x.first, e * x.second}; };
  const auto inverse = [&](const Pair& r) {
    ++runs;
    return Pair{r.first / d, r.second / e};
  };
  const Pair b{array({1.0, 2.0}, float64), array({{3.0}, {4.0}}, float64)};
  const Pair x = cg(map, b, {.tol = 1e-12, .max_steps = 2}, inverse);
  EXPECT_TRUE(allclose(x.first, b.first / d));
  EXPECT_TRUE(allclose(x.second, b.second / e));
  EXPECT_GE(runs, 1);
  const Pair stopped = cg(map, b, {.max_steps = 1});
  EXPECT_FALSE(allclose(stopped.first, b.first / d, {.rtol = 1e-2}));
}

// The square root as the root of x^2 - a, by Newton's steps in C++ on known values.
Array newton_in_cpp(const Array& a) {
  const auto solve = [](const auto& f, const Array& guess) {
    Array x = guess;
    for (int i = 0; i < 50 && std::abs(f(x).template item<double>()) > 1e-13; ++i) {
      const auto [y, slope] = jvp(f, std::tuple{x}, std::tuple{ones({}, float64)});
      x = x - y / slope;
    }
    return x;
  };
  const auto divide = [](const auto& j, const Array& y) { return y / j(ones({}, float64)); };
  return custom_root([&](const Array& x) { return x * x - a; }, array(1.0, float64), solve, divide);
}
Array newton_in_loop(const Array& a) {
  const auto solve = [](const auto& f, const Array& guess) {
    return while_loop([&](const Array& x) { return abs(f(x)) > 1e-13; },
                      [&](const Array& x) {
                        const auto [y, slope] = jvp(f, std::tuple{x}, std::tuple{ones_like(x)});
                        return x - y / slope;
                      },
                      guess);
  };
  const auto divide = [](const auto& j, const Array& y) { return y / j(ones({}, float64)); };
  return custom_root([&](const Array& x) { return x * x - a; }, array(1.0, float64), solve, divide);
}

TEST(Implicit, RootsHaveTheDerivativesOfTheImplicitFunction) {
  const Array a = array(7.0, float64);
  for (const auto f : {newton_in_cpp, newton_in_loop}) {
    EXPECT_NEAR(f(a).item<double>(), std::sqrt(7.0), 1e-12);
    EXPECT_NEAR(grad(f)(a).item<double>(), 0.5 / std::sqrt(7.0), 1e-12);
    EXPECT_NEAR(grad(grad(f))(a).item<double>(), -0.25 * std::pow(7.0, -1.5), 1e-12);
    EXPECT_NEAR(grad(grad(grad(f)))(a).item<double>(), 0.375 * std::pow(7.0, -2.5), 1e-12);
    EXPECT_NEAR(jvp(f, std::tuple{a}, std::tuple{a}).second.item<double>(), 0.5 * std::sqrt(7.0),
                1e-12);
  }
  const Array many = array({1.0, 4.0, 9.0}, float64);
  EXPECT_TRUE(allclose(vmap(newton_in_loop)(many), sqrt(many)));
  EXPECT_TRUE(allclose(vmap(grad(newton_in_loop))(many), 0.5 / sqrt(many)));
  EXPECT_TRUE(allclose(jit(vmap(grad(newton_in_loop)))(many), 0.5 / sqrt(many)));
}

// z = tanh(W z + x), a layer of infinite depth (Bai, Kolter and Koltun 2019).
Array equilibrium(const Array& w, const Array& x) {
  const auto f = [&](const Array& z) { return tanh(matmul(w, z) + x) - z; };
  const auto iterate = [](const auto& f, const Array& z) {
    return fori_loop(
        0, 200, [&](const Array&, const Array& z) { return z + f(z); }, z);
  };
  const auto solve = [](const auto& j, const Array& y) {
    return direct(vmap(j, {.out_axes = 1})(identity(3, float64)), y);
  };
  return custom_root(f, zeros({3}, float64), iterate, solve);
}

TEST(Implicit, FixedPointsOfManyUnknowns) {
  const Array w = 0.3 * kM;
  const auto unrolled = [](const Array& w, const Array& x) {
    Array z = zeros({3}, float64);
    for (int i = 0; i < 200; ++i) z = tanh(matmul(w, z) + x);
    return z;
  };
  const auto close = [](const Array& a, const Array& b) {
    return allclose(a, b, {.rtol = 1e-8, .atol = 1e-9});
  };
  EXPECT_TRUE(close(equilibrium(w, kB), unrolled(w, kB)));
  EXPECT_TRUE(close(jacrev<0>(equilibrium)(w, kB), jacrev<0>(unrolled)(w, kB)));
  EXPECT_TRUE(close(jacfwd<1>(equilibrium)(w, kB), jacrev<1>(unrolled)(w, kB)));
  const auto loss = [](const Array& w, const Array& x) { return sum(sin(equilibrium(w, x))); };
  EXPECT_TRUE(close(jit(grad(loss))(w, kB), grad(loss)(w, kB)));
}

// The same solutions with the matrix or the product made by a loop. Reverse mode has to take the
// loop's tangents apart from its values.
Array by_cg_of_a_loop(const Array& m, const Array& b) {
  const auto step = [&](const Array&, const Array& c) { return matmul(m, c); };
  return cg(
      [&](const Array& x) {
        const Array power = fori_loop(0, 1, step, identity(3, float64));
        return matmul(power, matmul(transpose(power), x)) + 2.0 * x;
      },
      b, {.tol = 1e-14});
}
Array by_root_of_a_loop(const Array& m, const Array& b) {
  const auto f = [&](const Array& x) {
    return scan(
               [](const Array& c, const std::pair<Array, Array>& s) {
                 return std::pair{c + s.first * s.second, none};
               },
               -b, std::pair{transpose(m), x})
        .first;
  };
  const auto solve = [](const auto& f, const Array& guess) {
    const Array at0 = f(zeros_like(guess));
    const auto column = [&](const Array& e) { return f(e) - at0; };
    return direct(vmap(column, {.out_axes = 1})(identity(3, float64)), -at0);
  };
  const auto tangents = [](const auto& j, const Array& y) {
    return direct(vmap(j, {.out_axes = 1})(identity(3, float64)), y);
  };
  return custom_root(f, zeros({3}, float64), solve, tangents);
}

TEST(Implicit, FunctionsWithLoops) {
  expect_derivatives(by_cg_of_a_loop,
                     [](const Array& m, const Array& b) { return direct(definite(m), b); });
  expect_derivatives(by_root_of_a_loop, direct);
}

// Lanes of a batch that leave a loop early: its last steps, which divide, are not theirs.
TEST(Implicit, LoopsOfUnequalLengthUnderVmap) {
  const auto steps = [](const Array& a) {
    return while_loop([](const Array& y) { return y > 1.0; },
                      [](const Array& y) { return y / (0.5 + y / 4.0); }, a, {.max_steps = 6});
  };
  const auto root = [&](const Array& a) {
    const auto find = [](const auto& f, const Array& guess) { return guess - f(guess); };
    const auto same = [](const auto&, const Array& y) { return y; };
    return custom_root([&](const Array& x) { return x - steps(a); }, array(1.0, float64), find,
                       same);
  };
  const auto total = [](const auto& f) { return [f](const Array& a) { return sum(vmap(f)(a)); }; };
  const Array a = array({0.5, 1.5, 40.0}, float64);
  const Array wanted = grad(total(steps))(a);
  EXPECT_TRUE(all(isfinite(wanted)).item<bool>());
  EXPECT_TRUE(allclose(grad(total(root))(a), wanted, {.rtol = 1e-12}));
  EXPECT_TRUE(allclose(jit(grad(total(root)))(a), wanted, {.rtol = 1e-12}));
}

// Forward mode keeps the loop in f whole: it needs no bound.
TEST(Implicit, ForwardModeThroughALoopWithoutABound) {
  const auto halved = [](const Array& x) {
    return while_loop([](const Array& y) { return y > 1.0; },
                      [](const Array& y) { return 0.5 * y; }, x);
  };
  const auto root = [&](const Array& a) {
    const auto find = [](const auto&, const Array&) { return array(1.5, float64); };
    const auto divide = [](const auto& j, const Array& y) { return y / j(ones({}, float64)); };
    return custom_root([&](const Array& x) { return halved(4.0 * x) - halved(a); },
                       array(1.0, float64), find, divide);
  };
  const Array a = array(6.0, float64);
  EXPECT_NEAR(jvp(root, std::tuple{a}, std::tuple{ones({}, float64)}).second.item<double>(), 0.25,
              1e-12);
}

TEST(Implicit, BadInput) {
  const auto twice = [](const Array& x) { return 2.0 * x; };
  const auto half = [](const auto&, const Array& b) { return b / 2.0; };
  const auto no_transpose = [&](const Array& b) {
    return sum(custom_linear_solve(twice, b, half));
  };
  EXPECT_TRUE(allclose(jvp(no_transpose, std::tuple{kB}, std::tuple{kB}).second, sum(kB) / 2.0));
  EXPECT_THROW(grad(no_transpose)(kB), DerivativeError);
  const auto wrong = [](const Array& x) { return x[slice(0, 2)]; };
  EXPECT_THROW(grad([&](const Array& b) {
                 return sum(custom_linear_solve(wrong, b, half, {.symmetric = true}));
               })(kB),
               ShapeError);
  EXPECT_THROW(
      custom_linear_solve(twice, kB, [](const auto&, const Array&) { return array(1.0, float64); }),
      ShapeError);
  const auto root = [&](const Array& guess) {
    return custom_root(
        wrong, guess, [](const auto&, const Array& x) { return x; }, half);
  };
  EXPECT_THROW(root(kB), ShapeError);
  EXPECT_THROW(custom_root(
                   twice, arange(3), [](const auto&, const Array& x) { return x; }, half),
               DtypeError);
  EXPECT_THROW(cg(twice, kB, {.max_steps = -2}), ValueError);
  EXPECT_THROW(cg(twice, arange(3)), DtypeError);
  EXPECT_THROW(cg([](const Array& x) { return sum(x); }, kB), ShapeError);
  EXPECT_THROW(cg(twice, kB, {}, [](const Array& x) { return sum(x); }), ShapeError);
  using List = std::vector<Array>;
  EXPECT_THROW(cg([](const List& x) { return List{x[0]}; }, List{kB, kB}), TreeError);
}

TEST(Implicit, CgHandsOnWhatIsNoNumber) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN(),
                   kInf = std::numeric_limits<double>::infinity();
  const auto solve = [](const Array& diagonal, const Array& b) {
    return cg([&](const Array& x) { return diagonal * x; }, b);
  };
  const Array fine = array({1.0, 2.0, 3.0}, float64);
  for (const double bad : {kNan, kInf, -kInf, 1e200}) {  // 1e200 squared is infinite
    const Array wrong = array({bad, 2.0, 3.0}, float64);
    EXPECT_TRUE(all(isnan(solve(fine, wrong))).item<bool>()) << bad;
    EXPECT_TRUE(all(isnan(jit(solve)(fine, wrong))).item<bool>()) << bad;
    if (bad == 1e200) continue;
    EXPECT_TRUE(all(isnan(solve(wrong, fine))).item<bool>()) << bad;
    const Array both = vmap(solve, {.in_axes = {none, 0}})(fine, stack({wrong, fine}));
    EXPECT_TRUE(all(isnan(both[0])).item<bool>()) << bad;
    EXPECT_TRUE(allclose(both[1], ones({3}, float64))) << bad;
  }
  EXPECT_TRUE(allclose(solve(fine, fine * 1e100), full({3}, 1e100, float64)));
  EXPECT_TRUE(allclose(solve(fine, zeros_like(fine)), zeros_like(fine)));
}

}  // namespace implicit_test
}  // namespace spruce
