// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/escaped.h"

namespace spruce::internal {

void throw_escaped(const std::string& who, const Array& value) {
  throw TracerError(who + ": " + value.impl()->describe() + " of type " + to_string(value.aval()) +
                    " is used outside of the function that it was traced in, or on another thread; "
                    "return it from that function (or hand it on as a second result) instead of "
                    "storing it elsewhere");
}

}  // namespace spruce::internal
