// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/default_device.h"
#include "spruce/core/op_scope.h"
#include "spruce/core/ops/create.h"
#include "spruce/core/ops/cumulative.h"
#include "spruce/core/ops/index.h"
#include "spruce/core/ops/math.h"
#include "spruce/core/ops/reduce.h"
#include "spruce/core/ops/shape.h"
#include "spruce/core/ops/sort.h"
#include "spruce/core/ops/take.h"
#include "spruce/core/random/check.h"
#include "spruce/core/random/random.h"

namespace spruce::random {
namespace {

void check_choice(const Key& key, int64_t n, const Shape& shape, const ChoiceOptions& options) {
  internal::one_key("choice", key);
  check_shape("choice", shape);
  const int64_t draws = shape.numel();
  if (draws > 0 && n <= 0)
    throw ValueError("choice: there is nothing to draw from: n is " + std::to_string(n));
  if (!options.replace && draws > n) {
    throw ValueError("choice: cannot draw " + std::to_string(draws) + " of " + std::to_string(n) +
                     " without replacement; draw fewer, or set .replace");
  }
  if (!options.p.defined()) return;
  if (!is_floating(options.p.dtype())) {
    throw DtypeError("choice: the probabilities must be floating, got " +
                     to_string(options.p.aval()) + "; convert them with astype");
  }
  if (!(options.p.shape() == Shape{n})) {
    throw ShapeError("choice: the probabilities have type " + to_string(options.p.aval()) +
                     ", the " + std::to_string(n) + " elements to draw from need shape " +
                     to_string(Shape{n}));
  }
}

// Positions drawn from 0 .. n-1, i32.
Array draw(const Key& key, int64_t n, const Shape& shape, const ChoiceOptions& options) {
  const int64_t draws = shape.numel();
  if (draws == 0) return zeros(shape, int32);
  const Array& p = options.p;
  if (!p.defined()) {
    if (options.replace) return randint(key, shape, 0, n);
    return reshape(permutation(key, n)[slice(0, draws)], shape);
  }
  if (!options.replace) {
    const Array noisy = gumbel(key, {n}, {.dtype = p.dtype()}) + log(p);
    return reshape(astype(top_k(noisy, draws).second, int32), shape);
  }
  const Array up_to = cumsum(p);
  return astype(searchsorted(up_to, up_to[-1] * (1 - uniform(key, shape, {.dtype = p.dtype()}))),
                int32);
}

}  // namespace

Array ChoiceFunction::operator()(const Key& key, int64_t n, const Shape& shape,
                                 const ChoiceOptions& options, Loc loc) const {
  const OpScope at("choice", loc);
  check_choice(key, n, shape, options);
  const spruce::internal::SameDevice here(key.data());
  return draw(key, n, shape, options);
}

Array ChoiceFunction::operator()(const Key& key, const Array& a, const Shape& shape,
                                 const ChoiceOptions& options, Loc loc) const {
  const OpScope at("choice", loc);
  const int axis = normalize_axis("choice", options.axis, a.rank());
  check_choice(key, a.shape(axis), shape, options);
  return take(a, draw(key, a.shape(axis), shape, options), axis);
}

Array CategoricalFunction::operator()(const Key& key, const Array& logits,
                                      const CategoricalOptions& options, Loc loc) const {
  const OpScope at("categorical", loc);
  internal::one_key("categorical", key);
  if (!is_floating(logits.dtype())) {
    throw DtypeError("categorical: the logits must be floating, got " + to_string(logits.aval()) +
                     "; convert them with astype");
  }
  const int axis = normalize_axis("categorical", options.axis, logits.rank());
  const int64_t classes = logits.shape(axis);
  if (classes == 0)
    throw ShapeError("categorical: the logits " + to_string(logits.aval()) +
                     " have no classes on axis " + std::to_string(axis));
  Shape rows = logits.shape();
  rows.erase(axis);
  const Shape out = options.shape.value_or(rows);
  check_shape("categorical", out);
  if (!broadcasts_to(rows, out)) {
    throw ShapeError("categorical: the shape " + to_string(out) + " does not fit the logits " +
                     to_string(logits.aval()) + "; it must end in what " + to_string(rows) +
                     " broadcasts to");
  }
  const int extra = out.rank() - rows.rank();
  Shape noise = out;
  noise.insert(axis + extra, classes);
  return argmax(gumbel(key, noise, {.dtype = logits.dtype()}) + logits, axis + extra);
}

}  // namespace spruce::random
