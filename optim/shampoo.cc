// SPDX-License-Identifier: Apache-2.0
#include "spruce/optim/shampoo.h"

#include <algorithm>

#include "spruce/core/ops/decompositions.h"
#include "spruce/core/ops/finfo.h"
#include "spruce/core/ops/linalg.h"
#include "spruce/transforms/control/loops/fori_loop.h"

namespace spruce::optim {
namespace {

using spruce::internal::Range;

Array matrix_power(const Array& a, int64_t p) {
  Array out = a;
  for (int64_t k = 1; k < p; ++k) out = matmul(out, a);
  return out;
}

}  // namespace

Array inverse_root(const Array& a, int64_t p, const InverseRootOptions& o, Loc loc) {
  const OpScope at("inverse_root", loc);
  if (a.rank() != 2 || a.shape()[0] != a.shape()[1])
    throw ShapeError("inverse_root: " + to_string(a.aval()) + " is no square matrix");
  if (!is_floating(a.dtype()))
    throw DtypeError("inverse_root: " + to_string(a.aval()) + " is not floating");
  internal::check_steps("inverse_root", "p", p);
  internal::check_steps("inverse_root", "iterations", o.iterations);
  // With x a^(1/p) = m^(1/p) throughout, x becomes the root as m becomes the identity. The norm
  // bounds the eigenvalues, so that those of the first m are below (1 + p) / 2.
  const auto exponent = static_cast<double>(p);
  const Array z = (1 + exponent) / (2 * sqrt(sum(square(a))));
  const Array one = eye(a.shape()[0], {.dtype = a.dtype()});
  const std::pair<Array, Array> first{one * spruce::power(z, 1 / exponent), a * z};
  return fori_loop(
             0, static_cast<int32_t>(o.iterations),
             [&](const Array&, const std::pair<Array, Array>& xm) {
               const Array step = ((1 + 1 / exponent) * one) - xm.second / exponent;
               return std::pair{matmul(xm.first, step), matmul(matrix_power(step, p), xm.second)};
             },
             first)
      .first;
}

bool ScaleByShampoo::is_matrix(const Array& g) const {
  return g.rank() == 2 && std::max(g.shape()[0], g.shape()[1]) <= max_size && g.size() > 0;
}

ShampooState ScaleByShampoo::start(const std::vector<Array>& params) const {
  ShampooState state{zero_count(), {}, {}};
  for (const Array& p : params) {
    const Array level = eps.in(p.dtype());
    if (is_matrix(p)) {
      state.left.push_back(level * eye(p.shape()[0], {.dtype = p.dtype()}));
      state.right.push_back(level * eye(p.shape()[1], {.dtype = p.dtype()}));
    } else {
      state.left.push_back(broadcast_to(level, p.shape()));
      state.right.push_back(zeros({0}, p.dtype()));
    }
  }
  return state;
}

Array ScaleByShampoo::direction(const Array& g, Array& left, Array& right) const {
  const auto add = [&](const Array& sum, const Array& x) { return decay * sum + x; };
  if (!is_matrix(g)) {
    internal::check_shape("scale_by_shampoo", "left", g, left, g.shape());
    left = add(left, square(g));
    return g * rsqrt(left);
  }
  // The sum of a few gradients has eigenvalues of zero, of which rounding makes numbers on either
  // side of it: what is added keeps them positive.
  const auto root = [&](const Array& sum) {
    const Array wide = astype(sum, promote(sum.dtype(), float32));
    const Array ridge = finfo(sum.dtype()).eps * linalg::trace(wide);
    const Array positive = wide + ridge * eye(sum.shape()[0], {.dtype = wide.dtype()});
    return astype(inverse_root(positive, 4, {iterations}), sum.dtype());
  };
  const int64_t m = g.shape()[0], n = g.shape()[1];
  internal::check_shape("scale_by_shampoo", "left", g, left, {m, m});
  internal::check_shape("scale_by_shampoo", "right", g, right, {n, n});
  left = add(left, matmul(g, transpose(g)));
  right = add(right, matmul(transpose(g), g));
  return matmul(matmul(root(left), g), root(right));
}

ScaleByShampoo scale_by_shampoo(ScaleByShampoo o, Loc loc) {
  const LocScope at(loc);
  o.decay.check("scale_by_shampoo", "decay", Range::kShare);
  o.eps.check("scale_by_shampoo", "eps", Range::kPositive);
  internal::check_steps("scale_by_shampoo", "iterations", o.iterations);
  internal::check_steps("scale_by_shampoo", "max_size", o.max_size);
  return o;
}

Chain<ScaleByShampoo, AddDecayedWeights, ScaleByLearningRate> shampoo(ShampooOptions o, Loc loc) {
  const OpScope at("shampoo", loc);
  return named_chain("shampoo", scale_by_shampoo({o.decay, o.eps, o.iterations, o.max_size}),
                     add_decayed_weights(o.weight_decay, o.mask),
                     scale_by_learning_rate(o.learning_rate));
}

}  // namespace spruce::optim
