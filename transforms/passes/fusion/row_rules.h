// SPDX-License-Identifier: Apache-2.0
// Equations that treat the rows of arrays, which are the places along their first axis, one by one.
#pragma once

#include <optional>
#include <vector>

#include "spruce/core/graph/graph.h"

namespace spruce::passes {

/// How an equation reads an input: the rows that it computes, or all of it for any of them.
enum class Read : uint8_t {
  kRows,  ///< the rows that it computes
  kWhole  ///< all of it
};

/// For an equation whose outputs all have `all` rows: how it reads each input. None unless it may
/// compute any `rows` of them, rows > 1 following each other, from the same rows of the inputs that
/// it reads by rows, and gives the same bits.
std::optional<std::vector<Read>> reads_of_rows(const Graph& graph, const Equation& e, int64_t all,
                                               int64_t rows);

/// True for a scatter whose updates and index vectors have `all` rows, and that gives the same bits
/// if the rows are scattered block by block, each into what the blocks before have made.
bool scatters_rows(const Graph& graph, const Equation& e, int64_t all);

/// The parameters with which such an equation computes `rows` rows.
Params params_for_rows(const Equation& e, int64_t rows);

}  // namespace spruce::passes
