// SPDX-License-Identifier: Apache-2.0
#include "spruce/nn/conv_tbc.h"

#include "spruce/core/op_scope.h"
#include "spruce/core/ops/function.h"
#include "spruce/core/ops/shape.h"
#include "spruce/nn/conv.h"

namespace spruce::nn {

Array ConvTbcFunction::operator()(const Array& input, const Array& weight, const Array& bias,
                                  int64_t padding, Loc loc) const {
  const OpScope at("conv_tbc", loc);
  spruce::internal::require_defined("conv_tbc", "input", input, "weight", weight);
  if (input.rank() != 3 || weight.rank() != 3 || input.shape(2) != weight.shape(1)) {
    throw ShapeError("conv_tbc: input " + to_string(input.aval()) + " and weight " +
                     to_string(weight.aval()) +
                     " do not fit: input must be f[t, n, in] and weight f[k, in, out]");
  }
  if (padding < 0) {
    throw ValueError("conv_tbc: padding is " + std::to_string(padding) +
                     "; there are 0 zeros or more on each side");
  }
  const Array y =
      conv1d(transpose(input, {1, 2, 0}), transpose(weight, {2, 1, 0}), bias, {.padding = padding});
  return transpose(y, {2, 0, 1});
}

}  // namespace spruce::nn
