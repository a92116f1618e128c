// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "spruce/core/integer_range.h"
#include "spruce/core/op_scope.h"
#include "spruce/core/ops/function.h"
#include "spruce/core/ops/math.h"
#include "spruce/core/ops/shape.h"
#include "spruce/core/random/check.h"
#include "spruce/core/random/random.h"

namespace spruce::random {
namespace {

void require_integer(const char* op, Dtype dtype) {
  if (!is_integer(dtype)) {
    throw DtypeError(std::string(op) + ": makes integers, not " + std::string(short_name(dtype)) +
                     "; use uniform for floating numbers");
  }
}

// Narrow dtypes are drawn with 32 bits, which keeps their bias small.
Dtype drawn_dtype(Dtype dtype) { return size_of(dtype) < 4 ? int32 : dtype; }
Dtype unsigned_dtype(Dtype dtype) { return size_of(dtype) == 8 ? uint64 : uint32; }

// Twice as many random bits as a number has, modulo `span`, as high * 2^bits + low. 2^bits modulo
// `span` comes from the square of 2^(bits/2), which may wrap around: that is how JAX has it.
Array draw(const Key& key, const Shape& shape, Dtype words, const Array& span) {
  const auto [k1, k2] = split<2>(key);
  const Array high = bits(k1, shape, words), low = bits(k2, shape, words);
  const Array half = fmod(astype(uint64_t{1} << (4 * size_of(words)), words), span),
              two_to_bits = fmod(half * half, span);
  return fmod(fmod(high, span) * two_to_bits + fmod(low, span), span);
}

// A bound as values of `drawn`, limited to what is of use for numbers of `dtype`.
Array bound(const Array& x, Dtype dtype, Dtype drawn, bool exclusive, const Shape& shape) {
  if (!is_integer(x.dtype())) {
    throw DtypeError("randint: bounds must be integers, got " + to_string(x.aval()) +
                     "; convert them with astype");
  }
  if (!broadcasts_to(x.shape(), shape)) {
    throw ShapeError("randint: bounds " + to_string(x.aval()) + " do not broadcast to the shape " +
                     to_string(shape));
  }
  const int64_t low = std::max(smallest_integer(dtype), smallest_integer(x.dtype()));
  const uint64_t past = largest_integer(dtype) + (exclusive && dtype != drawn ? 1 : 0);
  const uint64_t high = std::min(past, largest_integer(x.dtype()));
  return astype(clip(x, astype(low, x.dtype()), astype(high, x.dtype())), drawn);
}

void check(const Key& key, const Shape& shape, Dtype dtype) {
  internal::one_key("randint", key);
  check_shape("randint", shape);
  require_integer("randint", dtype);
}

}  // namespace

Array RandintFunction::operator()(const Key& key, const Shape& shape, int64_t low, int64_t high,
                                  const IntegerOptions& options, Loc loc) const {
  const OpScope at("randint", loc);
  check(key, shape, options.dtype);
  const std::string range =
      std::string("[") + std::to_string(low) + ", " + std::to_string(high) + ")";
  if (low >= high)
    throw ValueError("randint: the range " + range + " is empty; low must be below high");
  const bool too_high =
      high > 0 && static_cast<uint64_t>(high - 1) > largest_integer(options.dtype);
  if (low < smallest_integer(options.dtype) || too_high) {
    throw ValueError("randint: " + std::string(short_name(options.dtype)) +
                     " does not hold all of " + range +
                     "; ask for a wider dtype or a smaller range");
  }
  const Dtype drawn = drawn_dtype(options.dtype), words = unsigned_dtype(drawn);
  const uint64_t span = static_cast<uint64_t>(high) - static_cast<uint64_t>(low);
  const bool whole = words == uint32 && span > UINT32_MAX;  // every value of 32 bits
  const Array offset =
      whole ? bits(split(key, 2)[1], shape, words) : draw(key, shape, words, astype(span, words));
  return astype(astype(offset, drawn) + astype(low, drawn), options.dtype);
}

Array RandintFunction::operator()(const Key& key, const Shape& shape, const Array& low,
                                  const Array& high, const IntegerOptions& options, Loc loc) const {
  const OpScope at("randint", loc);
  spruce::internal::require_defined("randint", "low", low, "high", high);
  check(key, shape, options.dtype);
  const Dtype drawn = drawn_dtype(options.dtype), words = unsigned_dtype(drawn);
  const Array first = bound(low, options.dtype, drawn, false, shape),
              last = bound(high, options.dtype, drawn, true, shape);
  const Array span =
      where(last <= first, astype(1, words), astype(last, words) - astype(first, words));
  return astype(astype(draw(key, shape, words, span), drawn) + first, options.dtype);
}

Array RademacherFunction::operator()(const Key& key, const Shape& shape,
                                     const IntegerOptions& options, Loc loc) const {
  const OpScope at("rademacher", loc);
  internal::one_key("rademacher", key);
  check_shape("rademacher", shape);
  if (is_bool(options.dtype) || is_unsigned_integer(options.dtype)) {
    throw DtypeError("rademacher: " + std::string(short_name(options.dtype)) +
                     " does not hold -1; ask for a signed dtype");
  }
  const Array half = astype(0.5f, size_of(options.dtype) == 8
                                      ? float64
                                      : float32);  // as wide as in JAX, where it has the dtype
  return 2 * astype(bernoulli(key, half, shape), options.dtype) - 1;
}

Array BernoulliFunction::operator()(const Key& key, const Array& p, const Shape& shape,
                                    Loc loc) const {
  const OpScope at("bernoulli", loc);
  internal::one_key("bernoulli", key);
  check_shape("bernoulli", shape);
  if (!is_floating(p.dtype())) {
    throw DtypeError("bernoulli: the probability must be floating, got " + to_string(p.aval()) +
                     "; convert it with astype");
  }
  if (!broadcasts_to(p.shape(), shape)) {
    throw ShapeError("bernoulli: probabilities " + to_string(p.aval()) +
                     " do not broadcast to the shape " + to_string(shape));
  }
  return uniform(key, shape, {.dtype = p.weak() ? float32 : p.dtype()}) < p;
}

Array BernoulliFunction::operator()(const Key& key, const Array& p, Loc loc) const {
  const OpScope at("bernoulli", loc);
  return bernoulli(key, p, p.shape());
}

}  // namespace spruce::random
