// SPDX-License-Identifier: Apache-2.0
// Files of NumPy: one array (.npy) or several (.npz).
#pragma once

#include <string>

#include "spruce/core/named_arrays.h"

namespace spruce::io {

/// The array in a .npy file of version 1, 2 or 3, of either byte order, in C or Fortran order. bf16
/// is what NumPy with the ml_dtypes package writes: elements of the descr 'V2'. Throws IoError,
/// with the byte where something is wrong; for element types that Spruce does not have (complex
/// numbers, text, records, objects) too.
Array load_npy(const std::string& path, Loc loc = Loc::current());

/// Writes one array as .npy. The file is replaced as a whole or not at all, whenever the process
/// ends. Throws IoError, ValueError for an undefined array, TracerError for a traced one.
void save_npy(const std::string& path, const Array& array, Loc loc = Loc::current());

/// The arrays in a .npz file, stored or compressed, in the order of the file; names lose the ending
/// ".npy". Throws IoError for a damaged file, one that is encrypted, or one with other contents
/// than arrays.
NamedArrays load_npz(const std::string& path, Loc loc = Loc::current());

/// Writes arrays as .npz without compression. The same arrays give the same bytes. Otherwise as
/// save_npy.
void save_npz(const std::string& path, const NamedArrays& arrays, Loc loc = Loc::current());

}  // namespace spruce::io
