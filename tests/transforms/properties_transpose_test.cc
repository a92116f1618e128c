// SPDX-License-Identifier: Apache-2.0
// Transpose rules by themselves: <ct, A x> = <A' ct, x> for each set of inputs that a primitive is
// linear in. Derivatives alone do not show them all: the tangent of a difference is no difference.
#include <algorithm>
#include <cmath>

#include "spruce/core/ops/create.h"
#include "tests/transforms/properties.h"

namespace spruce::properties {
namespace properties_transpose_test {

std::vector<const Primitive*> with_transposes() {
  std::vector<const Primitive*> all;
  for (const Primitive* p : primitives_with_samples()) {
    if (p->transpose != nullptr) all.push_back(p);
  }
  return all;
}

bool same(const Arrays& a, const Arrays& b) {
  for (size_t i = 0; i < a.size(); ++i) {
    const std::vector<double> x = a[i].to_vector<double>(), y = b[i].to_vector<double>();
    for (size_t k = 0; k < x.size(); ++k) {
      if (!(std::abs(x[k] - y[k]) <= 1e-9 * (1 + std::abs(y[k])))) return false;
    }
  }
  return true;
}

Arrays combined(double a, const Arrays& x, double b, const Arrays& y) {
  Arrays out;
  for (size_t i = 0; i < x.size(); ++i) out.push_back(a * x[i] + b * y[i]);
  return out;
}

// No element: any function is linear there.
bool is_empty(const Partial& f) {
  const Arrays x = f.point(), y = f(x);
  const auto none_of_it = [](const Array& a) { return a.size() == 0; };
  return std::any_of(x.begin(), x.end(), none_of_it) || std::any_of(y.begin(), y.end(), none_of_it);
}

// By its values, at points that have nothing in common.
bool is_linear(const Partial& f) {
  const Arrays x = directions(f.point(), 11), y = directions(f.point(), 12);
  return same(f(combined(2.5, x, -3.25, y)), combined(2.5, f(x), -3.25, f(y)));
}

// Every set of floating inputs, where there are at most four, else every run of neighbours.
std::vector<Partial> sets(const Case& c) {
  std::vector<Partial> all;
  const std::vector<Partial> some = partials(c);
  if (some.empty()) return some;
  const std::vector<size_t>& floats = some[0].active;
  if (floats.size() > 4) {
    for (auto from = floats.begin(); from != floats.end(); ++from) {
      for (auto to = from; to != floats.end(); ++to)
        all.push_back({c, some[0].all, std::vector<size_t>(from, to + 1)});
    }
    return all;
  }
  for (size_t bits = 1; bits < (size_t{1} << floats.size()); ++bits) {
    Partial f{c, some[0].all, {}};
    for (size_t i = 0; i < floats.size(); ++i) {
      if ((bits >> i & 1) != 0) f.active.push_back(floats[i]);
    }
    all.push_back(f);
  }
  return all;
}

Arrays transposed(const Partial& f, const Arrays& cts) {
  const Primitive& p = *f.c.p;
  std::vector<Aval> avals;
  std::vector<const Aval*> types;
  for (const Array& a : f.all) avals.push_back(a.aval());
  for (const Aval& a : avals) types.push_back(&a);
  const std::vector<Aval> out_avals = output_avals(p, types, f.c.sample.params);
  Arrays in = f.all, out(in.size());
  for (const size_t i : f.active) in[i] = Array();
  p.transpose({p, cts, in, avals, out_avals, f.c.sample.params, out});
  Arrays active;
  for (const size_t i : f.active) {
    active.push_back(out[i].defined() ? out[i] : zeros(avals[i].shape, avals[i].dtype));
    EXPECT_EQ(to_string(active.back().aval()), to_string(avals[i]));
  }
  return active;
}

using Transpose = PerPrimitive;

TEST_P(Transpose, IsTheAdjoint) {
  std::vector<Partial> linear, empty;
  for (const Case& c : all_cases(p(), float64)) {
    for (const Partial& f : sets(c)) {
      if (!is_double(f) || !is_linear(f)) continue;
      (is_empty(f) ? empty : linear).push_back(f);
    }
  }
  EXPECT_FALSE(linear.empty()) << "a transpose rule without a case";
  const auto check = [](const Partial& f) {
    run_case(f.c, [&] {
      const Arrays x = directions(f.point(), 13), y = f(x), ct = directions(y, 14);
      expect_near(dot(ct, y), dot(transposed(f, ct), x), 1e-9, "<ct, A x> and <A' ct, x>");
    });
  };
  for (const Partial& f : linear) check(f);
  for (const Partial& f : empty) {
    const auto known = [&](const Partial& g) { return g.active == f.active; };
    if (std::any_of(linear.begin(), linear.end(), known)) check(f);
  }
}

INSTANTIATE_TEST_SUITE_P(Properties, Transpose, testing::ValuesIn(with_transposes()), name_of);

}  // namespace properties_transpose_test
}  // namespace spruce::properties
