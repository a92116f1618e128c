// SPDX-License-Identifier: Apache-2.0
#include "spruce/nn/linear.h"

#include "spruce/core/op_scope.h"
#include "spruce/core/ops/function.h"
#include "spruce/core/ops/linalg.h"
#include "spruce/core/ops/math.h"
#include "spruce/core/ops/shape.h"
#include "spruce/nn/init_hint.h"
#include "spruce/nn/init_place.h"
#include "spruce/nn/observe.h"

namespace spruce::nn {

Array LinearFunction::operator()(const Array& x, const Array& weight, const Array& bias,
                                 Loc loc) const {
  const OpScope at("linear", loc);
  spruce::internal::require_defined("linear", "x", x, "weight", weight);
  if (weight.rank() != 2 || x.rank() == 0 || x.shape().back() != weight.shape()[1]) {
    throw ShapeError("linear: x " + to_string(x.aval()) + " and weight " +
                     to_string(weight.aval()) +
                     " do not fit: x must be f[..., in] and weight f[out, in]" +
                     internal::init_hint(weight, "Linear"));
  }
  if (bias.defined() && !(bias.shape() == Shape{weight.shape()[0]})) {
    throw ShapeError("linear: weight " + to_string(weight.aval()) + " needs bias f[" +
                     std::to_string(weight.shape()[0]) + "], got " + to_string(bias.aval()));
  }
  const Array y = tensordot(x, weight, {-1}, {1});
  return bias.defined() ? y + bias : y;
}

Linear Linear::init(const Key& given, int64_t in, int64_t out, const LinearOptions& options,
                    Loc loc) {
  const OpScope at("Linear::init", loc);
  const internal::InitPlace place(options.device, given);
  const Key& key = place.key();
  const auto [kw, kb] = random::split<2>(key);
  Linear layer;
  layer.weight = init::internal::first_value(options.init.weight, kw, {out, in}, in, options.dtype);
  if (options.bias)
    layer.bias = init::internal::first_value(options.init.bias, kb, {out}, in, options.dtype);
  return layer;
}

Array Linear::operator()(const Array& x, Loc loc) const {
  const OpScope at("linear", loc);
  return internal::observed(*this, "Linear", linear(x, weight, bias.value_or(Array())),
                            [&] { return x.size() * weight.shape(0); });
}

}  // namespace spruce::nn
