// SPDX-License-Identifier: Apache-2.0
// Names of what is there for one, two and three spatial axes.
#pragma once

namespace spruce::nn::internal {

/// The name for kAxes axes: axes_name<2>("Dropout1d", "Dropout2d", "Dropout3d") is "Dropout2d".
template <int kAxes>
constexpr const char* axes_name(const char* one, const char* two, const char* three) {
  static_assert(kAxes >= 1 && kAxes <= 3, "spruce: one, two or three spatial axes");
  return kAxes == 1 ? one : kAxes == 2 ? two : three;
}

}  // namespace spruce::nn::internal
