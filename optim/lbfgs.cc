// SPDX-License-Identifier: Apache-2.0
#include "spruce/optim/lbfgs.h"

#include "spruce/core/ops/ops.h"
#include "spruce/optim/minimize.h"
#include "spruce/transforms/control/loops/fori_loop.h"
#include "spruce/transforms/control/loops/while_loop.h"

namespace spruce::optim {
namespace internal {
namespace {

Array row(const Array& x, const Array& i) {
  return dynamic_slice_in_dim(x, i, 1, 0).reshape({x.shape()[1]});
}
Array entry(const Array& x, const Array& i) { return dynamic_slice_in_dim(x, i, 1, 0).reshape({}); }
Array with_row(const Array& x, const Array& r, const Array& i) {
  return dynamic_update_slice_in_dim(x, expand_dims(r, 0), i, 0);
}

// The two loops of Nocedal and Wright, algorithm 7.4. The oldest step stands at `oldest`.
Array two_loops(const Array& grads, const LbfgsState& s, const Array& scale, const Array& oldest) {
  const auto memory = static_cast<int32_t>(s.weights.shape()[0]);
  const auto place = [&](const Array& k) { return remainder(oldest + k, memory); };
  const auto [q, alphas] = fori_loop(
      0, memory,
      [&](const Array& k, const std::pair<Array, Array>& carry) {
        const Array i = place(memory - 1 - k);
        const Array alpha = entry(s.weights, i) * sum(row(s.steps, i) * carry.first);
        return std::pair{carry.first - alpha * row(s.changes, i), with_row(carry.second, alpha, i)};
      },
      std::pair{grads, zeros_like(s.weights)});
  return fori_loop(
      0, memory,
      [&, alphas = alphas](const Array& k, const Array& r) {
        const Array i = place(k);
        const Array beta = entry(s.weights, i) * sum(row(s.changes, i) * r);
        return r + (entry(alphas, i) - beta) * row(s.steps, i);
      },
      scale * q);
}

}  // namespace

LbfgsState lbfgs_start(int64_t n, Dtype dtype, int64_t memory) {
  const Array vector = zeros({n}, dtype), matrix = zeros({memory, n}, dtype);
  return {zero_count(), vector, vector, matrix, matrix, zeros({memory}, dtype)};
}

void check_memory(const char* op, int64_t memory) { check_steps(op, "memory_size", memory); }

Array joined(const std::vector<Array>& leaves, Dtype dtype) {
  std::vector<Array> parts;
  for (const Array& a : leaves) parts.push_back(astype(a.reshape({-1}), dtype));
  return parts.empty() ? zeros({0}, dtype) : concatenate(parts);
}

Array stretched(const Array& direction, const Array& step_size) {
  return where(step_size == 0.0, zeros_like(direction), step_size * direction);
}

Array part_of(const Array& flat, const Array& like, int64_t& at) {
  const int64_t from = at;
  at += like.size();
  return astype(flat[slice(from, at)].reshape(like.shape()), like.aval().strong_dtype());
}

std::pair<Array, LbfgsState> lbfgs_direction(const char* op, const Array& grads,
                                             const LbfgsState& s, const Array& params,
                                             bool scaled) {
  check_count(op, s.count);
  check_shape(op, "params", params, s.params, params.shape());
  check_shape(op, "grads", grads, s.grads, params.shape());
  const auto memory = static_cast<int32_t>(s.weights.shape()[0]);
  const Array begun = s.count > 0;
  const auto if_begun = [&](const Array& x) { return where(begun, x, zeros_like(x)); };
  const Array step = if_begun(params - s.params), change = if_begun(grads - s.grads);
  const Array product = sum(step * change), no_product = product == 0.0;
  const Array weight =
      where(no_product, zeros_like(product), 1.0 / where(no_product, ones_like(product), product));
  const Array last = remainder(s.count - 1, memory);
  LbfgsState next{next_count(s.count),
                  params,
                  grads,
                  with_row(s.steps, step, last),
                  with_row(s.changes, change, last),
                  dynamic_update_slice_in_dim(s.weights, weight.reshape({1}), last, 0)};
  Array scale = ones({}, grads.dtype());
  if (scaled) {
    const Array squares = sum(square(change)), flat = squares == 0.0;
    const Array curvature =
        where(flat, ones_like(squares), product / where(flat, ones_like(squares), squares));
    // The first direction is no longer than 1.
    scale = where(begun, curvature, minimum(1.0, 1.0 / sqrt(sum(square(grads)))));
  }
  Array direction = two_loops(grads, next, scale, remainder(s.count, memory));
  return {std::move(direction), std::move(next)};
}

MinimizeVector minimize_vector(const ValueAndGrad& f, const Array& x, const MinimizeOptions& o) {
  struct Carry {
    Array x, value, grad;
    LbfgsState state;
    Array steps, stuck;
  };
  const auto [value, grad] = f(x);
  const Carry first{x,
                    value,
                    grad,
                    lbfgs_start(x.size(), x.dtype(), o.memory_size),
                    zeros({}, int32),
                    zeros({}, bool_)};
  const auto size_of_grad = [](const Array& g) {
    return g.size() > 0 ? max(abs(g)) : zeros({}, g.dtype());
  };
  const auto open = [&](const Carry& c) {
    // Not "above": a NaN ends the loop.
    return (size_of_grad(c.grad) > o.tolerance) & logical_not(c.stuck) &
           (c.steps < static_cast<int32_t>(o.max_steps));
  };
  const auto step = [&](const Carry& c) {
    auto [direction, next] = lbfgs_direction("minimize", c.grad, c.state, c.x, true);
    const ZoomResult found = zoom(f, c.x, -direction, c.value, c.grad, o.line_search);
    return Carry{c.x - stretched(direction, found.step_size),
                 found.value,
                 found.grad,
                 std::move(next),
                 c.steps + 1,
                 found.step_size == 0.0};
  };
  const Carry last = [&] {
    try {
      return while_loop(open, step, first);
    } catch (const DerivativeError&) {
      // Not of the objective, whose gradient at x is there.
      throw DerivativeError(
          "minimize: its loop has no derivative in reverse mode; take custom_root for the root of "
          "grad(objective), or forward mode (jvp, jacfwd)");
    }
  }();
  const Array largest = size_of_grad(last.grad);
  return {last.x, last.value, largest, last.steps, largest <= o.tolerance};
}

void check_minimize(const MinimizeOptions& o) {
  check_memory("minimize", o.memory_size);
  check_steps("minimize", "max_steps", o.max_steps, 0);
  spruce::internal::check_range("minimize", "tolerance", o.tolerance,
                                spruce::internal::Range::kNotNegative);
  o.line_search.check("minimize");
}

}  // namespace internal

ScaleByLbfgs scale_by_lbfgs(ScaleByLbfgs o, Loc loc) {
  const LocScope at(loc);
  internal::check_memory("scale_by_lbfgs", o.memory_size);
  return o;
}

Lbfgs lbfgs(LbfgsOptions options, Loc loc) { return Lbfgs(options, loc); }

}  // namespace spruce::optim
