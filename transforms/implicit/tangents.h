// SPDX-License-Identifier: Apache-2.0
// Tangents of a body by themselves, without what they depend on. The rules of implicit derivatives
// need them so: a loop that carries values beside tangents cannot be turned around.
#pragma once

#include "spruce/transforms/control/body/body_rules.h"
#include "spruce/transforms/derive/tape.h"

namespace spruce::internal {

/// A body at one place: the linear map from tangents of inputs to tangents of outputs. Values are
/// computed once, under the interpreter that is current when it is made.
class BodyDerivative {
 public:
  BodyDerivative(const Graph& body, std::span<const Array> in, const Mask& varies);
  /// One tangent for each output, undefined where zero, from one for each input that varies.
  std::vector<Array> operator()(std::span<const Array> tangents) const;

 private:
  Tape tape_;
  std::vector<Array> outputs_;
};

/// The tangents of the outputs, from those of the inputs; undefined is zero. In forward mode loops
/// stay whole, so that a while_loop needs no bound.
std::vector<Array> body_tangents(const GraphPtr& body, std::span<const Array> in,
                                 std::span<const Array> tangents);

}  // namespace spruce::internal
