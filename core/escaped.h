// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "spruce/core/array.h"

namespace spruce::internal {

/// Throws TracerError: `who` was given a traced value whose function has ended.
[[noreturn]] void throw_escaped(const std::string& who, const Array& value);

}  // namespace spruce::internal
