// SPDX-License-Identifier: Apache-2.0
#include "spruce/nn/bilinear.h"

#include "spruce/core/op_scope.h"
#include "spruce/core/ops/function.h"
#include "spruce/core/ops/linalg.h"
#include "spruce/core/ops/math.h"
#include "spruce/core/ops/reduce.h"
#include "spruce/core/ops/shape.h"
#include "spruce/nn/init_hint.h"
#include "spruce/nn/init_place.h"
#include "spruce/nn/observe.h"

namespace spruce::nn {

Array BilinearFunction::operator()(const Array& x1, const Array& x2, const Array& weight,
                                   const Array& bias, Loc loc) const {
  const OpScope at("bilinear", loc);
  spruce::internal::require_defined("bilinear", "x1", x1, "x2", x2, "weight", weight);
  bool fits = weight.rank() == 3 && x1.rank() > 0 && x1.rank() == x2.rank() &&
              x1.shape().back() == weight.shape()[1] && x2.shape().back() == weight.shape()[2];
  for (int i = 0; fits && i + 1 < x1.rank(); ++i) fits = x1.shape()[i] == x2.shape()[i];
  if (!fits) {
    throw ShapeError("bilinear: x1 " + to_string(x1.aval()) + ", x2 " + to_string(x2.aval()) +
                     " and weight " + to_string(weight.aval()) +
                     " do not fit: they must be f[..., in1], f[..., in2] and f[out, in1, in2]");
  }
  if (bias.defined() && !(bias.shape() == Shape{weight.shape()[0]})) {
    throw ShapeError("bilinear: weight " + to_string(weight.aval()) + " needs bias f[" +
                     std::to_string(weight.shape()[0]) + "], got " + to_string(bias.aval()));
  }
  const Array rows = tensordot(x1, weight, {-1}, {1});  // f[..., out, in2]
  const Array y = sum(rows * expand_dims(x2, -2), -1);
  return bias.defined() ? y + bias : y;
}

Bilinear Bilinear::init(const Key& given, int64_t in1, int64_t in2, int64_t out,
                        const LinearOptions& o, Loc loc) {
  const OpScope at("Bilinear::init", loc);
  const internal::InitPlace place(o.device, given);
  const Key& key = place.key();
  const auto [kw, kb] = random::split<2>(key);
  Bilinear layer;
  using nn::init::internal::first_value;
  layer.weight = first_value(o.init.weight, kw, {out, in1, in2}, in1, o.dtype);
  if (o.bias) layer.bias = first_value(o.init.bias, kb, {out}, in1, o.dtype);
  return layer;
}

Array Bilinear::operator()(const Array& x1, const Array& x2, Loc loc) const {
  const OpScope at("Bilinear", loc);
  internal::require_made("Bilinear", weight);
  return internal::observed(*this, "Bilinear", bilinear(x1, x2, weight, bias.value_or(Array())),
                            [&] { return x1.size() * weight.shape(0) * (1 + x2.shape(-1)); });
}

}  // namespace spruce::nn
