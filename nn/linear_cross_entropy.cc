// SPDX-License-Identifier: Apache-2.0
#include "spruce/nn/linear_cross_entropy.h"

#include "spruce/core/op_scope.h"
#include "spruce/nn/linear.h"

namespace spruce::nn {

Array LinearCrossEntropyFunction::operator()(const Array& input, const Array& linear_weight,
                                             const Array& target, const Array& linear_bias,
                                             const CrossEntropyOptions& o, Loc loc) const {
  const OpScope at("linear_cross_entropy", loc);
  return cross_entropy(linear(input, linear_weight, linear_bias), target, o);
}

}  // namespace spruce::nn
