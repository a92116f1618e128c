// SPDX-License-Identifier: Apache-2.0
// Rules of primitives that may compute some of the rows of their outputs, which are the places
// along the first axis, by themselves: in blocks that stay in the cache.
#pragma once

#include <optional>
#include <vector>

#include "spruce/core/primitive.h"

namespace spruce {

class Graph;
struct Equation;

namespace rules {

/// By input; none where rows cannot be computed by themselves.
using RowReads = std::optional<std::vector<RowRead>>;

/// True if the first axis has `all` places.
bool has_rows(const Aval& a, int64_t all);

/// A rule for Primitive::rows: row i of the output is made of row i of each input.
RowReads rows_alike(const RowArgs& a);
/// The same where arrays have more axes than the first, for what works along the last one.
RowReads rows_of_last_axis(const RowArgs& a);
/// A rule for Primitive::row_params: the shape in parameters P has that many rows.
template <class P>
Params shape_of_rows(const Params& params, int64_t rows) {
  P p = params.get<P>();
  p.shape[0] = rows;
  return Params::make(std::move(p));
}

/// For an equation whose outputs all have `all` rows: how it reads each input. None unless it may
/// compute any `rows` of them, rows > 1 following each other, from the same rows of the inputs that
/// it reads by rows, and gives the same bits.
RowReads reads_of_rows(const Graph& graph, const Equation& e, int64_t all, int64_t rows);
/// The parameters with which such an equation computes `rows` rows.
Params params_for_rows(const Equation& e, int64_t rows);

}  // namespace rules
}  // namespace spruce
