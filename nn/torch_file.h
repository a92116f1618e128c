// SPDX-License-Identifier: Apache-2.0
// PyTorch's own files, .pt and .pth: read without running anything in them, and written.
#pragma once

#include <string>

#include "spruce/core/named_arrays.h"

namespace spruce::nn {

/// The tensors in a file of torch.save (PyTorch 1.6 and later): a state_dict, or any dicts, lists
/// and tuples that hold tensors, whose keys and places from 0 are joined by dots: of {"model":
/// state_dict, "epoch": 3} it gives "model.fc.weight" and so on. What is no tensor is left out; a
/// tensor by itself has the name "". Storages that several tensors share are read once.
///
/// The pickle in the file is read by an interpreter of the opcodes that tensors need; nothing in it
/// is imported or called. Throws IoError, with the byte, for files that are damaged, hold whole
/// modules or other objects (save state_dict() there), have dtypes that Spruce lacks (complex
/// numbers), or claim more than they hold.
NamedArrays load_torch(const std::string& path, Loc loc = Loc::current());

/// Writes arrays as a dict that torch.load reads, also with weights_only. Arrays that share their
/// memory, such as tied weights, share it there. The file is replaced as a whole or not at all.
/// Throws IoError; ValueError for an undefined array, TracerError for a traced one.
void save_torch(const std::string& path, const NamedArrays& arrays, Loc loc = Loc::current());

}  // namespace spruce::nn
