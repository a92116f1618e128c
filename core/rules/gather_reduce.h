// SPDX-License-Identifier: Apache-2.0
// A reduction of what a gather reads, such as the sum of the rows of a table at each of some lists
// of indices. Compiling makes it of the two primitives.
#pragma once

#include <string>

#include "spruce/core/rules/gather.h"

namespace spruce {

/// The parameters of both.
struct GatherReduceParams {
  std::string reduction;  ///< the name of the primitive that reduces
  Axes axes;              ///< of the gather's result: those that are reduced, rising
  Axes offset_dims, collapsed_dims, start_index_map, operand_batch_dims,
      indices_batch_dims;  ///< as in GatherParams
  Shape window;            ///< the same
  bool clip = true;        ///< the same
  bool wraps = false;      ///< the same

  /// Those of a reduction of a gather's result over `axes`.
  static GatherReduceParams of(std::string reduction, const Axes& axes, const GatherParams& gather);
  /// Those of the gather.
  GatherParams gather() const;
};

/// gather_reduce(operand, indices): the reduction of the gather.
extern const Primitive gather_reduce_p;

namespace rules {

/// True if its kernel reduces rows as it reads them, where a gather from an operand of that shape
/// has a result of shape `gathered`; else it stores that result on the way.
bool reduces_rows(const GatherParams& gather, const Shape& operand, const Shape& gathered,
                  const Axes& axes);

}  // namespace rules

}  // namespace spruce
