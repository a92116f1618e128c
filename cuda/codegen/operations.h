// SPDX-License-Identifier: Apache-2.0
// The scalar expression of each elementwise primitive, as text over the functions of the prelude.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "spruce/core/primitive.h"

namespace spruce::cuda {

/// One application.
struct Operation {
  const Primitive& primitive;              ///< what is applied
  const Params& params;                    ///< of it
  std::span<const Dtype> in;               ///< dtypes of the inputs
  Dtype out;                               ///< that of the output
  std::span<const std::string> arguments;  ///< the inputs, computed values
};

/// The result as an expression of the type that `out` is computed in, rounded to `out`; nothing for
/// a primitive that is no elementwise one.
std::optional<std::string> operation_text(const Operation& o);

/// True for primitives that operation_text() knows. They broadcast their inputs.
bool has_operation(const Primitive& primitive);

}  // namespace spruce::cuda
