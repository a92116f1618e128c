// SPDX-License-Identifier: Apache-2.0
// What an error says, for putting it into the message of another.
#pragma once

#include <string>

#include "spruce/core/error.h"

namespace spruce::internal {

/// The message without its last line, that of the user's code, which the other error names itself.
std::string without_place(const Error& e);

}  // namespace spruce::internal
