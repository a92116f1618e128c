// SPDX-License-Identifier: Apache-2.0
// Whole modules as files: arrays and the options of layers.
#pragma once

#include <string>

#include "spruce/nn/module_ref.h"

namespace spruce::nn {

/// Writes state_dict() of the module, the options of the layer structs in it (sizes of strides,
/// probabilities, names of nonlinearities: their static fields) and the types of its parts, as
/// .npz where `path` ends so and as .safetensors otherwise. Code is not written: load_module()
/// needs a module of the same classes. Throws IoError, the old file stays whole then; TracerError
/// for traced arrays.
void save_module(const std::string& path, const ModuleRef& module, Loc loc = Loc::current());

/// Gives the module, and the layers in it, the arrays and options of a file that save_module() has
/// written: sizes and dtypes too, so that a module made with other ones becomes the one that was
/// written. Throws IoError for a damaged file; TreeError where parts, their types or the names of
/// arrays or options differ, and for a file without options (load_state_dict() reads those); as
/// load_state_dict() for later versions. Changes nothing then.
void load_module(const std::string& path, const ModuleRef& module, Loc loc = Loc::current());

}  // namespace spruce::nn
