// SPDX-License-Identifier: Apache-2.0
#include "spruce/nn/initializer.h"

#include "spruce/nn/init.h"

namespace spruce::nn::init {

Array Initializer::operator()(const Key& key, const Shape& shape, Dtype dtype, Loc loc) const {
  const LocScope at(loc);
  if (!f_) {
    throw ValueError(
        "Initializer: holds no function; give it one, such as nn::init::he_normal or "
        "nn::init::orthogonal()");
  }
  Array out = f_(key, shape, dtype);
  if (out.shape() != shape || out.dtype() != dtype) {
    throw ShapeError("Initializer: was asked for " + to_string(Aval{dtype, false, shape}) +
                     " and gave " + to_string(out.aval()));
  }
  return out;
}

namespace internal {

Array first_value(const Initializer& chosen, const Key& key, const Shape& shape, int64_t fan_in,
                  Dtype dtype) {
  return first_value(chosen, key, shape, dtype,
                     [&] { return uniform_fan_in(key, shape, fan_in, dtype); });
}

}  // namespace internal
}  // namespace spruce::nn::init
