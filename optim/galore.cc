// SPDX-License-Identifier: Apache-2.0
#include "spruce/optim/galore.h"

#include <algorithm>

#include "spruce/core/default_device.h"
#include "spruce/core/ops/finfo.h"
#include "spruce/core/ops/linalg.h"
#include "spruce/core/random/random.h"
#include "spruce/transforms/control/branches/cond.h"
#include "spruce/transforms/control/loops/scan.h"

namespace spruce::optim {
namespace {

using spruce::internal::Range;

// The rows made orthonormal one after the other (Gram and Schmidt, each twice). A trace of `spare`
// makes rows that depend on those before, or are zero, into some others.
Array orthonormal_rows(const Array& x, const Array& spare) {
  const double trace = finfo(promote(x.dtype(), float32)).eps;
  const Array size = sqrt(sum(square(x)));
  const Array rows = x / where(size > 0.0, size, 1.0) + trace * spare;
  const auto step = [](const Array& done, const std::pair<Array, Array>& in) {
    Array v = in.first;
    for (int pass = 0; pass < 2; ++pass) v = v - matmul(matmul(done, v), done);
    v = v / sqrt(sum(square(v)));
    return std::pair{done + expand_dims(in.second, 1) * v, none};
  };
  const Array places = eye(x.shape()[0], {.dtype = x.dtype()});
  return scan(step, zeros_like(x), std::pair{rows, places}).first;
}

// The first right singular vectors of x f[l, s], as rows f[rank, s].
Array singular_rows(const Array& x, int64_t rank, int64_t iterations) {
  const spruce::internal::SameDevice here(x);
  const auto [k1, k2] = random::split<2>(Key(0));
  const Array right = random::normal(k1, {rank, x.shape()[1]}, {.dtype = x.dtype()});
  const Array left = random::normal(k2, {rank, x.shape()[0]}, {.dtype = x.dtype()});
  Array rows = orthonormal_rows(right, right);
  const auto step = [&](const Array& basis, const Array&) {
    const Array other = orthonormal_rows(matmul(basis, transpose(x)), left);
    return std::pair{orthonormal_rows(matmul(other, x), right), none};
  };
  return scan(step, rows, zeros({iterations})).first;
}

bool is_tall(const Array& g) { return g.shape()[0] >= g.shape()[1]; }

}  // namespace

bool ScaleByGalore::is_projected(const Array& g) const {
  return g.rank() == 2 && std::min(g.shape()[0], g.shape()[1]) > rank;
}

GaloreState ScaleByGalore::start(const std::vector<Array>& params) const {
  GaloreState state{zero_count(), {}, {}, {}};
  for (const Array& p : params) {
    const spruce::internal::SameDevice here(p);
    const bool small = is_projected(p);
    const int64_t longer = small ? std::max(p.shape()[0], p.shape()[1]) : 0;
    const Array moment = zeros(small ? Shape{longer, rank} : p.shape(), p.dtype());
    state.basis.push_back(
        zeros(small ? Shape{rank, std::min(p.shape()[0], p.shape()[1])} : Shape{0}, p.dtype()));
    state.mu.push_back(moment);
    state.nu.push_back(moment);
  }
  return state;
}

Array ScaleByGalore::direction(const Array& g, const GaloreState& state, GaloreState& next,
                               size_t i) const {
  const bool small = is_projected(g);
  const bool tall = small && is_tall(g);
  const Array x = small && !tall ? transpose(g) : g;
  const Array &mu = state.mu[i], &nu = state.nu[i];
  Array low = g;
  if (small) {
    internal::check_shape("scale_by_galore", "basis", g, state.basis[i], {rank, x.shape()[1]});
    const Array is_due = state.count % static_cast<int32_t>(update_proj_gap) == 0;
    const auto found = [&](const Array& gradient, const Array& old) {
      return astype(singular_rows(internal::widened(gradient), rank, iterations), old.dtype());
    };
    const auto kept = [](const Array&, const Array& old) { return old; };
    next.basis[i] = cond(is_due, found, kept, x, state.basis[i]);
    low = matmul(x, transpose(next.basis[i]));
  }
  internal::check_shape("scale_by_galore", "mu", g, mu, low.shape());
  next.mu[i] = b1 * mu + (1 - b1) * low;
  next.nu[i] = b2 * nu + (1 - b2) * square(low);
  const Array out =
      internal::direction(next.mu[i], next.nu[i], bias_correction(b1, next.count, mu.dtype()),
                          bias_correction(b2, next.count, nu.dtype()), eps, 0);
  if (!small) return out;
  const Array full = scale * matmul(out, next.basis[i]);
  return tall ? full : transpose(full);
}

ScaleByGalore scale_by_galore(ScaleByGalore o, Loc loc) {
  const OpScope at("scale_by_galore", loc);
  internal::check_moments("scale_by_galore", o.b1, o.b2, o.eps, 0);
  o.scale.check("scale_by_galore", "scale", Range::kNotNegative);
  internal::check_steps("scale_by_galore", "rank", o.rank);
  internal::check_steps("scale_by_galore", "update_proj_gap", o.update_proj_gap);
  internal::check_steps("scale_by_galore", "iterations", o.iterations);
  return o;
}

Chain<ScaleByGalore, AddDecayedWeights, ScaleByLearningRate> galore(GaloreOptions o, Loc loc) {
  const OpScope at("galore", loc);
  return named_chain(
      "galore",
      scale_by_galore({o.rank, o.update_proj_gap, o.scale, o.b1, o.b2, o.eps, o.iterations}),
      add_decayed_weights(o.weight_decay, o.mask), scale_by_learning_rate(o.learning_rate));
}

}  // namespace spruce::optim
