// SPDX-License-Identifier: Apache-2.0
// Whole modules as files: arrays and the options of layers.
#pragma once

#include <string>

#include "spruce/nn/initializer.h"
#include "spruce/nn/module_ref.h"

namespace spruce::nn {

/// Options of save_module.
struct SaveModuleOptions {
  /// The preset that the layers of the module began with, `{.init = nn::init::flax_v1}`: its name
  /// is written. A layer does not know it, so without this option the file names none.
  init::LayerInit init = {};
};

/// What a file says beside the module that it is of.
struct ModuleFile {
  std::string init;  ///< the preset that its layers began with, "flax_v1"; "" where it names none
};

/// Writes state_dict() of the module, the options of the layer structs in it (sizes of strides,
/// probabilities, names of nonlinearities: their static fields) and the types of its parts, as
/// .npz where `path` ends so and as .safetensors otherwise. Code is not written: load_module()
/// needs a module of the same classes. Throws IoError, the old file stays whole then; TracerError
/// for traced arrays; ValueError for an `init` without a name, which is no preset.
void save_module(const std::string& path, const ModuleRef& module,
                 const SaveModuleOptions& options = {}, Loc loc = Loc::current());

/// Gives the module, and the layers in it, the arrays and options of a file that save_module() has
/// written: sizes and dtypes too, so that a module made with other ones becomes the one that was
/// written. Throws IoError for a damaged file; TreeError where parts, their types or the names of
/// arrays or options differ, and for a file without options (load_state_dict() reads those); as
/// load_state_dict() for later versions. Changes nothing then.
ModuleFile load_module(const std::string& path, const ModuleRef& module, Loc loc = Loc::current());

}  // namespace spruce::nn
