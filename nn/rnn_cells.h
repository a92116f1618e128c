// SPDX-License-Identifier: Apache-2.0
// One step of recurrent layers: RNNCell, LSTMCell, GRUCell.
#pragma once

#include <optional>
#include <string_view>

#include "spruce/core/array.h"
#include "spruce/nn/initializer.h"

namespace spruce::nn {

/// What a plain recurrent cell ends with.
enum class Nonlinearity : uint8_t {
  kTanh,  ///< tanh
  kRelu   ///< max(x, 0)
};

/// Options of RNNCell.
struct RNNCellOptions {
  bool bias = true;                                 ///< whether there are bias_ih and bias_hh
  Nonlinearity nonlinearity = Nonlinearity::kTanh;  ///< what each step ends with
  Dtype dtype = float32;                            ///< of the parameters
  Device* device = nullptr;   ///< where they are made; null: the default device
  init::LayerInit init = {};  ///< how they begin, if not as PyTorch's
};

/// One step of a plain recurrent layer (Elman 1990):
///   h' = tanh(weight_ih x + bias_ih + weight_hh h + bias_hh)
///
/// Parameters: weight_ih f32[hidden, in], weight_hh f32[hidden, hidden], bias_ih and bias_hh
///             f32[hidden].
/// State:      none; the caller carries h.
struct RNNCell {
  /// What is printed: see describe().
  static constexpr std::string_view kExtraRepr =
      "input_size=weight_ih.1 hidden_size=weight_hh.0 bias?bias_ih nonlinearity{tanh,relu}";

  Array weight_ih;                                  ///< f32[hidden, in]
  Array weight_hh;                                  ///< f32[hidden, hidden]
  std::optional<Array> bias_ih = {};                ///< f32[hidden]
  std::optional<Array> bias_hh = {};                ///< f32[hidden]
  Nonlinearity nonlinearity = Nonlinearity::kTanh;  ///< what each step ends with

  /// As LSTMCell::init.
  static RNNCell init(const Key& key, int64_t input_size, int64_t hidden_size,
                      const RNNCellOptions& options = {}, Loc loc = Loc::current());

  /// The size of h.
  int64_t hidden_size() const { return weight_hh.shape(1); }

  /// x f[..., in], h f[..., hidden], zeros where it is undefined -> the next h. Throws ShapeError
  /// where x or h do not fit.
  Array operator()(const Array& x, const Array& h = {}, Loc loc = Loc::current()) const;
};

/// What an LSTM carries from step to step: hidden h and memory c.
struct LSTMState {
  Array h;  ///< hidden: f[..., hidden], or f[..., proj_size] with a projection
  Array c;  ///< memory: f[..., hidden]
};

/// Options of LSTMCell.
struct LSTMCellOptions {
  bool bias = true;           ///< whether there are bias_ih and bias_hh
  Dtype dtype = float32;      ///< of the parameters
  Device* device = nullptr;   ///< where they are made; null: the default device
  init::LayerInit init = {};  ///< how they begin, if not as PyTorch's
};

/// One step of long short-term memory (Hochreiter and Schmidhuber 1997):
///   i, f, g, o = four parts of weight_ih x + bias_ih + weight_hh h + bias_hh
///   c' = sigmoid(f) c + sigmoid(i) tanh(g),  h' = sigmoid(o) tanh(c')
/// With weight_hr, which the cells of an LSTM with proj_size have, h' = weight_hr (sigmoid(o)
/// tanh(c')) (Sak, Senior and Beaufays 2014).
///
/// Parameters: weight_ih f32[4 hidden, in], weight_hh f32[4 hidden, hidden], bias_ih and bias_hh
///             f32[4 hidden].
/// State:      none; the caller carries it.
struct LSTMCell {
  /// What is printed: see describe().
  static constexpr std::string_view kExtraRepr =
      "input_size=weight_ih.1 hidden_size=weight_hh.1 bias?bias_ih";

  Array weight_ih;                      ///< f32[4 hidden, in]
  Array weight_hh;                      ///< f32[4 hidden, hidden], or f32[4 hidden, proj_size]
  std::optional<Array> bias_ih = {};    ///< f32[4 hidden]
  std::optional<Array> bias_hh = {};    ///< f32[4 hidden]
  std::optional<Array> weight_hr = {};  ///< f32[proj_size, hidden]; none without a projection

  /// All uniform in +-1/sqrt(hidden), each from its own of split(key, 4), as PyTorch's default.
  /// Throws ShapeError for negative sizes.
  static LSTMCell init(const Key& key, int64_t input_size, int64_t hidden_size,
                       const LSTMCellOptions& options = {}, Loc loc = Loc::current());

  /// The size of c.
  int64_t hidden_size() const { return weight_hh.shape(0) / 4; }
  /// The size of h, which is that of c but with a projection.
  int64_t output_size() const { return weight_hh.shape(1); }

  /// f[..., in] -> the next state. A state of two undefined arrays stands for zeros. Throws
  /// ShapeError where x or the state do not fit.
  LSTMState operator()(const Array& x, const LSTMState& state = {}, Loc loc = Loc::current()) const;
};

/// Options of GRUCell.
struct GRUCellOptions {
  bool bias = true;           ///< whether there are bias_ih and bias_hh
  Dtype dtype = float32;      ///< of the parameters
  Device* device = nullptr;   ///< where they are made; null: the default device
  init::LayerInit init = {};  ///< how they begin, if not as PyTorch's
};

/// One step of gated recurrent units (Cho et al. 2014), with the reset gate behind the product as
/// in PyTorch. Each of weight_ih x + bias_ih and weight_hh h + bias_hh has three parts, r, z and n:
///   r = sigmoid(r_ih + r_hh),  z = sigmoid(z_ih + z_hh),  n = tanh(n_ih + r n_hh)
///   h' = (1 - z) n + z h
///
/// Parameters: weight_ih f32[3 hidden, in], weight_hh f32[3 hidden, hidden], bias_ih and bias_hh
///             f32[3 hidden].
/// State:      none; the caller carries h.
struct GRUCell {
  /// What is printed: see describe().
  static constexpr std::string_view kExtraRepr =
      "input_size=weight_ih.1 hidden_size=weight_hh.1 bias?bias_ih";

  Array weight_ih;                    ///< f32[3 hidden, in]
  Array weight_hh;                    ///< f32[3 hidden, hidden]
  std::optional<Array> bias_ih = {};  ///< f32[3 hidden]
  std::optional<Array> bias_hh = {};  ///< f32[3 hidden]

  /// As LSTMCell::init.
  static GRUCell init(const Key& key, int64_t input_size, int64_t hidden_size,
                      const GRUCellOptions& options = {}, Loc loc = Loc::current());

  /// The size of h.
  int64_t hidden_size() const { return weight_hh.shape(1); }

  /// x f[..., in], h f[..., hidden], zeros where it is undefined -> the next h. Throws ShapeError
  /// where x or h do not fit.
  Array operator()(const Array& x, const Array& h = {}, Loc loc = Loc::current()) const;
};

}  // namespace spruce::nn
