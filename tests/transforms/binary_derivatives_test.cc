// SPDX-License-Identifier: Apache-2.0
// Derivatives of binary primitives up to the third order, in every order of their operands, at 0,
// 1, equal operands and infinities, against those that binary_derivatives_cases.py computed in 60
// digits; forward, backward, and compiled.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <set>

#include "spruce/core/ops/ops.h"
#include "spruce/transforms/compile/jit.h"
#include "spruce/transforms/derive/grad.h"
#include "spruce/transforms/derive/jvp.h"
#include "spruce/transforms/derive/vjp.h"
#include "tests/transforms/properties.h"

namespace spruce {
namespace binary_derivatives_test {

constexpr double kInf = std::numeric_limits<double>::infinity();

struct Row {
  const char* primitive;
  double x, y;
  int by_x, by_y;
  double derivative;
};
constexpr Row kRows[] = {
#include "tests/transforms/binary_derivatives_cases.inc"
};

using properties::Arrays;
using Function = std::function<Array(const Arrays&)>;  // of {x, y}, elementwise

// f of one operand, the other held.
auto of_one(const Function& f, const Arrays& x, size_t by) {
  return [=](const Array& one) {
    Arrays at = x;
    at[by] = one;
    return f(at);
  };
}

Function derived_forward(const Function& f, size_t by) {
  return [=](const Arrays& x) {
    return jvp(of_one(f, x, by), std::tuple(x[by]), std::tuple(ones_like(x[by]))).second;
  };
}

Function derived_backward(const Function& f, size_t by) {
  return [=](const Arrays& x) {
    const auto [value, pull] = vjp(of_one(f, x, by), x[by]);
    return pull(ones_like(value));
  };
}

// All orders in which to derive so often by each operand.
std::set<std::vector<size_t>> sequences(int by_x, int by_y) {
  std::vector<size_t> all(static_cast<size_t>(by_x), 0);
  all.resize(static_cast<size_t>(by_x + by_y), 1);
  std::set<std::vector<size_t>> found;
  do found.insert(all);
  while (std::next_permutation(all.begin(), all.end()));
  return found;
}

void expect_derivatives(const Array& got, const std::vector<Row>& rows, const std::string& what) {
  const double tol = got.dtype() == float64 ? 1e-12 : 1e-5;
  const std::vector<double> values = astype(got, float64).to_vector<double>();
  for (size_t i = 0; i < rows.size(); ++i) {
    const double want = rows[i].derivative;
    EXPECT_TRUE(values[i] == want ||
                std::abs(values[i] - want) <= tol * std::max(1.0, std::abs(want)))
        << what << " at " << rows[i].x << ", " << rows[i].y << ": " << values[i] << " instead of "
        << want;
  }
}

// Rows of one primitive and one derivative are one array.
using Groups = std::map<std::tuple<std::string, int, int>, std::vector<Row>>;
const Groups& groups() {
  static const Groups all = [] {
    Groups g;
    for (const Row& r : kRows) g[{r.primitive, r.by_x, r.by_y}].push_back(r);
    return g;
  }();
  return all;
}

Arrays points(const std::vector<Row>& rows, Dtype dtype) {
  std::vector<double> x, y;
  for (const Row& r : rows) {
    x.push_back(r.x);
    y.push_back(r.y);
  }
  return {astype(array(x), dtype), astype(array(y), dtype)};
}

void expect_all(Dtype dtype, bool compiled) {
  for (const auto& [key, rows] : groups()) {
    const auto& [primitive, by_x, by_y] = key;
    const Primitive& p = *find_primitive(primitive);
    const Function f = [&p](const Arrays& x) { return bind1(p, x); };
    const Arrays x = points(rows, dtype);
    for (const std::vector<size_t>& order : sequences(by_x, by_y)) {
      Function forward = f, mixed = f;
      std::string what = std::string(name(dtype)) + " " + primitive + " by ";
      for (const size_t by : order) {
        // The outermost two steps are backward and forward.
        const bool first = &by == order.data();
        forward = derived_forward(forward, by);
        mixed = first ? derived_backward(mixed, by) : derived_forward(mixed, by);
        what += by == 0 ? "x" : "y";
      }
      if (compiled) {
        expect_derivatives(jit(mixed)(x), rows, "compiled, " + what);
        continue;
      }
      expect_derivatives(forward(x), rows, "forward, " + what);
      expect_derivatives(mixed(x), rows, "backward, " + what);
      if (order.size() > 1) {
        const Function outer = derived_backward(
            order.size() == 2 ? derived_forward(f, order[0])
                              : derived_forward(derived_forward(f, order[0]), order[1]),
            order.back());
        expect_derivatives(outer(x), rows, "backward of forward, " + what);
      }
    }
  }
}

TEST(BinaryDerivatives, AreTheTruthToThirdOrder) { expect_all(float64, false); }

TEST(BinaryDerivatives, AreTheTruthCompiled) {
  expect_all(float64, true);
  expect_all(float32, true);
}

TEST(BinaryDerivatives, CoverEachBinaryPrimitive) {
  std::set<std::string> covered;
  for (const Row& r : kRows) covered.insert(r.primitive);
  for (const Primitive* p : properties::primitives_with_samples()) {
    if (p->kind != PrimitiveKind::kElementwise || p->jvp == nullptr) continue;
    for (const Sample& s : p->samples()) {
      const bool binary = s.in.size() == 2 && is_floating(s.in[0].aval.dtype) &&
                          is_floating(s.in[1].aval.dtype) && s.params.empty();
      if (!binary) continue;
      const std::vector<const Aval*> types = {&s.in[0].aval, &s.in[1].aval};
      if (!is_floating(output_avals(*p, types, {})[0].dtype)) continue;
      EXPECT_TRUE(covered.contains(p->name)) << p->name << " has no row in the cases";
      break;
    }
  }
}

TEST(BinaryDerivatives, PowerAtWholeExponents) {
  const auto f = [](const Array& x, const Array& y) { return power(x, y); };
  const auto by_x = [&](const Array& x, const Array& y) { return grad<0>(f)(x, y); };
  const auto by_xy = [&](const Array& x, const Array& y) { return grad<1>(by_x)(x, y); };
  const auto by_xxy = [&](const Array& x, const Array& y) { return grad<0>(by_xy)(x, y); };
  EXPECT_DOUBLE_EQ(by_xy(Array(2.0), Array(0.0)).item<double>(), 0.5);
  EXPECT_DOUBLE_EQ(by_xxy(Array(2.0), Array(1.0)).item<double>(), 0.5);
}

}  // namespace binary_derivatives_test
}  // namespace spruce
