// SPDX-License-Identifier: Apache-2.0
// What every path of a file is checked for.
#pragma once

#include <string>

namespace spruce::io::internal {

/// Throws IoError, naming `op`, for a path with a NUL byte: the system would take what stands
/// before it for the whole.
void check_path(const char* op, const std::string& path);

}  // namespace spruce::io::internal
