// SPDX-License-Identifier: Apache-2.0
#include "spruce/nn/prelu.h"

#include "spruce/core/op_scope.h"
#include "spruce/core/ops/create.h"
#include "spruce/core/ops/function.h"
#include "spruce/core/ops/math.h"
#include "spruce/core/ops/shape.h"
#include "spruce/nn/init_hint.h"
#include "spruce/nn/init_place.h"
#include "spruce/nn/observe.h"

namespace spruce::nn {

Array PreluFunction::operator()(const Array& x, const Array& weight, Loc loc) const {
  const OpScope at("prelu", loc);
  spruce::internal::require_defined("prelu", "x", x, "weight", weight);
  const int64_t channels = x.rank() >= 2 ? x.shape()[1] : 1;
  const bool one = weight.size() == 1 && weight.rank() <= 1;
  if (!one && !(weight.shape() == Shape{channels})) {
    throw ShapeError("prelu: x is " + to_string(x.aval()) + ", so weight must be f[1]" +
                     (x.rank() >= 2 ? " or f[" + std::to_string(channels) + "]" : "") + "; got " +
                     to_string(weight.aval()));
  }
  Shape shape = Shape::filled(x.rank() >= 2 ? x.rank() - 1 : 0, 1);
  if (!one) shape[0] = channels;
  return where(x > 0, x, reshape(weight, shape) * x);
}

PReLU PReLU::init(int64_t num_parameters, const PReluOptions& o, Loc loc) {
  const OpScope at("PReLU::init", loc);
  const internal::InitPlace place(o.device);
  return {full({num_parameters}, o.init, o.dtype)};
}

Array PReLU::operator()(const Array& x, Loc loc) const {
  const OpScope at("PReLU", loc);
  if (weight.defined() && !is_floating(weight.dtype())) internal::require_made("PReLU", weight);
  return internal::observed(*this, "PReLU", prelu(x, weight));
}

}  // namespace spruce::nn
