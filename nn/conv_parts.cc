// SPDX-License-Identifier: Apache-2.0
#include "spruce/nn/conv_parts.h"

#include "spruce/core/ops/math.h"
#include "spruce/core/ops/shape.h"

namespace spruce::nn::internal {

void check_bias(const char* op, const Array& weight, const Array& bias, int64_t out) {
  if (!bias.defined() || bias.shape() == Shape{out}) return;
  throw ShapeError(std::string(op) + ": weight " + to_string(weight.aval()) + " needs bias f[" +
                   std::to_string(out) + "], got " + to_string(bias.aval()));
}

Array with_bias(const Array& y, const Array& bias, int axes, bool single) {
  Array out = y;
  if (bias.defined()) {
    Shape shape = Shape::filled(axes + 1, 1);
    shape[0] = bias.size();
    out = out + reshape(bias, shape);
  }
  return single ? squeeze(out, 0) : out;
}

void check_channels(const char* op, int64_t in, int64_t out, int64_t groups) {
  if (in >= 1 && out >= 1 && in % groups == 0 && out % groups == 0) return;
  throw ShapeError(std::string(op) + ": " + std::to_string(in) + " input and " +
                   std::to_string(out) + " output channels must be positive and divisible by " +
                   "groups " + std::to_string(groups));
}

Weights init_weights(const Key& key, int64_t first, int64_t second, const Shape& kernel,
                     int64_t out, bool bias, Dtype dtype, const init::LayerInit& init) {
  Shape shape{first, second};
  for (const int64_t k : kernel) shape.push_back(k);
  const int64_t fan_in = second * kernel.numel();
  const auto [kw, kb] = random::split<2>(key);
  using nn::init::internal::first_value;
  Weights made{first_value(init.weight, kw, shape, fan_in, dtype), {}};
  if (bias) made.bias = first_value(init.bias, kb, {out}, fan_in, dtype);
  return made;
}

}  // namespace spruce::nn::internal
