// SPDX-License-Identifier: Apache-2.0
#include "spruce/optim/muon.h"

#include <algorithm>
#include <cmath>

#include "spruce/core/ops/linalg.h"

namespace spruce::optim {
namespace {

using spruce::internal::Range;

void check_matrix(const char* op, const Array& g) {
  if (g.rank() == 2) return;
  throw ShapeError(std::string(op) + ": " + to_string(g.aval()) +
                   " is no matrix; keep such parameters from Muon by a mask");
}

Array iterate(const Array& x, const Array& a, const NewtonSchulzCoefficients& c) {
  return c[0] * x + matmul(c[1] * a + matmul(c[2] * a, a), x);
}

Array gram(const Array& x) { return matmul(x, transpose(x)); }

// The first iteration, which scales the matrix as well.
Array first_iteration(const Array& x, MuonPreconditioning how, const Hyperparam& eps,
                      const NewtonSchulzCoefficients& c) {
  const Array a = gram(x), least = eps.in(x.dtype());
  if (how == MuonPreconditioning::kFrobenius) {
    const Array by = sqrt(sum(square(x))) + least;
    return iterate(x / by, a / square(by), c);
  }
  if (how == MuonPreconditioning::kSchatten) {
    const Array s = rsqrt(maximum(sqrt(sum(square(a))), least));
    return iterate(x * s, a * square(s), c);
  }
  const Array s = expand_dims(rsqrt(maximum(sum(abs(a), -1), least)), -1);
  return iterate(x * s, a * s * transpose(s), c);
}

}  // namespace

Array ScaleByMuon::direction(const Array& mean) const {
  check_matrix("scale_by_muon", mean);
  const bool tall = mean.shape()[0] > mean.shape()[1];
  Array x = tall ? transpose(mean) : mean;
  const size_t given = ns_coeffs.size();
  for (size_t i = 0; i < static_cast<size_t>(ns_steps); ++i) {
    const NewtonSchulzCoefficients& c = ns_coeffs[std::min(i, given - 1)];
    x = i == 0 ? first_iteration(x, preconditioning, eps, c) : iterate(x, gram(x), c);
  }
  const Array updates = tall ? transpose(x) : x;
  return adaptive ? sum(mean * updates) * updates : updates;
}

ScaleByMuon scale_by_muon(ScaleByMuon o, Loc loc) {
  const char* name = "scale_by_muon";
  const LocScope at(loc);
  o.beta.check(name, "beta", Range::kDecay);
  o.eps.check(name, "eps", Range::kNotNegative);
  internal::check_steps(name, "ns_steps", o.ns_steps);
  if (o.ns_coeffs.empty() || o.ns_coeffs.size() > static_cast<size_t>(o.ns_steps)) {
    throw ValueError(std::string(name) + ": " + std::to_string(o.ns_coeffs.size()) +
                     " coefficients for " + std::to_string(o.ns_steps) +
                     " steps; give between one and one for each step");
  }
  return o;
}

Array ScaleByShape::scaled(const Array& g) const {
  check_matrix("scale_by_shape", g);
  const auto out = static_cast<double>(g.shape()[0]), in = static_cast<double>(g.shape()[1]);
  if (consistent_rms) return std::sqrt(std::max(in, out)) * (*consistent_rms * g);
  return in > 0 ? std::sqrt(std::max(1.0, out / in)) * g : g;
}

Partition<Chain<ScaleByMuon, ScaleByShape, AddDecayedWeights, ScaleByLearningRate>, Adam> muon(
    MuonOptions o, Loc loc) {
  const OpScope at("muon", loc);
  if (o.consistent_rms)
    o.consistent_rms->check("muon", "consistent_rms", spruce::internal::Range::kNotNegative);
  const Label label = [mask = o.mask](const std::string& path, const Array& p) {
    return p.rank() == 2 && (!mask || mask(path, p)) ? "muon" : "adam";
  };
  return partition(
      label,
      std::pair{"muon", named_chain("muon",
                                    scale_by_muon({o.ns_coeffs, o.ns_steps, o.beta, o.eps,
                                                   o.nesterov, o.adaptive, o.preconditioning}),
                                    ScaleByShape{o.consistent_rms},
                                    add_decayed_weights(o.weight_decay, o.weight_decay_mask),
                                    scale_by_learning_rate(o.learning_rate))},
      std::pair{"adam", Adam({.learning_rate = o.adam_learning_rate.value_or(o.learning_rate),
                              .b1 = o.adam_b1,
                              .b2 = o.adam_b2,
                              .eps = o.eps,
                              .eps_root = o.adam_eps_root,
                              .weight_decay = o.adam_weight_decay,
                              .nesterov = o.nesterov},
                             "muon")});
}

}  // namespace spruce::optim
