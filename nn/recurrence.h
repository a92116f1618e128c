// SPDX-License-Identifier: Apache-2.0
// What RNN, LSTM and GRU have in common: a step of each kind of cell, and layers of cells over a
// sequence.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "spruce/nn/context.h"
#include "spruce/nn/rnn_cells.h"

namespace spruce::nn::internal {

/// The kinds of cells.
enum class CellKind : uint8_t { kTanh, kRelu, kLstm, kGru };

/// The parameters of a cell of any kind; undefined where it has none.
struct CellArrays {
  CellKind kind;
  Array weight_ih, weight_hh, bias_ih, bias_hh, weight_hr;

  /// The sizes of what it carries: {h} or {h, c}.
  std::vector<int64_t> state_sizes() const;
};
CellArrays arrays_of(const RNNCell& cell);
CellArrays arrays_of(const LSTMCell& cell);
CellArrays arrays_of(const GRUCell& cell);

/// One step of `op`: x f[..., in] and the state f[..., size] for each of state_sizes(), all
/// undefined for zeros. Returns the next state.
std::vector<Array> run_cell(const char* op, const CellArrays& cell, const Array& x,
                            std::vector<Array> state);

/// How cells run over a sequence.
struct SequenceConfig {
  const char* op;
  bool batch_first, bidirectional;
  Array lengths, mask;                         ///< as in SequenceOptions
  std::function<Array(const Array&)> dropped;  ///< the output of a layer as the next one takes it
};
struct SequenceResult {
  Array output;
  std::vector<Array> state;
};
/// Cells layer by layer, forward before backward. `state` has an array f[cells, n, size] for each
/// of state_sizes(), all undefined for zeros.
SequenceResult run_cells(const std::vector<CellArrays>& cells, const SequenceConfig& config,
                         const Array& x, std::vector<Array> state);

/// The multiply-adds of all cells over x.
int64_t products(const std::vector<CellArrays>& cells, const Array& x);

/// Throws ValueError for no layers, ShapeError for sizes below 1, ValueError for a dropout outside
/// of 0..1.
void check_layers(const char* op, int64_t num_layers, float dropout);

}  // namespace spruce::nn::internal
