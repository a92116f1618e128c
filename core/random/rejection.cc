// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/random/rejection.h"

#include "spruce/core/op_scope.h"
#include "spruce/core/ops/function.h"
#include "spruce/core/ops/math.h"
#include "spruce/core/ops/reduce.h"
#include "spruce/core/ops/shape.h"
#include "spruce/core/random/check.h"
#include "spruce/core/random/primitives.h"
#include "spruce/core/random/random.h"

namespace spruce::random {
namespace {

Dtype dtype_of_parameter(const Array& a) {
  return is_floating(a.dtype()) && !a.weak() ? a.dtype() : float32;
}

Array spread(const char* op, const Array& a, Dtype dtype, const Shape& shape) {
  check_shape(op, shape);
  return broadcast_to(astype(a, dtype), shape);
}

Array gamma_in(const char* op, const Key& key, const Array& a, const VariateOptions& options,
               bool log_space) {
  const Array& words = internal::one_key(op, key);
  const Array alpha = spread(op, a, dtype_of_parameter(a), options.shape.value_or(a.shape()));
  return bind1(random_gamma_p, {words, alpha}, Params::make(RandomGammaParams{log_space}));
}

}  // namespace

Array GammaFunction::operator()(const Key& key, const Array& a, const VariateOptions& options,
                                Loc loc) const {
  const OpScope at("gamma", loc);
  return gamma_in("gamma", key, a, options, false);
}

Array LoggammaFunction::operator()(const Key& key, const Array& a, const VariateOptions& options,
                                   Loc loc) const {
  const OpScope at("loggamma", loc);
  return gamma_in("loggamma", key, a, options, true);
}

Array BetaFunction::operator()(const Key& key, const Array& a, const Array& b,
                               const VariateOptions& options, Loc loc) const {
  const OpScope at("beta", loc);
  internal::one_key("beta", key);
  spruce::internal::require_defined("beta", "a", a, "b", b);
  const Dtype dtype = promote(dtype_of_parameter(a), dtype_of_parameter(b));
  const Shape shape = options.shape.value_or(broadcast_shapes("beta", a.shape(), b.shape()));
  const auto [key_a, key_b] = split<2>(key);
  const Array log_a = gamma_in("beta", key_a, astype(a, dtype), {shape}, true),
              log_b = gamma_in("beta", key_b, astype(b, dtype), {shape}, true);
  const Array most = maximum(log_a, log_b);
  const Array x = exp(log_a - most), y = exp(log_b - most);
  return x / (x + y);
}

Array ChisquareFunction::operator()(const Key& key, const Array& df, const VariateOptions& options,
                                    Loc loc) const {
  const OpScope at("chisquare", loc);
  const Array half = astype(df, dtype_of_parameter(df)) / 2;
  return 2 * exp(gamma_in("chisquare", key, half, options, true));
}

Array DirichletFunction::operator()(const Key& key, const Array& alpha,
                                    const VariateOptions& options, Loc loc) const {
  const OpScope at("dirichlet", loc);
  if (alpha.rank() == 0) {
    throw ShapeError("dirichlet: alpha needs an axis of parameters, got " +
                     to_string(alpha.aval()));
  }
  Shape shape = alpha.shape();
  if (options.shape.has_value()) {
    shape = *options.shape;
    shape.push_back(alpha.shape().back());
  }
  const Array logs = gamma_in("dirichlet", key, alpha, {shape}, true);
  const Array x = exp(logs - max(logs, -1, {.keepdims = true}));
  return x / sum(x, -1, {.keepdims = true});
}

Array TFunction::operator()(const Key& key, const Array& df, const VariateOptions& options,
                            Loc loc) const {
  const OpScope at("t", loc);
  internal::one_key("t", key);
  const Dtype dtype = dtype_of_parameter(df);
  const Shape shape = options.shape.value_or(df.shape());
  const Array half = astype(df, dtype) / 2;
  const auto [key_n, key_g] = split<2>(key);
  const Array n = normal(key_n, shape, {.dtype = dtype});
  return n * sqrt(half / gamma_in("t", key_g, half, {shape}, false));
}

Array PoissonFunction::operator()(const Key& key, const Array& rate, const PoissonOptions& options,
                                  Loc loc) const {
  const OpScope at("poisson", loc);
  const Array& words = internal::one_key("poisson", key);
  if (!is_integer(options.dtype)) {
    throw DtypeError("poisson: makes integers, not " + std::string(short_name(options.dtype)) +
                     "; convert them with astype");
  }
  const Array rates = spread("poisson", rate, float32, options.shape.value_or(rate.shape()));
  return bind1(random_poisson_p, {words, rates}, Params::make(RandomPoissonParams{options.dtype}));
}

Array BinomialFunction::operator()(const Key& key, const Array& n, const Array& p,
                                   const VariateOptions& options, Loc loc) const {
  const OpScope at("binomial", loc);
  const Array& words = internal::one_key("binomial", key);
  spruce::internal::require_defined("binomial", "n", n, "p", p);
  const Dtype dtype = dtype_of_parameter(p);
  const Shape shape = options.shape.value_or(broadcast_shapes("binomial", n.shape(), p.shape()));
  return bind1(random_binomial_p,
               {words, spread("binomial", n, dtype, shape), spread("binomial", p, dtype, shape)});
}

}  // namespace spruce::random
