// SPDX-License-Identifier: Apache-2.0
// Grey of colours, as Pillow has it.
#pragma once

#include <array>

namespace spruce::data::internal {

/// The shares of red, green and blue in grey (ITU-R BT.601).
inline constexpr std::array<double, 3> kGreyOf{0.299, 0.587, 0.114};

}  // namespace spruce::data::internal
