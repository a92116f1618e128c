// SPDX-License-Identifier: Apache-2.0
// Rows of one array added to rows of another, such as the sum over the edges of a graph of what
// their sources hold. Compiling makes it of a scatter_add whose updates are gathered or repeated.
#pragma once

#include "spruce/core/rules/gather.h"

namespace spruce {

/// What the scatter and the gather of scatter_add_rows do beside naming rows.
struct ScatterAddRowsParams {
  /// An index outside of the operand: moved to its nearest row; else its row is left out.
  bool clip = true;
  bool wraps = false;        ///< a negative index counts from the end
  bool places_wrap = false;  ///< the same of the places

  /// The parameters of the scatter, `indices` being the shape of either index array.
  GatherParams scatter(const Shape& operand, const Shape& indices) const;
  /// Those of the gather, which moves indices to the nearest row.
  GatherParams gather(const Shape& source, const Shape& indices) const;
  /// The shape of the updates.
  Shape updates(const Shape& operand, const Shape& indices) const;
};

/// scatter_add_rows(operand[n, row...], indices i[positions..., 1], source[m, row...],
/// places i[positions..., 1]): the operand with row places[k] of the source added to row
/// indices[k], for each position k in turn.
extern const Primitive scatter_add_rows_p;

}  // namespace spruce
