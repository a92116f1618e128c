// SPDX-License-Identifier: Apache-2.0
// Checkpoints of any format, by the ending of their name.
#pragma once

#include "spruce/core/io/npy.h"
#include "spruce/core/io/safetensors.h"
#include "spruce/nn/torch_file.h"

namespace spruce::nn {

/// The arrays in a checkpoint: .pt, .pth and .bin are PyTorch's own (load_torch), .npz is NumPy's,
/// and anything else .safetensors. net.load_state_dict(nn::load_checkpoint("net.pt")) takes them
/// over. Throws as those.
NamedArrays load_checkpoint(const std::string& path, Loc loc = Loc::current());
/// Writes a checkpoint in the format that the ending says. Throws as save_torch, save_npz and
/// save_safetensors.
void save_checkpoint(const std::string& path, const NamedArrays& arrays, Loc loc = Loc::current());

}  // namespace spruce::nn
