// SPDX-License-Identifier: Apache-2.0
#include "spruce/nn/linear_cross_entropy.h"

#include "spruce/core/op_scope.h"
#include "spruce/nn/init_place.h"

namespace spruce::nn {

Array LinearCrossEntropyFunction::operator()(const Array& input, const Array& linear_weight,
                                             const Array& target, const Array& linear_bias,
                                             const CrossEntropyOptions& o, Loc loc) const {
  const OpScope at("linear_cross_entropy", loc);
  return cross_entropy(linear(input, linear_weight, linear_bias), target, o);
}

LinearCrossEntropyLoss LinearCrossEntropyLoss::init(const Key& given, int64_t in_features,
                                                    int64_t num_classes,
                                                    const LinearCrossEntropyLossOptions& o,
                                                    Loc loc) {
  const OpScope at("LinearCrossEntropyLoss::init", loc);
  const internal::InitPlace place(o.device, given);
  const Key& key = place.key();
  return {Linear::init(key, in_features, num_classes,
                       {.bias = o.bias, .dtype = o.dtype, .init = o.init}),
          o.loss};
}

Array LinearCrossEntropyLoss::operator()(const Array& input, const Array& target, Loc loc) const {
  const OpScope at("LinearCrossEntropyLoss", loc);
  return linear_cross_entropy(input, linear.weight, target, linear.bias.value_or(Array()), options);
}

}  // namespace spruce::nn
