// SPDX-License-Identifier: Apache-2.0
#include "spruce/transforms/implicit/cg.h"

#include <algorithm>
#include <limits>

#include "spruce/core/ops/create.h"

namespace spruce::internal {

Array inner(std::span<const Array> a, std::span<const Array> b) {
  Array total;
  for (size_t i = 0; i < a.size(); ++i) {
    const Array part = sum(a[i] * b[i]);
    total = total.defined() ? total + part : part;
  }
  return total.defined() ? total : array(0.0f);
}

namespace {

using Leaves = std::vector<Array>;

// y + s x, in the dtypes of y.
Leaves moved(const Leaves& y, const Array& s, const Leaves& x) {
  Leaves out;
  for (size_t i = 0; i < y.size(); ++i) out.push_back(y[i] + s.astype(y[i].dtype()) * x[i]);
  return out;
}

// What the map or the preconditioner gave, which must be like b.
Leaves like(std::span<const Array> b, Leaves got, const char* what) {
  if (got.size() != b.size()) {
    throw TreeError("cg: b has " + std::to_string(b.size()) + " arrays, " + what + " has " +
                    std::to_string(got.size()) + "; it must take trees like b to trees like b");
  }
  for (size_t i = 0; i < b.size(); ++i) {
    if (got[i].shape() == b[i].shape()) continue;
    throw ShapeError("cg: b is " + to_string(b[i].aval()) + ", " + what + " is " +
                     to_string(got[i].aval()) + "; it must take trees like b to trees like b");
  }
  return got;
}

struct State {
  Leaves x, residual, direction;
  Array gamma, square, step;
};

}  // namespace

std::vector<Array> flat_cg(const FlatBody& map, std::span<const Array> b,
                           const FlatBody& preconditioner, const CgOptions& options) {
  if (options.max_steps < -1) {
    throw ValueError("cg: max_steps is " + std::to_string(options.max_steps) +
                     "; it must not be negative, except for -1, ten times the number of unknowns");
  }
  int64_t unknowns = 0;
  State start;
  for (const Array& a : b) {
    if (!is_floating(a.dtype())) {
      throw DtypeError("cg: b must be floating, got " + to_string(a.aval()) +
                       "; convert with astype");
    }
    unknowns += a.size();
    start.x.push_back(zeros_like(a));
    start.residual.push_back(a);
  }
  start.direction = like(b, preconditioner(start.residual), "preconditioner(x)");
  start.gamma = inner(start.residual, start.direction);
  start.square = inner(start.residual, start.residual);
  start.step = array(int32_t{0});
  const int64_t most = options.max_steps >= 0 ? options.max_steps : 10 * unknowns;
  const Array bound =
      maximum(options.tol * options.tol * start.square, options.atol * options.atol);
  const auto more = [&](const State& s) {
    return (s.square > bound) & (s.step < std::min<int64_t>(most, INT32_MAX));
  };
  const auto next = [&](const State& s) {
    State n;
    const Leaves along = like(b, map(s.direction), "map(x)");
    const Array alpha = s.gamma / inner(s.direction, along);
    n.x = moved(s.x, alpha, s.direction);
    n.residual = moved(s.residual, -alpha, along);
    const Leaves z = like(b, preconditioner(n.residual), "preconditioner(x)");
    n.gamma = inner(n.residual, z);
    n.square = inner(n.residual, n.residual);
    n.direction = moved(z, n.gamma / s.gamma, s.direction);
    n.step = s.step + 1;
    return n;
  };
  State last = while_loop(more, next, start);
  // No step mends a residual that is no number, and none is taken: say so in what is still finite.
  const Array sound = isfinite(last.square);
  for (Array& x : last.x) {
    x = where(sound | !isfinite(x), x, full_like(x, std::numeric_limits<double>::quiet_NaN()));
  }
  return last.x;
}

}  // namespace spruce::internal
