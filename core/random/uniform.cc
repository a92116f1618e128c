// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "spruce/core/op_scope.h"
#include "spruce/core/random/check.h"
#include "spruce/core/random/primitives.h"
#include "spruce/core/random/random.h"

namespace spruce::random {
namespace {

bool finite_in(Dtype dtype, double x) {
  switch (dtype) {
    case Dtype::kFloat16:
      return std::isfinite(static_cast<float>(Float16(static_cast<float>(x))));
    case Dtype::kBfloat16:
      return std::isfinite(static_cast<float>(Bfloat16(static_cast<float>(x))));
    case Dtype::kFloat32:
      return std::isfinite(static_cast<float>(x));
    default:
      return std::isfinite(x);
  }
}

}  // namespace

Array BitsFunction::operator()(const Key& key, const Shape& shape, Dtype dtype, Loc loc) const {
  const OpScope at("bits", loc);
  const Array& words = internal::one_key("bits", key);
  check_shape("bits", shape);
  if (!is_unsigned_integer(dtype)) {
    throw DtypeError("bits: makes u8, u16, u32 and u64, not " + std::string(short_name(dtype)) +
                     "; convert them with astype");
  }
  return bind1(random_bits_p, {words}, Params::make(RandomBitsParams{8 * size_of(dtype), shape}));
}

Array UniformFunction::operator()(const Key& key, const Shape& shape, const UniformOptions& options,
                                  Loc loc) const {
  const OpScope at("uniform", loc);
  const Array& words = internal::one_key("uniform", key);
  check_shape("uniform", shape);
  const auto [low, high, dtype] = options;
  internal::require_floating("uniform", dtype);
  if (!(low <= high) || !finite_in(dtype, low) || !finite_in(dtype, high) ||
      !finite_in(dtype, high - low)) {
    throw ValueError("uniform: low " + std::to_string(low) + " and high " + std::to_string(high) +
                     " are no range of " + std::string(short_name(dtype)) +
                     "; low <= high must hold and both, and high - low, be finite");
  }
  return bind1(random_uniform_p, {words},
               Params::make(RandomUniformParams{dtype, high, low, shape}));
}

}  // namespace spruce::random
