// SPDX-License-Identifier: Apache-2.0
// Recurrent layers over sequences: RNN, LSTM, GRU.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "spruce/nn/context.h"
#include "spruce/nn/rnn_cells.h"

namespace spruce::nn {

/// Which steps of the sequences of a batch count, where they have different lengths: lengths or a
/// mask, not both. The results are those of PyTorch's pack_padded_sequence: at the other steps the
/// output is zero and the state stays, whatever x holds there, NaN too; a cell that goes backward
/// begins at the last step that counts. The order of the batch is free.
struct SequenceOptions {
  Array lengths = {};  ///< integers [n] ([] for a sequence without n): the first so many steps
  Array mask = {};  ///< bool [t, n], [n, t] with batch_first, [t] without n: true where one counts
};

/// All that a run of an RNN or a GRU gives.
struct RecurrentResult {
  Array output;  ///< f[t, n, hidden], or twice as wide if bidirectional: h of the last layer
  Array state;   ///< f[cells, n, hidden]: h after the last step of each cell
};

/// All that a run of an LSTM gives.
struct LSTMResult {
  Array output;     ///< f[t, n, hidden], or twice as wide if bidirectional: h of the last layer
  LSTMState state;  ///< f[cells, n, hidden]: after the last step of each cell
};

/// Options of RNN.
struct RNNOptions {
  int64_t num_layers = 1;                           ///< each takes the output of the one before
  Nonlinearity nonlinearity = Nonlinearity::kTanh;  ///< what each step ends with
  bool bias = true;                                 ///< whether the cells have some
  bool batch_first = false;                         ///< f[n, t, in] in place of f[t, n, in]
  float dropout = 0;           ///< of the output of each layer but the last, in training
  bool bidirectional = false;  ///< a second cell of each layer goes from the end to the beginning
  Dtype dtype = float32;       ///< of the parameters
  Device* device = nullptr;    ///< where they are made; null: the default device
  init::LayerInit init = {};   ///< how they begin, if not as PyTorch's
};

/// RNNCells over a sequence f[t, n, in], or f[t, in] without n; with batch_first n comes first.
///
/// Parameters: cells, layer by layer, forward before backward; state_dict() has PyTorch's names.
struct RNN {
  std::vector<RNNCell> cells;  ///< layer by layer
  bool batch_first = false;    ///< f[n, t, in] in place of f[t, n, in]
  bool bidirectional = false;  ///< two cells in each layer
  float dropout = 0;           ///< of the output of each layer but the last, in training

  /// Cell k from the k-th of split(key, number of cells). Throws ValueError without layers and for
  /// a dropout outside of 0..1.
  static RNN init(const Key& key, int64_t input_size, int64_t hidden_size,
                  const RNNOptions& options = {}, Loc loc = Loc::current());

  /// Evaluation mode. `h` is f[cells, n, hidden], f[cells, hidden] for a sequence without n;
  /// undefined for zeros. Throws ShapeError where x, h, lengths or mask do not fit, DtypeError for
  /// lengths that are no integers and a mask that is not bool, ValueError without cells, for
  /// lengths together with a mask, and for known lengths outside of 0..t.
  RecurrentResult operator()(const Array& x, const Array& h = {},
                             const SequenceOptions& options = {}, Loc loc = Loc::current()) const;
  /// In training the context gives the keys for dropout.
  RecurrentResult operator()(const Array& x, const Array& h, Context& ctx,
                             const SequenceOptions& options = {}, Loc loc = Loc::current()) const;

  /// The parameters under PyTorch's names: weight_ih_l0, bias_hh_l1_reverse.
  std::map<std::string, Array> state_dict() const;
  /// A copy with these parameters. Throws TreeError for names that are missing or too many,
  /// ShapeError for an array of another shape.
  RNN load_state_dict(const std::map<std::string, Array>& state, Loc loc = Loc::current()) const;
};

/// Options of LSTM.
struct LSTMOptions {
  int64_t num_layers = 1;      ///< each takes the output of the one before
  bool bias = true;            ///< whether the cells have some
  bool batch_first = false;    ///< f[n, t, in] in place of f[t, n, in]
  float dropout = 0;           ///< of the output of each layer but the last, in training
  bool bidirectional = false;  ///< a second cell of each layer goes from the end to the beginning
  Dtype dtype = float32;       ///< of the parameters
  Device* device = nullptr;    ///< where they are made; null: the default device
  int64_t proj_size = 0;       ///< size to which h is projected; 0: none
  init::LayerInit init = {};   ///< how they begin, if not as PyTorch's
};

/// LSTM cells over a sequence f[t, n, in], or f[t, in] without n; with batch_first n comes first.
///
/// Parameters: cells, layer by layer, forward before backward; state_dict() has PyTorch's names.
struct LSTM {
  std::vector<LSTMCell> cells;  ///< layer by layer
  bool batch_first = false;     ///< f[n, t, in] in place of f[t, n, in]
  bool bidirectional = false;   ///< two cells in each layer
  float dropout = 0;            ///< of the output of each layer but the last, in training

  /// Cell k from the k-th of split(key, number of cells), its weight_hr from fold_in(that, 4).
  /// Throws ValueError without layers, for a dropout outside of 0..1, and for a proj_size that is
  /// negative or not below hidden_size.
  static LSTM init(const Key& key, int64_t input_size, int64_t hidden_size,
                   const LSTMOptions& options = {}, Loc loc = Loc::current());

  /// Evaluation mode, from a state of zeros.
  LSTMResult operator()(const Array& x, Loc loc = Loc::current()) const;
  /// From a state f[cells, n, hidden]; f[cells, hidden] for a sequence without n. A state of two
  /// undefined arrays stands for zeros. Throws as RNN.
  LSTMResult operator()(const Array& x, const LSTMState& state, Loc loc = Loc::current()) const;
  /// For sequences of different lengths.
  LSTMResult operator()(const Array& x, const LSTMState& state, const SequenceOptions& options,
                        Loc loc = Loc::current()) const;
  /// In training the context gives the keys for dropout.
  LSTMResult operator()(const Array& x, const LSTMState& state, Context& ctx,
                        Loc loc = Loc::current()) const;
  /// Both.
  LSTMResult operator()(const Array& x, const LSTMState& state, Context& ctx,
                        const SequenceOptions& options, Loc loc = Loc::current()) const;

  /// The parameters under PyTorch's names: weight_ih_l0, weight_hr_l1_reverse.
  std::map<std::string, Array> state_dict() const;
  /// As RNN::load_state_dict.
  LSTM load_state_dict(const std::map<std::string, Array>& state, Loc loc = Loc::current()) const;
};

/// Options of GRU.
struct GRUOptions {
  int64_t num_layers = 1;      ///< each takes the output of the one before
  bool bias = true;            ///< whether the cells have some
  bool batch_first = false;    ///< f[n, t, in] in place of f[t, n, in]
  float dropout = 0;           ///< of the output of each layer but the last, in training
  bool bidirectional = false;  ///< a second cell of each layer goes from the end to the beginning
  Dtype dtype = float32;       ///< of the parameters
  Device* device = nullptr;    ///< where they are made; null: the default device
  init::LayerInit init = {};   ///< how they begin, if not as PyTorch's
};

/// GRU cells over a sequence f[t, n, in], or f[t, in] without n; with batch_first n comes first.
///
/// Parameters: cells, layer by layer, forward before backward; state_dict() has PyTorch's names.
struct GRU {
  std::vector<GRUCell> cells;  ///< layer by layer
  bool batch_first = false;    ///< f[n, t, in] in place of f[t, n, in]
  bool bidirectional = false;  ///< two cells in each layer
  float dropout = 0;           ///< of the output of each layer but the last, in training

  /// As RNN::init.
  static GRU init(const Key& key, int64_t input_size, int64_t hidden_size,
                  const GRUOptions& options = {}, Loc loc = Loc::current());

  /// Evaluation mode. Arguments and errors as of RNN.
  RecurrentResult operator()(const Array& x, const Array& h = {},
                             const SequenceOptions& options = {}, Loc loc = Loc::current()) const;
  /// In training the context gives the keys for dropout.
  RecurrentResult operator()(const Array& x, const Array& h, Context& ctx,
                             const SequenceOptions& options = {}, Loc loc = Loc::current()) const;

  /// The parameters under PyTorch's names: weight_ih_l0, bias_hh_l1_reverse.
  std::map<std::string, Array> state_dict() const;
  /// As RNN::load_state_dict.
  GRU load_state_dict(const std::map<std::string, Array>& state, Loc loc = Loc::current()) const;
};

}  // namespace spruce::nn
