// SPDX-License-Identifier: Apache-2.0
// Jacobians and Hessians of trees, with respect to trees and to several arguments.
#include <gtest/gtest.h>
#include <spruce/spruce.h>

namespace spruce {
namespace jacobian_test {

struct Affine {
  Array weight;
  std::optional<Array> bias;
  float scale = 2.0f;
  Array steps = arange(2);
};

Array apply(const Affine& m, const Array& x) { return m.scale * (matmul(m.weight, x) + *m.bias); }
Affine affine() {
  return {array({{1.0, 2.0, 3.0}, {4.0, 5.0, 6.0}}, float64), array({7.0, 8.0}, float64)};
}
const Array kX = array({1.0, -1.0, 2.0}, float64);

TEST(Jacobian, OfAStructArgumentIsAStructOfJacobians) {
  const Affine forward = jacfwd(apply)(affine(), kX);
  const Affine reverse = jacrev(apply)(affine(), kX);
  // d out_i / d weight_jk = 2 [i = j] x_k
  const Array expected = 2.0 * expand_dims(identity(2, float64), 2) * kX;
  for (const Affine& j : {forward, reverse}) {
    EXPECT_EQ(j.weight.shape(), (Shape{2, 2, 3}));
    EXPECT_TRUE(array_equal(j.weight, expected));
    EXPECT_TRUE(array_equal(*j.bias, 2.0 * identity(2, float64)));
    EXPECT_EQ(j.scale, 2.0f);
    EXPECT_TRUE(array_equal(j.steps, zeros({2, 2}, int32)));
  }
}

struct WithHole {
  Array first, missing, last;
};

TEST(Jacobian, UndefinedLeavesStayUndefined) {
  const Array x = array({1.0, 2.0});
  const auto f = [](const WithHole& w) { return w.first * w.last; };
  for (const WithHole& j :
       {jacfwd(f)(WithHole{x, {}, 3.0 * x}), jacrev(f)(WithHole{x, {}, 3.0 * x})}) {
    EXPECT_TRUE(array_equal(j.first, diag(3.0 * x)));
    EXPECT_FALSE(j.missing.defined());
    EXPECT_TRUE(array_equal(j.last, diag(x)));
  }
  // As a result.
  const auto g = [](const Array& v) { return WithHole{2.0 * v, {}, v * v}; };
  for (const WithHole& j : {jacfwd(g)(x), jacrev(g)(x)}) {
    EXPECT_TRUE(array_equal(j.first, 2.0 * identity(2, float64)));
    EXPECT_FALSE(j.missing.defined());
    EXPECT_TRUE(array_equal(j.last, diag(2.0 * x)));
  }
}

TEST(Jacobian, OfSeveralArgumentsIsATuple) {
  const auto f = [](const Array& a, const Array& b) { return a * a * sum(b) + b[0]; };
  const Array a = array({1.0, 2.0}, float64), b = array({3.0, 4.0, 5.0}, float64);
  for (const auto& [da, db] : {jacfwd<0, 1>(f)(a, b), jacrev<0, 1>(f)(a, b)}) {
    EXPECT_TRUE(array_equal(da, diag(2.0 * a * 12.0)));
    EXPECT_TRUE(array_equal(db, array({{2.0, 1.0, 1.0}, {5.0, 4.0, 4.0}}, float64)));
  }
  EXPECT_TRUE(array_equal(jacrev<1>(f)(a, b), jacfwd<1>(f)(a, b)));
}

TEST(Jacobian, OfAContainerOfResultsHasItsForm) {
  const auto f = [](const Array& x) {
    return std::tuple{sum(x * x), std::vector<Array>{sin(x), x[{slice(0, 2)}]}, 3};
  };
  const auto forward = jacfwd(f)(kX);
  const auto reverse = jacrev(f)(kX);
  EXPECT_TRUE(array_equal(std::get<0>(forward), 2.0 * kX));
  EXPECT_TRUE(allclose(std::get<1>(forward)[0], diag(cos(kX))));
  EXPECT_TRUE(array_equal(std::get<1>(forward)[1], eye(2, {.columns = 3, .dtype = float64})));
  EXPECT_EQ(std::get<2>(reverse), 3);
  EXPECT_TRUE(tree::equal(forward, reverse));
}

TEST(Jacobian, OfAContainerWithRespectToAStructNestsThem) {
  const auto f = [](const Affine& m) {
    return std::map<std::string, Array>{{"norm", sum(m.weight * m.weight)}, {"out", apply(m, kX)}};
  };
  const std::map<std::string, Affine> forward = jacfwd(f)(affine());
  const std::map<std::string, Affine> reverse = jacrev(f)(affine());
  EXPECT_TRUE(array_equal(forward.at("norm").weight, 2.0 * affine().weight));
  EXPECT_TRUE(array_equal(*forward.at("norm").bias, zeros({2}, float64)));
  EXPECT_EQ(forward.at("out").weight.shape(), (Shape{2, 2, 3}));
  EXPECT_TRUE(tree::equal(forward, reverse));
}

TEST(Jacobian, StructsOfResultsForOneArray) {
  const auto f = [](const Array& x) { return Affine{outer(x, x), x * x}; };
  const Affine forward = jacfwd(f)(kX);
  EXPECT_EQ(forward.weight.shape(), (Shape{3, 3, 3}));
  EXPECT_TRUE(array_equal(*forward.bias, diag(2.0 * kX)));
}

TEST(Jacobian, HessianOfSeveralArgumentsHoldsTheMixedBlocks) {
  const auto f = [](const Array& a, const Array& b) { return sum(a * a) * sum(b * b * b); };
  const Array a = array({1.0, 2.0}, float64), b = array({3.0}, float64);
  const auto h = hessian<0, 1>(f)(a, b);
  const auto& [aa, ab] = std::get<0>(h);
  const auto& [ba, bb] = std::get<1>(h);
  EXPECT_TRUE(allclose(aa, 54.0 * identity(2, float64)));
  EXPECT_TRUE(allclose(ab, array({{54.0}, {108.0}}, float64)));
  EXPECT_TRUE(allclose(ba, ab.reshape({1, 2})));
  EXPECT_TRUE(allclose(bb, array({{90.0}}, float64)));
}

TEST(Jacobian, NestsWithOtherTransforms) {
  const auto f = [](const Affine& m) { return sum(jacrev(apply)(m, kX).weight * m.weight); };
  const Affine g = grad(f)(affine());
  EXPECT_TRUE(allclose(g.weight, sum(jacfwd(apply)(affine(), kX).weight, 0)));
  EXPECT_TRUE(tree::equal(jit(jacfwd(apply))(affine(), kX), jacfwd(apply)(affine(), kX)));
  const Array xs = stack({kX, 2.0 * kX});
  const Affine mapped = vmap(jacrev(apply), {.in_axes = {none, 0}})(affine(), xs);
  EXPECT_TRUE(array_equal(mapped.weight[1], jacrev(apply)(affine(), 2.0 * kX).weight));
}

TEST(Jacobian, SizeZero) {
  const auto f = [](const Array& x, const Array& y) { return x * sum(y); };
  const auto [dx, dy] = jacrev<0, 1>(f)(zeros({0}), ones({2}));
  EXPECT_EQ(dx.shape(), (Shape{0, 0}));
  EXPECT_EQ(dy.shape(), (Shape{0, 2}));
  const auto [ex, ey] = jacfwd<0, 1>(f)(ones({2}), zeros({0}));
  EXPECT_EQ(ex.shape(), (Shape{2, 2}));
  EXPECT_EQ(ey.shape(), (Shape{2, 0}));
}

TEST(Jvp, AFunctionOfOneTupleTakesItAsItIs) {
  const std::tuple<Array, Array> q{Array(2.0f), Array(3.0f)};
  const auto f = [](const std::tuple<Array, Array>& v) { return std::get<0>(v) * std::get<1>(v); };
  const auto [out, tangent] = jvp(f, std::tuple{q}, std::tuple{q});
  EXPECT_EQ(out.item<float>(), 6.0f);
  EXPECT_EQ(tangent.item<float>(), 12.0f);
}

}  // namespace jacobian_test
}  // namespace spruce
