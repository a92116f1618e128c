// SPDX-License-Identifier: Apache-2.0
// What all that writes files needs of the system.
#pragma once

#include <cstdint>
#include <string>

namespace spruce::io::internal {

/// Throws IoError, naming `op`, for a path with a NUL byte: the system would take what stands
/// before it for the whole.
void check_path(const char* op, const std::string& path);
/// Makes a folder, and those around it, where it is not there. Throws IoError, naming `op`.
void make_folder(const char* op, const std::string& path);
/// Writes all bytes to an open file; false, with errno, where the system does not take them.
bool write_all(int file, const void* data, uint64_t n);

}  // namespace spruce::io::internal
