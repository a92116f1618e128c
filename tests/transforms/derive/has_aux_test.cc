// SPDX-License-Identifier: Apache-2.0
// What a function hands out beside its value, through every transform that takes derivatives.
#include "spruce/transforms/derive/has_aux.h"

#include <gtest/gtest.h>

#include "spruce/core/ops/ops.h"
#include "spruce/transforms/transforms.h"

namespace spruce {
namespace has_aux_test {

const Array kX = array({0.5, 2.0, 3.0});

// x^3, and what is no part of it: a value that depends on x and an integer.
std::pair<Array, std::vector<Array>> cubes(const Array& x) {
  return {x * x * x, {sin(x), arange(2)}};
}
std::pair<Array, Array> number(const Array& x) { return {sum(x * x * x), 2.0 * x}; }

void expect_handed_out(const std::vector<Array>& aux) {
  ASSERT_EQ(aux.size(), 2u);
  EXPECT_FALSE(aux[0].is_tracer());
  EXPECT_TRUE(allclose(aux[0], sin(kX)));
  EXPECT_TRUE(array_equal(aux[1], arange(2)));
}

TEST(HasAux, VjpPullsBackTheValueAlone) {
  const auto [y, pullback, aux] = vjp(cubes, has_aux, kX);
  EXPECT_TRUE(allclose(y, kX * kX * kX));
  EXPECT_TRUE(allclose(pullback(ones_like(kX)), 3.0 * kX * kX));
  expect_handed_out(aux);
}

TEST(HasAux, JvpAndLinearizeGiveTheTangentOfTheValueAlone) {
  const auto [y, t, aux] = jvp(cubes, has_aux, std::tuple{kX}, std::tuple{ones_like(kX)});
  EXPECT_TRUE(allclose(y, kX * kX * kX));
  EXPECT_TRUE(allclose(t, 3.0 * kX * kX));
  expect_handed_out(aux);
  const auto [z, push, more] = linearize(cubes, has_aux, kX);
  EXPECT_TRUE(allclose(z, y));
  EXPECT_TRUE(allclose(push(ones_like(kX)), t));
  expect_handed_out(more);
}

TEST(HasAux, JacobiansAreOfTheValueAlone) {
  const Array want = diag(3.0 * kX * kX);
  const auto [forward, first] = jacfwd(cubes, has_aux)(kX);
  EXPECT_TRUE(allclose(forward, want));
  expect_handed_out(first);
  const auto [reverse, second] = jacrev(cubes, has_aux)(kX);
  EXPECT_TRUE(allclose(reverse, want));
  expect_handed_out(second);
  const auto [compiled, third] = jit(jacfwd(cubes, has_aux))(kX);
  EXPECT_TRUE(allclose(compiled, want));
  expect_handed_out(third);
}

TEST(HasAux, WithoutItAPairIsTwoOutputs) {
  const auto both = [](const Array& x) { return std::pair{x * x, sin(x)}; };
  const auto [squares, sines] = jacrev(both)(kX);
  EXPECT_TRUE(allclose(squares, diag(2.0 * kX)));
  EXPECT_TRUE(allclose(sines, diag(cos(kX))));
}

// A gradient is that of one number, so that a pair has one meaning, with has_aux or without.
TEST(HasAux, GradAndHessianTakeItOrGoWithout) {
  const Array slope = 3.0 * kX * kX, curve = diag(6.0 * kX);
  for (const auto& [g, aux] : {grad(number)(kX), grad(number, has_aux)(kX)}) {
    EXPECT_TRUE(allclose(g, slope));
    EXPECT_TRUE(allclose(aux, 2.0 * kX));
  }
  for (const auto& [out, g] : {value_and_grad(number)(kX), value_and_grad(number, has_aux)(kX)}) {
    EXPECT_TRUE(allclose(out.second, 2.0 * kX));
    EXPECT_TRUE(allclose(g, slope));
  }
  for (const auto& [h, aux] : {hessian(number)(kX), hessian(number, has_aux)(kX)}) {
    EXPECT_TRUE(allclose(h, curve));
    EXPECT_FALSE(aux.is_tracer());
    EXPECT_TRUE(allclose(aux, 2.0 * kX));
  }
  EXPECT_TRUE(allclose(hvp(number, kX, ones_like(kX)), 6.0 * kX));
}

TEST(HasAux, SeveralArgumentsAndTuples) {
  const auto f = [](const Array& a, const Array& b) { return std::tuple{a * b, a + b, 7}; };
  const auto [y, pullback, aux] = vjp(f, has_aux, kX, 2.0 * kX);
  const auto [da, db] = pullback(ones_like(kX));
  EXPECT_TRUE(allclose(da, 2.0 * kX));
  EXPECT_TRUE(allclose(db, kX));
  EXPECT_TRUE(allclose(std::get<0>(aux), 3.0 * kX));
  EXPECT_EQ(std::get<1>(aux), 7);
  const auto [j, more] = jacrev<1>(f, has_aux)(kX, kX);
  EXPECT_TRUE(allclose(j, diag(kX)));
  EXPECT_EQ(std::get<1>(more), 7);
}

}  // namespace has_aux_test
}  // namespace spruce
