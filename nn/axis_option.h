// SPDX-License-Identifier: Apache-2.0
// The option that is `axis` here and `dim` in PyTorch.
#pragma once

#include <optional>
#include <string>

#include "spruce/core/axis_arg.h"
#include "spruce/core/error.h"

namespace spruce::nn::internal {

/// The axis that the options of `op` name, by default the last. Throws ValueError where both names
/// are given and differ.
inline Axis axis_option(const char* op, Axis axis, const std::optional<Axis>& dim) {
  if (!dim.has_value()) return axis;
  if (axis != -1 && axis != *dim) {
    throw ValueError(std::string(op) + ": axis is " + std::to_string(axis) + " and dim is " +
                     std::to_string(*dim) + "; they are two names of one option, give one");
  }
  return *dim;
}

}  // namespace spruce::nn::internal
