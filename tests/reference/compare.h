// SPDX-License-Identifier: Apache-2.0
// Arrays of Spruce beside stored values.
#pragma once

#include <string>

#include "spruce/spruce.h"
#include "tests/reference/cases.h"

namespace reference {

/// How far a result may be from the stored one.
enum class Closeness {
  kExact,     // moved, counted or compared: no rounding at all
  kRelative,  // each element by its own size: elementwise functions without cancellation
  kScaled,    // also by the largest element of the array, up to 1: sums of terms that cancel
};

/// The array of a stored value.
spruce::Array to_array(const Value& value);

/// Empty if `got` has the shape, the kind of dtype and the elements of `want`; else the first
/// difference. Integers of any width and bool compare by value. Floats must have the dtype of
/// `want`.
/// `floor` is an error that any element of an f32 array may have: the rounding of terms that
/// cancel.
std::string difference(const spruce::Array& got, const Value& want, Closeness closeness,
                       double floor = 0);

}  // namespace reference
