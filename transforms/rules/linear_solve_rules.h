// SPDX-License-Identifier: Apache-2.0
// The primitive of custom_linear_solve.
#pragma once

#include "spruce/core/graph/graph.h"

namespace spruce {

/// linear_solve: x with map(x) = b. The inputs are the constants of the three graphs, which stand
/// first among their inputs, and b.
struct LinearSolveParams {
  GraphPtr map;              ///< its constants and x -> map(x), linear in x
  int64_t map_consts = 0;    ///< how many constants it takes
  GraphPtr solve;            ///< its constants and b -> x
  int64_t solve_consts = 0;  ///< how many constants it takes
  GraphPtr transpose_map;  ///< with the constants of `map`; null where there is no transpose_solve
  GraphPtr transpose_solve;      ///< solves with the transpose of `map`; null where there is none
  int64_t transpose_consts = 0;  ///< how many constants it takes
};

/// The primitive of linear_solve().
extern const Primitive linear_solve_p;

namespace internal {

void jvp_of_linear_solve(const JvpArgs& a);
void transpose_of_linear_solve(const TransposeArgs& a);
void batch_of_linear_solve(const BatchArgs& a);

}  // namespace internal
}  // namespace spruce
