// SPDX-License-Identifier: Apache-2.0
// Names for messages.
#pragma once

#include <string>
#include <string_view>

namespace spruce::internal {

/// What users call a primitive: "subtract" for "sub"; any other name as it is.
std::string public_name(std::string_view op);

}  // namespace spruce::internal
