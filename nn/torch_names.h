// SPDX-License-Identifier: Apache-2.0
// PyTorch's names of recurrent layers: weight_ih_l0 is what stands here in cells.0.weight_ih.
#pragma once

#include <string>

namespace spruce::nn {

/// PyTorch's name of an array of a recurrent layer: cells.{k}.weight_ih is weight_ih_l{k}, and in a
/// bidirectional layer weight_ih_l{k / 2}, with _reverse for odd k; what stands in front stays. Any
/// other path is its own name.
std::string torch_name(const std::string& path, bool bidirectional);

}  // namespace spruce::nn
