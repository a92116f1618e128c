// SPDX-License-Identifier: Apache-2.0
// What reductions that are made of other operations share.
#pragma once

#include "spruce/core/rules/shape.h"

namespace spruce::internal {

/// f32 for integers, bool and the 16-bit floats, whose results are rounded once at the end.
inline Array widened(const Array& x) {
  return is_floating(x.dtype()) && !is_half(x.dtype()) ? x : rules::convert(x, Dtype::kFloat32);
}
/// A result in the dtype that it has for elements of `from`.
inline Array narrowed(const Array& y, Dtype from) {
  return is_half(from) ? rules::convert(y, from) : y;
}
/// The elements over the axes as the last axis, the other axes before it.
Array as_rows(const Array& x, const Axes& axes);

}  // namespace spruce::internal
