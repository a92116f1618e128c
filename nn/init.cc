// SPDX-License-Identifier: Apache-2.0
#include "spruce/nn/init.h"

#include <cmath>

#include "spruce/core/op_scope.h"
#include "spruce/core/ops/create.h"
#include "spruce/core/ops/math.h"

namespace spruce::nn::init {
namespace {

struct Fans {
  double in, out;
};

Fans fans_of(const char* name, const Shape& shape) {
  if (shape.rank() < 2) {
    throw ShapeError(std::string(name) + ": needs a shape of rank 2 or more, [out, in, ...], got " +
                     to_string(shape));
  }
  double window = 1;
  for (int i = 2; i < shape.rank(); ++i) window *= static_cast<double>(shape[i]);
  return {static_cast<double>(shape[1]) * window, static_cast<double>(shape[0]) * window};
}

Array uniform_of(const Key& key, const Shape& shape, double bound, Dtype dtype) {
  const auto b = static_cast<float>(bound);
  return random::uniform(key, shape, {.low = -b, .high = b, .dtype = dtype});
}

Array normal_of(const Key& key, const Shape& shape, double deviation, Dtype dtype) {
  return static_cast<float>(deviation) * random::normal(key, shape, {.dtype = dtype});
}

}  // namespace

Array UniformFanInFunction::operator()(const Key& key, const Shape& shape, int64_t fan_in,
                                       Dtype dtype, Loc loc) const {
  const OpScope at("uniform_fan_in", loc);
  if (fan_in <= 0) return zeros(shape, dtype);
  return uniform_of(key, shape, 1 / std::sqrt(static_cast<double>(fan_in)), dtype);
}

Array HeNormalFunction::operator()(const Key& key, const Shape& shape, Dtype dtype, Loc loc) const {
  const OpScope at("he_normal", loc);
  return normal_of(key, shape, std::sqrt(2 / fans_of("he_normal", shape).in), dtype);
}
Array HeUniformFunction::operator()(const Key& key, const Shape& shape, Dtype dtype,
                                    Loc loc) const {
  const OpScope at("he_uniform", loc);
  return uniform_of(key, shape, std::sqrt(6 / fans_of("he_uniform", shape).in), dtype);
}
Array GlorotNormalFunction::operator()(const Key& key, const Shape& shape, Dtype dtype,
                                       Loc loc) const {
  const OpScope at("glorot_normal", loc);
  const Fans f = fans_of("glorot_normal", shape);
  return normal_of(key, shape, std::sqrt(2 / (f.in + f.out)), dtype);
}
Array GlorotUniformFunction::operator()(const Key& key, const Shape& shape, Dtype dtype,
                                        Loc loc) const {
  const OpScope at("glorot_uniform", loc);
  const Fans f = fans_of("glorot_uniform", shape);
  return uniform_of(key, shape, std::sqrt(6 / (f.in + f.out)), dtype);
}

}  // namespace spruce::nn::init
