// SPDX-License-Identifier: Apache-2.0
// grad and value_and_grad: arguments of every kind, results of every kind, and what is refused.
#include "spruce/transforms/derive/grad.h"

#include <gmock/gmock.h>

#include <map>

#include "spruce/core/ops/ops.h"
#include "spruce/transforms/derive/jvp.h"
#include "spruce/transforms/derive/vjp.h"

namespace spruce {
namespace grad_test {

struct Layer {
  Array weight, bias;
  int64_t steps = 2;
};
struct Net {
  std::vector<Layer> layers;
  Array count;  // of integers
};

Net net() {
  return {{{array({1.0f, 2.0f}), array(0.5f)}, {array({3.0f, 4.0f}), array(1.0f)}}, array({1, 2})};
}

TEST(Grad, OfATreeIsATreeOfTheSameType) {
  const auto loss = [](const Net& n) {
    Array y = array(0.0f);
    for (const Layer& l : n.layers)
      y = y + sum(l.weight * l.weight) * static_cast<float>(l.steps) + 3.0f * l.bias;
    return y;
  };
  const Net g = grad(loss)(net());
  EXPECT_TRUE(array_equal(g.layers[1].weight, array({12.0f, 16.0f})));
  EXPECT_EQ(g.layers[0].bias.item<float>(), 3.0f);
  EXPECT_EQ(g.layers[0].steps, 2);
  EXPECT_TRUE(array_equal(g.count, array({0, 0})));
}

struct Normalized {
  Array scale;
  Buffer mean;
};

TEST(Grad, BuffersAreNotDifferentiated) {
  const auto f = [](const Normalized& n) { return n.scale * n.scale * n.mean; };
  const Normalized g = grad(f)(Normalized{array(3.0f), {array(5.0f)}});
  EXPECT_EQ(g.scale.item<float>(), 30.0f);
  EXPECT_EQ(g.mean.value.item<float>(), 0.0f);
}

TEST(Grad, SeveralArgumentsAndAux) {
  const auto f = [](const Array& a, const Array& i, const Array& b) {
    return std::tuple{sum(a * b) + 0.0f * sum(i), a + b, i};
  };
  const Array a = array({1.0f, 2.0f}), b = array({3.0f, 5.0f}), i = array({7, 8});
  const auto [grads, aux] = grad<0, 2>(f)(a, i, b);
  EXPECT_TRUE(array_equal(std::get<0>(grads), b));
  EXPECT_TRUE(array_equal(std::get<1>(grads), a));
  EXPECT_TRUE(array_equal(std::get<0>(aux), a + b));
  EXPECT_TRUE(array_equal(std::get<1>(aux), i));
  const auto [out, second] = value_and_grad<2>(f)(a, i, b);
  EXPECT_EQ(std::get<0>(out).item<float>(), 13.0f);
  EXPECT_TRUE(array_equal(second, a));
}

TEST(Grad, PlainControlFlowOnValues) {
  const auto f = [](const Array& x) {
    Array y = x;
    while (y < 100.0f) y = y * x;
    if (y > 200.0f) return y * 2.0f;
    return y;
  };
  EXPECT_EQ(grad(f)(array(3.0f)).item<float>(), 2.0f * 5 * 81);
  EXPECT_EQ(grad(f)(array(5.0f)).item<float>(), 3.0f * 25);
  EXPECT_EQ(grad(grad(f))(array(5.0f)).item<float>(), 6.0f * 5);
}

TEST(Grad, ConstantsUnusedAndRepeatedInputs) {
  EXPECT_EQ(grad([](const Array&) { return array(3.0f); })(array(1.0f)).item<float>(), 0.0f);
  const auto [da, db] = grad<0, 1>([](const Array& a, const Array&) { return a * a * a; })(
      array(2.0f), array({1.0f, 2.0f}));
  EXPECT_EQ(da.item<float>(), 12.0f);
  EXPECT_TRUE(array_equal(db, zeros({2})));
  const Array x = array(3.0f);
  const auto [d0, d1] = grad<0, 1>([](const Array& a, const Array& b) { return a * b; })(x, x);
  EXPECT_EQ(d0.item<float>() + d1.item<float>(), 6.0f);
  EXPECT_EQ(grad([](const Array& a) { return a; })(x).item<float>(), 1.0f);
}

TEST(Grad, ThroughIntegersAndComparisonsIsZero) {
  const auto f = [](const Array& x) {
    return astype(astype(x, int32), float32) * x + astype(x > 1.0f, float32);
  };
  EXPECT_EQ(grad(f)(array(2.5f)).item<float>(), 2.0f);
  EXPECT_EQ(
      grad([](const Array& x) { return where(x > 0.0f, x * x, -x); })(array(-2.0f)).item<float>(),
      -1.0f);
}

TEST(Grad, ConventionsAtKinks) {
  EXPECT_EQ(grad([](const Array& x) { return abs(x); })(array(0.0f)).item<float>(), 0.0f);
  const auto [a, b] = grad<0, 1>([](const Array& x, const Array& y) { return maximum(x, y); })(
      array(1.0f), array(1.0f));
  EXPECT_EQ(a.item<float>(), 0.5f);
  EXPECT_EQ(b.item<float>(), 0.5f);
  EXPECT_TRUE(array_equal(grad([](const Array& x) { return max(x); })(array({2.0f, 1.0f, 2.0f})),
                          array({0.5f, 0.0f, 0.5f})));
}

TEST(Grad, EveryFloatingDtype) {
  for (const Dtype d : {float16, bfloat16, float32, float64}) {
    const Array g = grad([](const Array& x) { return sum(x * x); })(astype(array({1.0f, 2.0f}), d));
    EXPECT_EQ(g.dtype(), d);
    EXPECT_TRUE(array_equal(astype(g, float32), array({2.0f, 4.0f})));
  }
}

TEST(Grad, OfANumberIsANumber) {
  const auto f = [](const Array& x) { return x * x; };
  const Array x = array({1.0f, 2.0f});
  for (const Array& g : {grad(f)(Array(0.1)), jacrev(f)(Array(0.1)), jacfwd(f)(Array(0.1)),
                         hessian(f)(Array(0.1)), vjp(f, Array(0.1)).second(Array(1.0))}) {
    EXPECT_TRUE(g.weak());
    EXPECT_EQ((x * g).dtype(), float32);
  }
}

TEST(Grad, OfEmptyArrays) {
  EXPECT_EQ(grad([](const Array& x) { return sum(x * x); })(zeros({0, 3})).shape(), (Shape{0, 3}));
}

TEST(Grad, RefusesWhatHasNoGradient) {
  const auto identity = [](const Array& x) { return x; };
  EXPECT_THROW((void)grad(identity)(array({1.0f, 2.0f})), DerivativeError);
  EXPECT_THROW((void)grad(identity)(array(1)), DerivativeError);
  EXPECT_THROW((void)grad([](const Array& x) { return astype(x, int32); })(array(1.0f)),
               DerivativeError);
  EXPECT_THROW((void)grad([](const Array&) { return array(true); })(array(1.0f)), DerivativeError);
  EXPECT_EQ(grad(identity)(array(1.0f)).item<float>(), 1.0f) << "and goes on";
}

TEST(Grad, AnEscapedValueIsAnError) {
  Array kept;
  (void)grad([&](const Array& x) {
    kept = x * x;
    return kept;
  })(array(2.0f));
  EXPECT_THROW((void)(kept + 1.0f), TracerError);
  EXPECT_THROW((void)jvp([&](const Array& x) { return x * kept; }, std::tuple{array(1.0f)},
                         std::tuple{array(1.0f)}),
               TracerError);
}

TEST(Grad, AnExceptionLeavesNothingBehind) {
  const auto fails = [](const Array& x) -> Array {
    return x + array({1.0f, 2.0f}) + array({1.0f, 2.0f, 3.0f});
  };
  EXPECT_THROW((void)grad(fails)(array(1.0f)), ShapeError);
  EXPECT_EQ(Interpreter::current(), nullptr);
  EXPECT_EQ(grad([](const Array& x) { return x * x; })(array(2.0f)).item<float>(), 4.0f);
}

using Tree = std::map<std::string, Array>;

TEST(JvpVjp, TreesInAndOut) {
  const auto f = [](const Tree& t) {
    return Tree{{"p", t.at("a") * t.at("b")}, {"q", sin(t.at("a"))}, {"n", array(3)}};
  };
  const Tree x = {{"a", array(2.0f)}, {"b", array(5.0f)}};
  const auto [out, tangent] =
      jvp(f, std::tuple{x}, std::tuple{Tree{{"a", array(1.0f)}, {"b", array(10.0f)}}});
  EXPECT_EQ(tangent.at("p").item<float>(), 25.0f);
  EXPECT_EQ(tangent.at("n").item<int>(), 0);
  const auto [value, pullback] = vjp(f, x);
  EXPECT_EQ(value.at("p").item<float>(), 10.0f);
  const Tree ct = {{"p", array(1.0f)}, {"q", array(0.0f)}, {"n", array(0)}};
  EXPECT_EQ(pullback(ct).at("a").item<float>(), 5.0f);
  EXPECT_EQ(pullback(ct).at("b").item<float>(), 2.0f) << "a pullback can be called again";
}

TEST(JvpVjp, AnUndefinedTangentIsZero) {
  const auto f = [](const Array& a, const Array& b) { return a * b; };
  const auto [out, t] =
      jvp(f, std::tuple{array(2.0f), array(5.0f)}, std::tuple{Array(), array(1.0f)});
  EXPECT_EQ(t.item<float>(), 2.0f);
}

TEST(JvpVjp, TypesMustFit) {
  const auto f = [](const Array& a) { return a * a; };
  const Array x = array({1.0f, 2.0f});
  EXPECT_THROW((void)jvp(f, std::tuple{x}, std::tuple{array({1.0f})}), ShapeError);
  EXPECT_THROW((void)jvp(f, std::tuple{x}, std::tuple{array({1.0, 2.0}, float64)}), DtypeError);
  EXPECT_THROW((void)vjp(f, x).second(array({1.0f})), ShapeError);
  EXPECT_THROW((void)vjp(f, x).second(array({1.0, 2.0}, float64)), DtypeError);
}

TEST(JvpVjp, NumbersTakeTheDtypeOfTheirValue) {
  const auto f = [](const Array& a) { return a * a; };
  for (const Dtype d : {bfloat16, float32, float64}) {
    const Array x = full({}, 2.0f, d);
    for (const Array& one : {Array(1), Array(1.0f), Array(1.0)}) {
      const Array back = vjp(f, x).second(one),
                  along = jvp(f, std::tuple{x}, std::tuple{one}).second;
      EXPECT_EQ(back.aval(), x.aval());
      EXPECT_EQ(along.aval(), x.aval());
      EXPECT_EQ(vjp([](const Array& a) { return a; }, x).second(one).aval(), x.aval());
      EXPECT_EQ(back.item<double>(), 4.0);
      EXPECT_EQ(along.item<double>(), 4.0);
    }
  }
}

TEST(JvpVjp, LinearizeRunsTheFunctionOnce) {
  int runs = 0;
  const auto f = [&](const Array& x) {
    ++runs;
    return sin(x) * x;
  };
  const auto [out, push] = linearize(f, array(0.5, float64));
  const double slope = std::cos(0.5) * 0.5 + std::sin(0.5);
  EXPECT_NEAR(push(array(1.0, float64)).item<double>(), slope, 1e-14);
  EXPECT_NEAR(push(array(3.0, float64)).item<double>(), 3 * slope, 1e-14);
  EXPECT_EQ(runs, 1);
}

}  // namespace grad_test
}  // namespace spruce
