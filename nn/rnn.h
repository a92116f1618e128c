// SPDX-License-Identifier: Apache-2.0
// Recurrent layers: long short-term memory.
#pragma once

#include <optional>
#include <vector>

#include "spruce/nn/context.h"

namespace spruce::nn {

/// What an LSTM carries from step to step: hidden h and memory c, f[..., hidden] both.
struct LSTMState {
  Array h;  ///< hidden
  Array c;  ///< memory
};

/// Options of LSTMCell.
struct LSTMCellOptions {
  bool bias = true;       ///< whether there are bias_ih and bias_hh
  Dtype dtype = float32;  ///< of the parameters
};

/// One step of long short-term memory (Hochreiter and Schmidhuber 1997):
///   i, f, g, o = four parts of weight_ih x + bias_ih + weight_hh h + bias_hh
///   c' = sigmoid(f) c + sigmoid(i) tanh(g),  h' = sigmoid(o) tanh(c')
///
/// Parameters: weight_ih f32[4 hidden, in], weight_hh f32[4 hidden, hidden], bias_ih and bias_hh
///             f32[4 hidden].
/// State:      none; the caller carries it.
struct LSTMCell {
  Array weight_ih;               ///< f32[4 hidden, in]
  Array weight_hh;               ///< f32[4 hidden, hidden]
  std::optional<Array> bias_ih;  ///< f32[4 hidden]
  std::optional<Array> bias_hh;  ///< f32[4 hidden]

  /// All uniform in +-1/sqrt(hidden), each from its own of split(key, 4), as PyTorch's default.
  static LSTMCell init(const Key& key, int64_t input_size, int64_t hidden_size,
                       const LSTMCellOptions& options = {}, Loc loc = Loc::current());

  /// The size of h and c.
  int64_t hidden_size() const { return weight_hh.shape(1); }

  /// f[..., in] -> the next state. Throws ShapeError where x or the state do not fit.
  LSTMState operator()(const Array& x, const LSTMState& state, Loc loc = Loc::current()) const;
};

/// Options of LSTM.
struct LSTMOptions {
  int64_t num_layers = 1;      ///< each takes the output of the one before
  bool bias = true;            ///< whether the cells have some
  bool batch_first = false;    ///< f[n, t, in] in place of f[t, n, in]
  float dropout = 0;           ///< of the output of each layer but the last, in training
  bool bidirectional = false;  ///< a second cell of each layer goes from the end to the beginning
  Dtype dtype = float32;       ///< of the parameters
};

/// All that a run of an LSTM gives.
struct LSTMResult {
  Array output;     ///< f[t, n, hidden], or twice as wide if bidirectional: h of the last layer
  LSTMState state;  ///< f[cells, n, hidden]: after the last step of each cell
};

/// LSTM cells over a sequence f[t, n, in], or f[t, in] without n; with batch_first n comes first.
///
/// Parameters: cells, layer by layer, forward before backward. PyTorch's names of the parameters of
///             cells[k] are weight_ih_l{layer}, with _reverse where it goes backward, and so on.
struct LSTM {
  std::vector<LSTMCell> cells;  ///< layer by layer
  bool batch_first = false;     ///< f[n, t, in] in place of f[t, n, in]
  bool bidirectional = false;   ///< two cells in each layer
  float dropout = 0;            ///< of the output of each layer but the last, in training

  /// Cell k from the k-th of split(key, number of cells). Throws ValueError without layers and for
  /// a dropout outside of 0..1.
  static LSTM init(const Key& key, int64_t input_size, int64_t hidden_size,
                   const LSTMOptions& options = {}, Loc loc = Loc::current());

  /// Evaluation mode, from a state of zeros.
  LSTMResult operator()(const Array& x, Loc loc = Loc::current()) const;
  /// From a state f[cells, n, hidden]; f[cells, hidden] for a sequence without n.
  LSTMResult operator()(const Array& x, const LSTMState& state, Loc loc = Loc::current()) const;
  /// In training the context gives the keys for dropout.
  LSTMResult operator()(const Array& x, const LSTMState& state, Context& ctx,
                        Loc loc = Loc::current()) const;
};

}  // namespace spruce::nn
