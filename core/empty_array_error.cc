// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/empty_array_error.h"

#include "spruce/core/error_text.h"

namespace spruce::internal {

EmptyArrayError::EmptyArrayError(const EmptyArrayError& e, const std::string& op,
                                 const std::string& leaves)
    : ValueError(e), names_leaves_(true) {
  const std::string all = e.what(), message = without_place(e);
  text_ =
      message + "; empty among the arguments of " + op + ": " + leaves + all.substr(message.size());
}

void throw_undefined(const std::string& op, const std::string& argument) {
  throw EmptyArrayError(op + ": this Array is empty, the argument " + argument +
                        " (default-constructed, or moved from); give it a value before it is used");
}

}  // namespace spruce::internal
