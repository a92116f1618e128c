// SPDX-License-Identifier: Apache-2.0
// Products of groups of rows or columns.
#pragma once

#include "spruce/core/array.h"

namespace spruce::nn {

/// Products of the parts of two matrices, as of experts that each get some of the rows. `offs` i[g]
/// says where each of g groups ends, in rising order; rows behind the last end belong to none.
///
/// Shapes:  mat_a f[m, k], mat_b f[g, k, n] -> f[m, n]: rows of a by group; zeros where in none
///          mat_a f[g, m, k], mat_b f[k, n] -> f[m, n]: columns of b by group
///          mat_a f[m, k], mat_b f[k, n] -> f[g, m, n]: the contracted axis by group
///          mat_a f[g, m, k], mat_b f[g, k, n] -> f[g, m, n]: without offs
/// Throws:  ShapeError where they do not fit, DtypeError for offs that are no integers, ValueError
///          for offs that are missing or too many.
/// Cost:    g products of the whole size, since ends may be traced.
inline constexpr struct GroupedMmFunction {
  Array operator()(const Array& mat_a, const Array& mat_b, const Array& offs = {},
                   Loc loc = Loc::current()) const;
} grouped_mm{};

}  // namespace spruce::nn
