// SPDX-License-Identifier: Apache-2.0
// Transforms within transforms: every pair and triple in every order, over functions that close
// over the values of those outside. No transform may take another one's perturbation for its own.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "spruce/core/ops/ops.h"
#include "spruce/transforms/transforms.h"

namespace spruce {
namespace nesting_test {

using Scalar1 = std::function<Array(const Array&)>;

// A transform as a function of functions of one number, and which derivative it gives.
struct Transform {
  const char* name;
  int order;
  Scalar1 (*apply)(Scalar1);
};

const Transform kTransforms[] = {
    {"grad", 1, [](Scalar1 f) -> Scalar1 { return grad(f); }},
    {"jvp", 1,
     [](Scalar1 f) -> Scalar1 {
       return
           [f](const Array& x) { return jvp(f, std::tuple{x}, std::tuple{ones_like(x)}).second; };
     }},
    {"vjp", 1,
     [](Scalar1 f) -> Scalar1 {
       return [f](const Array& x) { return vjp(f, x).second(ones_like(x)); };
     }},
    {"linearize", 1,
     [](Scalar1 f) -> Scalar1 {
       return [f](const Array& x) { return linearize(f, x).second(ones_like(x)); };
     }},
    {"jacfwd", 1, [](Scalar1 f) -> Scalar1 { return jacfwd(f); }},
    {"jacrev", 1,
     [](Scalar1 f) -> Scalar1 { return [f](const Array& x) { return jacrev(f)(x); }; }},
    {"hessian", 2, [](Scalar1 f) -> Scalar1 { return hessian(f); }},
    {"hvp", 2,
     [](Scalar1 f) -> Scalar1 { return [f](const Array& x) { return hvp(f, x, ones_like(x)); }; }},
    {"vmap", 0,
     [](Scalar1 f) -> Scalar1 {
       return [f](const Array& x) { return vmap(f)(stack({x, 2.0 * x}))[0]; };
     }},
    {"vmap of none", 0,
     [](Scalar1 f) -> Scalar1 {
       return [f](const Array& x) {
         const auto g = [f](const Array& y, const Array& n) { return f(y) + 0.0 * n; };
         return vmap(g, {.in_axes = {none, 0}})(x, array({1.0, 2.0}, float64))[1];
       };
     }},
    {"jit", 0, [](Scalar1 f) -> Scalar1 { return jit(f); }},
};

constexpr double kA = 0.5, kB = 0.75, kC = 1.25, kX = 0.3;

void expect_value(const Array& got, double want, const std::string& what) {
  ASSERT_EQ(got.shape(), Shape{}) << what;
  EXPECT_NEAR(got.item<double>(), want, 1e-12 * std::abs(want)) << what;
}

TEST(Nesting, EveryPairOverAClosure) {
  for (const Transform& outer : kTransforms) {
    for (const Transform& inner : kTransforms) {
      const Scalar1 f = outer.apply([&](const Array& x) {
        return inner.apply([x](const Array& y) { return exp(kA * x + kB * y); })(x);
      });
      const double want =
          std::pow(kA + kB, outer.order) * std::pow(kB, inner.order) * std::exp((kA + kB) * kX);
      expect_value(f(array(kX, float64)), want, std::string(outer.name) + " of " + inner.name);
    }
  }
}

TEST(Nesting, EveryTripleOverClosures) {
  for (const Transform& outer : kTransforms) {
    for (const Transform& middle : kTransforms) {
      for (const Transform& inner : kTransforms) {
        const Scalar1 f = outer.apply([&](const Array& x) {
          return middle.apply([&inner, x](const Array& y) {
            return inner.apply([x, y](const Array& z) { return exp(kA * x + kB * y + kC * z); })(y);
          })(x);
        });
        const double want = std::pow(kA + kB + kC, outer.order) * std::pow(kB + kC, middle.order) *
                            std::pow(kC, inner.order) * std::exp((kA + kB + kC) * kX);
        expect_value(f(array(kX, float64)), want,
                     std::string(outer.name) + " of " + middle.name + " of " + inner.name);
      }
    }
  }
}

TEST(Nesting, EveryTripleDirectly) {
  for (const Transform& outer : kTransforms) {
    for (const Transform& middle : kTransforms) {
      for (const Transform& inner : kTransforms) {
        const Scalar1 f =
            outer.apply(middle.apply(inner.apply([](const Array& x) { return exp(kA * x); })));
        const double want =
            std::pow(kA, outer.order + middle.order + inner.order) * std::exp(kA * kX);
        expect_value(f(array(kX, float64)), want,
                     std::string(outer.name) + " of " + middle.name + " of " + inner.name);
      }
    }
  }
}

TEST(Nesting, EightDeep) {
  Scalar1 f = [](const Array& x) { return exp(kA * x); };
  for (int i = 0; i < 8; ++i) f = i % 2 == 0 ? Scalar1(grad(f)) : Scalar1(jit(f));
  expect_value(f(array(kX, float64)), std::pow(kA, 4) * std::exp(kA * kX), "grad and jit in turn");
}

double derivative(const Scalar1& f, double at) { return grad(f)(array(at)).item<double>(); }
Array tangent(const Scalar1& f, const Array& at) {
  return jvp(f, std::tuple{at}, std::tuple{ones_like(at)}).second;
}

// Siskind and Pearlmutter 2005: d/dx (x d/dy (x + y)) at y = 1 is 1, not 2.
TEST(PerturbationConfusion, TheClassicCase) {
  const Scalar1 by_grad = [](const Array& x) {
    return x * grad([x](const Array& y) { return x + y; })(array(1.0, float64));
  };
  EXPECT_EQ(derivative(by_grad, 1.0), 1.0);
  const Scalar1 by_jvp = [](const Array& x) {
    return x * tangent([x](const Array& y) { return x + y; }, array(1.0, float64));
  };
  EXPECT_EQ(derivative(by_jvp, 1.0), 1.0);
  EXPECT_EQ(tangent(by_grad, array(1.0, float64)).item<double>(), 1.0);
  EXPECT_EQ(tangent(by_jvp, array(1.0, float64)).item<double>(), 1.0);
}

TEST(PerturbationConfusion, ProductsOfInnerAndOuter) {
  // d/dx (x d/dy (x y)) = d/dx x^2.
  const Scalar1 f = [](const Array& x) {
    return x * grad([x](const Array& y) { return x * y; })(array(2.0, float64));
  };
  EXPECT_EQ(derivative(f, 3.0), 6.0);
  // The inner one is taken at x itself: d/dx (d/dy (x y^2) at y = x) = d/dx 2 x^2.
  const Scalar1 g = [](const Array& x) {
    return grad([x](const Array& y) { return x * y * y; })(x);
  };
  EXPECT_EQ(derivative(g, 3.0), 12.0);
}

// Manzyuk et al. 2012: a derivative that returns a function, which is applied twice.
TEST(PerturbationConfusion, ADerivativeOfAFunctionValuedFunction) {
  // s(u)(f)(x) = f(x + u). D(s)(0) is the derivative as an operator; applied twice it is the
  // second.
  const auto operator_at_zero = [](const Scalar1& f) -> Scalar1 {
    return [f](const Array& x) {
      return tangent([f, x](const Array& u) { return f(x + u); }, array(0.0, float64));
    };
  };
  const Scalar1 twice =
      operator_at_zero(operator_at_zero([](const Array& x) { return exp(2.0 * x); }));
  EXPECT_NEAR(twice(array(0.5, float64)).item<double>(), 4 * std::exp(1.0), 1e-12);
}

TEST(PerturbationConfusion, AnInnerFunctionThatIgnoresItsArgument) {
  const Scalar1 f = [](const Array& x) {
    return grad([x](const Array&) { return x * x; })(array(1.0, float64)) + x;
  };
  EXPECT_EQ(derivative(f, 3.0), 1.0);
  const Scalar1 g = [](const Array& x) {
    return tangent([x](const Array&) { return x * x; }, array(1.0, float64)) + x;
  };
  EXPECT_EQ(derivative(g, 3.0), 1.0);
}

TEST(Nesting, MapsOfDerivativesAreDerivativesOfMaps) {
  const Array rows = reshape(linspace(0.1f, 1.2f, 12), {3, 4});
  const auto f = [](const Array& x) { return sum(sin(x) * x * x); };
  const Array each = stack({grad(f)(rows[0]), grad(f)(rows[1]), grad(f)(rows[2])});
  EXPECT_TRUE(allclose(vmap(grad(f))(rows), each));
  EXPECT_TRUE(allclose(grad([&](const Array& x) { return sum(vmap(f)(x)); })(rows), each));
  EXPECT_TRUE(allclose(jit(vmap(jit(grad(jit(f)))))(rows), each));
  EXPECT_EQ(vmap(hessian(f))(rows).shape(), (Shape{3, 4, 4}));
  EXPECT_TRUE(allclose(vmap(hessian(f))(rows)[1], hessian(f)(rows[1])));
}

}  // namespace nesting_test
}  // namespace spruce
