// SPDX-License-Identifier: Apache-2.0
#include "spruce/nn/parametrizations.h"

#include <cmath>

#include "spruce/core/default_device.h"
#include "spruce/core/op_scope.h"
#include "spruce/core/ops/compare.h"
#include "spruce/core/ops/create.h"
#include "spruce/core/ops/function.h"
#include "spruce/core/ops/index.h"
#include "spruce/core/ops/join.h"
#include "spruce/core/ops/linalg.h"
#include "spruce/core/ops/math.h"
#include "spruce/core/ops/reduce.h"
#include "spruce/core/ops/shape.h"
#include "spruce/core/ranges.h"
#include "spruce/nn/array_loop.h"
#include "spruce/nn/similarity.h"
#include "spruce/nn/wide.h"
#include "spruce/transforms/derive/stop_gradient.h"
#include "spruce/transforms/implicit/linear_solve.h"

namespace spruce::nn {
namespace {

using spruce::internal::check_range, spruce::internal::Range;

int checked_axis(const char* op, Axis dim, const Array& weight) {
  const int64_t given{dim}, axis = given < 0 ? given + weight.rank() : given;
  if (axis < 0 || axis >= weight.rank()) {
    throw ShapeError(std::string(op) + ": dim " + std::to_string(given) +
                     " is no axis of the weight " + to_string(weight.aval()));
  }
  return static_cast<int>(axis);
}

// |v| over all axes but dim, with 1 in their places.
Array norms_of(const char* op, const Array& v, const WeightNormOptions& o) {
  Axes axes;
  const int kept = o.dim ? checked_axis(op, *o.dim, v) : -1;
  for (int i = 0; i < v.rank(); ++i)
    if (i != kept) axes.push_back(i);
  return sqrt(sum(square(internal::wide(v)), axes, {.keepdims = true}));
}

Array matrix_of(const char* op, const Array& weight, Axis dim) {
  if (weight.rank() < 2) {
    throw ShapeError(std::string(op) + ": takes a weight of rank 2 or more, got " +
                     to_string(weight.aval()));
  }
  const Array front = moveaxis(weight, checked_axis(op, dim, weight), 0);
  return reshape(front, {front.shape(0), -1});
}

SpectralNormState iterate(const Array& w, SpectralNormState s, int64_t count, double eps) {
  for (int64_t k = 0; k < count; ++k) {
    s.u = normalize(matmul(w, s.v), {.dim = 0, .eps = eps});
    s.v = normalize(matmul(s.u, w), {.dim = 0, .eps = eps});
  }
  return s;
}

// exp(a) of a matrix: Taylor's series of a / 2^s, squared s times, where s brings the norm below 1.
Array matrix_exp(const Array& a) {
  constexpr int64_t kTerms = 18, kSquarings = 30;
  const Dtype dtype = a.dtype();
  const Array norm = stop_gradient(max(sum(abs(a), -1)));
  const Array s = clip(ceil(log2(maximum(norm, 1))), 0, static_cast<double>(kSquarings));
  const Array small = a * exp2(-s), unit = eye(a.shape(0), {.dtype = dtype});
  // 1 + x (1 + x / 2 (1 + x / 3 (...)))
  const auto term = [&](std::span<const Array> in) {
    return std::vector<Array>{unit + matmul(small, in[0]) / in[1]};
  };
  const std::vector<Array> series =
      internal::scan_arrays({unit}, {arange(int64_t{1}, kTerms + 1, dtype)}, true, term);
  const auto squared = [&](std::span<const Array> in) {
    return std::vector<Array>{where(less(in[1], s), matmul(in[0], in[0]), in[0])};
  };
  return internal::scan_arrays(series, {arange(kSquarings, dtype)}, false, squared)[0];
}

// The solution of a x = b for matrices, by Gauss and Jordan without pivots: row i of both is
// divided by the diagonal and taken from the others. Safe where a + a^T is positive definite.
// `units` is the unit matrix, which is made where the weight is.
Array eliminate(const Array& a, const Array& b, const Array& units) {
  const int64_t n = a.shape(0);
  const auto step = [n](std::span<const Array> in) {
    const Array &m = in[0], &unit = in[1];
    const Array row = matmul(unit, m), column = matmul(m[{slice(), slice(n)}], unit);
    const Array scaled = row / sum(unit * row[slice(n)]);
    return std::vector<Array>{m - expand_dims(column - unit, 1) * scaled};
  };
  const Array both = concatenate({a, b}, 1);
  return internal::scan_arrays({both}, {units}, false, step)[0][{slice(), slice(n, none)}];
}

// (1 - a / 2)^-1 (1 + a / 2) of a skew matrix. Its derivatives are those of the equations.
Array cayley(const Array& a) {
  const Array unit = eye(a.shape(0), {.dtype = a.dtype()}), half = 0.5 * a;
  const auto map = [&](std::span<const Array> x) {
    return std::vector<Array>{x[0] - matmul(half, x[0])};
  };
  const auto solve = [&](const Array& m) {
    return [m, unit](const spruce::internal::FlatBody&, std::span<const Array> b) {
      return std::vector<Array>{eliminate(m, b[0], unit)};
    };
  };
  return spruce::internal::flat_linear_solve(map, {unit + half}, solve(unit - half),
                                             solve(unit + half), {})[0];
}

// The first columns of H_0 H_1 ... with H_i = 1 - tau_i v_i v_i^T, where v_i is 1 at i and column i
// of x below it.
Array reflections(const Array& x) {
  const int64_t n = x.shape(0), m = x.shape(1);
  const Array unit = eye(n, {.columns = m, .dtype = x.dtype()});
  const Array rows = transpose(tril(x, -1) + unit);
  const auto step = [](std::span<const Array> in) {
    const Array &q = in[0], &v = in[1], tau = 2 / sum(square(v));
    return std::vector<Array>{q - expand_dims(v * tau, 1) * matmul(v, q)};
  };
  return internal::scan_arrays({unit}, {rows}, true, step)[0];
}

}  // namespace

Array WeightNormFunction::operator()(const Array& g, const Array& v, const WeightNormOptions& o,
                                     Loc loc) const {
  const OpScope at("weight_norm", loc);
  spruce::internal::require_defined("weight_norm", "g", g, "v", v);
  const Array norms = norms_of("weight_norm", v, o);
  if (g.shape() != norms.shape()) {
    throw ShapeError("weight_norm: v " + to_string(v.aval()) + " needs g f" +
                     to_string(norms.shape()) + ", got " + to_string(g.aval()));
  }
  return internal::narrow(v * (g / norms), promote(v.dtype(), g.dtype()));
}

WeightNormParts weight_norm_parts(const Array& weight, const WeightNormOptions& o, Loc loc) {
  const OpScope at("weight_norm_parts", loc);
  spruce::internal::require_defined("weight_norm_parts", "weight", weight);
  return {internal::narrow(norms_of("weight_norm_parts", weight, o), weight.dtype()), weight};
}

SpectralNormResult SpectralNormFunction::operator()(const Array& weight,
                                                    const SpectralNormState& state,
                                                    const SpectralNormOptions& o, Loc loc) const {
  const char* op = "spectral_norm";
  const OpScope at(op, loc);
  spruce::internal::require_defined(op, "weight", weight, "u", state.u, "v", state.v);
  check_range(op, "eps", o.eps, Range::kNotNegative);
  const Array w = matrix_of(op, weight, o.dim);
  if (state.u.shape() != Shape{w.shape(0)} || state.v.shape() != Shape{w.shape(1)}) {
    throw ShapeError("spectral_norm: weight " + to_string(weight.aval()) + " needs u f[" +
                     std::to_string(w.shape(0)) + "] and v f[" + std::to_string(w.shape(1)) +
                     "], got " + to_string(state.u.aval()) + " and " + to_string(state.v.aval()));
  }
  if (o.training && o.n_power_iterations < 1) {
    throw ValueError("spectral_norm: n_power_iterations is " +
                     std::to_string(o.n_power_iterations) + ", it must be at least 1");
  }
  SpectralNormState next{stop_gradient(state.u), stop_gradient(state.v)};
  if (o.training) next = iterate(stop_gradient(w), std::move(next), o.n_power_iterations, o.eps);
  return {weight / sum(next.u * matmul(w, next.v)), next};
}

SpectralNormState spectral_norm_state(const Key& key, const Array& weight,
                                      const SpectralNormOptions& o, Loc loc) {
  const char* op = "spectral_norm_state";
  const OpScope at(op, loc);
  spruce::internal::require_defined(op, "weight", weight);
  check_range(op, "eps", o.eps, Range::kNotNegative);
  const Array w = stop_gradient(matrix_of(op, weight, o.dim));
  const auto [ku, kv] = random::split<2>(key);
  const auto start = [&](const Key& k, int64_t n) {
    return normalize(random::normal(k, {n}, {.dtype = w.dtype()}), {.dim = 0, .eps = o.eps});
  };
  return iterate(w, {start(ku, w.shape(0)), start(kv, w.shape(1))}, 15, o.eps);
}

Array OrthogonalFunction::operator()(const Array& weight, const OrthogonalMapOptions& o,
                                     Loc loc) const {
  const OpScope at("orthogonal", loc);
  const spruce::internal::SameDevice here(weight);
  spruce::internal::require_defined("orthogonal", "weight", weight);
  if (weight.rank() != 2)
    throw ShapeError("orthogonal: takes a weight f[n, m], got " + to_string(weight.aval()));
  if (!is_floating(weight.dtype())) {
    throw DtypeError("orthogonal: the weight must be floating, got " + to_string(weight.aval()));
  }
  const bool wide = weight.shape(0) < weight.shape(1);
  const Array x = wide ? transpose(weight) : weight;
  const int64_t n = x.shape(0), m = x.shape(1);
  if (n * m == 0) return weight;
  const OrthogonalMap map =
      o.map.value_or(n == m ? OrthogonalMap::kMatrixExp : OrthogonalMap::kHouseholder);
  Array q;
  if (map == OrthogonalMap::kHouseholder) {
    q = reflections(x);
  } else {
    Array lower = tril(x);
    if (n != m) lower = concatenate({lower, zeros({n, n - m}, x.dtype())}, 1);
    const Array skew = lower - transpose(lower);
    q = map == OrthogonalMap::kCayley ? cayley(skew) : matrix_exp(skew);
    q = q[{slice(), slice(m)}];
  }
  return wide ? transpose(q) : q;
}

}  // namespace spruce::nn
