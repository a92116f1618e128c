// SPDX-License-Identifier: Apache-2.0
// Which dtypes an elementwise function is written for.
#pragma once

#include <type_traits>

#include "spruce/core/dtype.h"

namespace spruce::scalar {

/// Which dtypes a function is compiled for; the shape rule has refused the others.
enum class Types { kAll, kFloating, kNumeric, kIntegral };  // kIntegral: bool and integers

/// True for the element types among them.
template <Types kTypes, class T>
inline constexpr bool kAccepts = kTypes == Types::kAll ||
                                 (kTypes == Types::kNumeric && !std::is_same_v<T, bool>) ||
                                 (kTypes == Types::kIntegral && std::is_integral_v<T>) ||
                                 (kTypes == Types::kFloating &&
                                  (std::is_floating_point_v<T> || kIsHalf<T>));

}  // namespace spruce::scalar
