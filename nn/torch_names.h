// SPDX-License-Identifier: Apache-2.0
// PyTorch's names of recurrent layers: weight_ih_l0 is what stands here in cells.0.weight_ih.
#pragma once

#include <string>

#include "spruce/core/named_arrays.h"

namespace spruce::nn {

/// The names that PyTorch's recurrent layers have for the arrays of cells: cells.{k}.weight_ih is
/// weight_ih_l{k}, and in a bidirectional layer weight_ih_l{k / 2}, with _reverse for odd k. Which it
/// is, is seen from the names that there are.
class TorchNames {
 public:
  /// Refers to `names`, which are those of a state from PyTorch.
  explicit TorchNames(const NamedArrays& names) : names_(names) {}
  /// PyTorch's name of the array with that path: "rnn.weight_ih_l0" of "rnn.cells.0.weight_ih"; the
  /// path itself where it is not that of a cell.
  std::string of(const std::string& path) const;

 private:
  const NamedArrays& names_;
};

}  // namespace spruce::nn
