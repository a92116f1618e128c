// SPDX-License-Identifier: Apache-2.0
#include "spruce/nn/position.h"

#include <cmath>

#include "spruce/core/default_device.h"
#include "spruce/core/op_scope.h"
#include "spruce/core/ops/create.h"
#include "spruce/core/ops/function.h"
#include "spruce/core/ops/index.h"
#include "spruce/core/ops/join.h"
#include "spruce/core/ops/math.h"
#include "spruce/core/ops/shape.h"
#include "spruce/core/ranges.h"
#include "spruce/nn/init_place.h"
#include "spruce/nn/observe.h"

namespace spruce::nn {
namespace {

using spruce::internal::check_range, spruce::internal::Range;

// positions f[...] -> angles f[..., half], position / base^(2 i / d), computed in f64.
Array angles_of(const Array& positions, double base, int64_t d, int64_t half) {
  const Array i = arange(half, float64);
  const Array rates = exp(i * (-2 * std::log(base) / static_cast<double>(d)));
  return expand_dims(astype(positions, float64), -1) * rates;
}

void check_steps(const char* op, const Array& x) {
  if (x.rank() < 2) {
    throw ShapeError(std::string(op) + ": takes f[..., t, e], got " + to_string(x.aval()));
  }
}

}  // namespace

Array SinusoidalEncodingFunction::operator()(int64_t length, int64_t d, const SinusoidalOptions& o,
                                             Loc loc) const {
  const char* op = "sinusoidal_encoding";
  const OpScope at(op, loc);
  check_range(op, "base", o.base, Range::kPositive);
  check_shape(op, {length, d});
  const int64_t half = (d + 1) / 2;
  const Array angles = angles_of(arange(length, float64), o.base, d, half);
  const Array pairs = reshape(stack({sin(angles), cos(angles)}, -1), {length, 2 * half});
  return astype(pairs[{slice(), slice(d)}], o.dtype);
}

Array RotaryEmbeddingFunction::operator()(const Array& x, const RotaryOptions& o, Loc loc) const {
  const char* op = "rotary_embedding";
  const OpScope at(op, loc);
  const spruce::internal::SameDevice here(x);
  spruce::internal::require_defined(op, "x", x);
  check_range(op, "base", o.base, Range::kPositive);
  if (!is_floating(x.dtype())) {
    throw DtypeError("rotary_embedding: x must be floating, got " + to_string(x.aval()) +
                     "; convert with astype");
  }
  if (x.rank() < 2 || x.shape(-1) % 2 != 0) {
    throw ShapeError("rotary_embedding: takes f[..., t, d] with an even d, got " +
                     to_string(x.aval()));
  }
  const int64_t t = x.shape(-2), d = x.shape(-1);
  Shape steps;
  for (int i = 0; i + 1 < x.rank(); ++i) steps.push_back(x.shape(i));
  const Array positions = o.positions.defined() ? o.positions : arange(t, float64);
  if (!broadcasts_to(positions.shape(), steps)) {
    throw ShapeError("rotary_embedding: positions " + to_string(positions.aval()) +
                     " do not broadcast to the steps " + to_string(steps) + " of x " +
                     to_string(x.aval()));
  }
  const Array angles = angles_of(positions, o.base, d, d / 2);
  const Array c = astype(cos(angles), x.dtype()), s = astype(sin(angles), x.dtype());
  const Axis pair = o.interleaved ? -1 : -2;
  Shape in_pairs = steps;
  in_pairs.push_back(o.interleaved ? d / 2 : 2);
  in_pairs.push_back(o.interleaved ? 2 : d / 2);
  const std::vector<Array> both = split(reshape(x, in_pairs), 2, pair);
  const Array first = squeeze(both[0], pair), second = squeeze(both[1], pair);
  return reshape(stack({first * c - second * s, second * c + first * s}, pair), x.shape());
}

Array SinusoidalPositions::operator()(const Array& x, Loc loc) const {
  const OpScope at("SinusoidalPositions", loc);
  const spruce::internal::SameDevice here(x);
  spruce::internal::require_defined("SinusoidalPositions", "x", x);
  check_steps("SinusoidalPositions", x);
  return x + sinusoidal_encoding(x.shape(-2), x.shape(-1), {.base = base, .dtype = x.dtype()});
}

LearnedPositions LearnedPositions::init(const Key& given, int64_t max_length, int64_t d,
                                        const LearnedPositionsOptions& o, Loc loc) {
  const OpScope at("LearnedPositions::init", loc);
  const internal::InitPlace place(o.device, given);
  const Key& key = place.key();
  return {init::internal::first_value(o.init.weight, key, {max_length, d}, o.dtype, [&] {
    return 0.02f * random::normal(key, {max_length, d}, {.dtype = o.dtype});
  })};
}

Array LearnedPositions::operator()(const Array& x, Loc loc) const {
  const OpScope at("LearnedPositions", loc);
  const spruce::internal::SameDevice here(x);
  spruce::internal::require_defined("LearnedPositions", "x", x, "weight", weight);
  check_steps("LearnedPositions", x);
  if (x.shape(-1) != weight.shape(-1) || x.shape(-2) > weight.shape(0)) {
    throw ShapeError("LearnedPositions: x " + to_string(x.aval()) + " and weight " +
                     to_string(weight.aval()) +
                     " do not fit: x must be f[..., t, e] and weight f[max_length, e], with t up "
                     "to max_length");
  }
  return internal::observed(*this, "LearnedPositions", x + weight[slice(x.shape(-2))]);
}

}  // namespace spruce::nn
