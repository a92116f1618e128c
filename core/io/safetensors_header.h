// SPDX-License-Identifier: Apache-2.0
// The header of .safetensors: 8 bytes with its length, then JSON.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "spruce/core/io/source.h"
#include "spruce/core/named_arrays.h"

namespace spruce::io::internal {

struct SafetensorsEntry {
  std::string name;
  Aval aval;
  uint64_t begin = 0;  // in the file
  uint64_t end = 0;
};

struct SafetensorsHeader {
  std::vector<SafetensorsEntry> entries;  // in the order of the header
  std::map<std::string, std::string> metadata;
};

/// Reads and checks all but the data. Throws IoError.
SafetensorsHeader read_safetensors_header(const Source& source);

/// The arrays that the header names. Throws IoError, also where they do not fit the checksums that
/// the file has.
NamedArrays read_safetensors_arrays(const Source& source, const SafetensorsHeader& header);

/// The name of a dtype in the format: "F32".
const char* safetensors_dtype(Dtype dtype);

}  // namespace spruce::io::internal
