// SPDX-License-Identifier: Apache-2.0
// Safetensors: named arrays in one file that holds nothing else and runs nothing.
#pragma once

#include <map>
#include <string>

#include "spruce/core/named_arrays.h"

namespace spruce::io {

/// The arrays in a .safetensors file, in the order of its header: bool, i8..i64, u8..u64, f16,
/// bf16, f32, f64. Every size and offset is checked before memory is asked for: a file with gaps,
/// overlaps, names or keys given twice, or bytes that belong to no array is refused; so is one
/// whose bytes do not fit the checksums that save_tree() writes. Throws IoError, with the byte
/// where something is wrong.
NamedArrays load_safetensors(const std::string& path, Loc loc = Loc::current());

/// The texts that a .safetensors file carries beside its arrays. Throws IoError as
/// load_safetensors().
std::map<std::string, std::string> load_safetensors_metadata(const std::string& path,
                                                             Loc loc = Loc::current());

/// Options of save_safetensors.
struct SafetensorsOptions {
  std::map<std::string, std::string> metadata{};  ///< texts to go with the arrays, UTF-8
};
/// Writes arrays as .safetensors: the header in their order, the data by falling size of the
/// elements, so that each array is aligned. The file is replaced as a whole or not at all, whenever
/// the process ends. The same arrays give the same bytes. Throws IoError; ValueError for an
/// undefined array, for names that are no UTF-8 and for the name "__metadata__"; TracerError for a
/// traced array.
void save_safetensors(const std::string& path, const NamedArrays& arrays,
                      const SafetensorsOptions& options = {}, Loc loc = Loc::current());

}  // namespace spruce::io
