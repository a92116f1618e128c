// SPDX-License-Identifier: Apache-2.0
// What messages add where a layer was made of numbers, as Linear{784, 10} is.
#pragma once

#include <optional>
#include <string>

#include "spruce/core/array.h"
#include "spruce/core/error.h"

namespace spruce::nn::internal {

/// The next step for a weight that is a C++ number; empty for any other. `layer` is "Linear".
inline std::string init_hint(const Array& weight, const std::string& layer) {
  if (!weight.weak()) return {};
  return "; the weight is a number: a layer is made by " + layer +
         "::init(key, ...), braces or parentheses only fill its fields";
}

/// Throws ValueError for a layer whose weight, which may be undefined, is a C++ number.
inline void require_made(const char* layer, const Array& weight) {
  if (weight.defined() && weight.weak())
    throw ValueError(std::string(layer) + ": weight is " + to_string(weight.aval()) +
                     init_hint(weight, layer));
}
inline void require_made(const char* layer, const std::optional<Array>& weight) {
  if (weight) require_made(layer, *weight);
}

}  // namespace spruce::nn::internal
