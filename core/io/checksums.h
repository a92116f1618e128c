// SPDX-License-Identifier: Apache-2.0
// Checksums in the metadata of .safetensors files, which the format itself does not have: the
// CRC-32 of the bytes of each array under "crc32." and its name, and under "crc32" that of the
// names, types and texts of the header, each in eight hexadecimal digits.
#pragma once

#include <map>
#include <string>

#include "spruce/core/io/safetensors_header.h"

namespace spruce::io::internal {

/// Adds the checksums of a file with these arrays and this metadata. Throws as check_saved().
void add_checksums(const char* op, const NamedArrays& arrays,
                   std::map<std::string, std::string>& metadata);

/// Throws IoError where the header does not fit its checksum. A file without any, of another
/// program or an older version, passes.
void check_header(const Source& source, const SafetensorsHeader& header);
/// Throws IoError, naming the array, where its bytes do not fit their checksum.
void check_data(const Source& source, const SafetensorsHeader& header,
                const SafetensorsEntry& entry, const Array& array);

}  // namespace spruce::io::internal
