// SPDX-License-Identifier: Apache-2.0
#include "spruce/nn/rnn.h"

#include "spruce/core/op_scope.h"
#include "spruce/core/ops/create.h"
#include "spruce/core/ops/function.h"
#include "spruce/core/ops/index.h"
#include "spruce/core/ops/join.h"
#include "spruce/core/ops/math.h"
#include "spruce/core/ops/shape.h"
#include "spruce/core/ranges.h"
#include "spruce/nn/activations.h"
#include "spruce/nn/dropout.h"
#include "spruce/nn/init.h"
#include "spruce/nn/linear.h"
#include "spruce/transforms/control/scan.h"

namespace spruce::nn {
namespace {

void check_state(const char* op, const LSTMState& state, const Shape& shape) {
  for (const Array* a : {&state.h, &state.c}) {
    if (!a->defined() || a->shape() != shape) {
      throw ShapeError(std::string(op) + ": the state must be f" + to_string(shape) + ", got " +
                       (a->defined() ? to_string(a->aval()) : "an undefined array"));
    }
  }
}

// The part of the gates that does not depend on the state: f[..., in] -> f[..., 4 hidden].
Array project(const LSTMCell& cell, const Array& x) {
  Array bias;
  if (cell.bias_ih && cell.bias_hh) bias = *cell.bias_ih + *cell.bias_hh;
  return linear(x, cell.weight_ih, bias);
}

LSTMState advance(const Array& projected, const Array& weight_hh, const LSTMState& state) {
  const std::vector<Array> gates = split(projected + linear(state.h, weight_hh), 4, -1);
  const Array c = sigmoid(gates[1]) * state.c + sigmoid(gates[0]) * tanh(gates[2]);
  return {sigmoid(gates[3]) * tanh(c), c};
}

}  // namespace

LSTMCell LSTMCell::init(const Key& key, int64_t in, int64_t hidden, const LSTMCellOptions& o,
                        Loc loc) {
  const OpScope at("LSTMCell::init", loc);
  const auto [k_ih, k_hh, k_bias_ih, k_bias_hh] = random::split<4>(key);
  LSTMCell cell;
  cell.weight_ih = init::uniform_fan_in(k_ih, {4 * hidden, in}, hidden, o.dtype);
  cell.weight_hh = init::uniform_fan_in(k_hh, {4 * hidden, hidden}, hidden, o.dtype);
  if (o.bias) {
    cell.bias_ih = init::uniform_fan_in(k_bias_ih, {4 * hidden}, hidden, o.dtype);
    cell.bias_hh = init::uniform_fan_in(k_bias_hh, {4 * hidden}, hidden, o.dtype);
  }
  return cell;
}

LSTMState LSTMCell::operator()(const Array& x, const LSTMState& state, Loc loc) const {
  const OpScope at("LSTMCell", loc);
  spruce::internal::require_defined("LSTMCell", "x", x, "weight_ih", weight_ih, "weight_hh",
                                    weight_hh);
  const Array projected = project(*this, x);
  Shape shape = x.shape();
  shape[x.rank() - 1] = hidden_size();
  check_state("LSTMCell", state, shape);
  return advance(projected, weight_hh, state);
}

LSTM LSTM::init(const Key& key, int64_t in, int64_t hidden, const LSTMOptions& o, Loc loc) {
  const OpScope at("LSTM::init", loc);
  if (o.num_layers < 1) {
    throw ValueError("LSTM: num_layers is " + std::to_string(o.num_layers) +
                     ", there must be at least one");
  }
  spruce::internal::check_range("LSTM::init", "dropout", o.dropout,
                                spruce::internal::Range::kShare);
  const int64_t directions = o.bidirectional ? 2 : 1, count = o.num_layers * directions;
  const Key keys = random::split(key, count);
  LSTM layer;
  for (int64_t k = 0; k < count; ++k) {
    const int64_t inputs = k < directions ? in : hidden * directions;
    layer.cells.push_back(
        LSTMCell::init(keys[k], inputs, hidden, {.bias = o.bias, .dtype = o.dtype}));
  }
  layer.batch_first = o.batch_first;
  layer.bidirectional = o.bidirectional;
  layer.dropout = o.dropout;
  return layer;
}

LSTMResult LSTM::operator()(const Array& x, Loc loc) const {
  const OpScope at("LSTM", loc);
  if (cells.empty()) throw ValueError("LSTM: there are no cells; make them with LSTM::init");
  const auto count = static_cast<int64_t>(cells.size()), hidden = cells[0].hidden_size();
  Shape shape{count, hidden};
  if (x.rank() == 3) shape = {count, x.shape(batch_first ? 0 : 1), hidden};
  const Array start = zeros(shape, x.dtype());
  return (*this)(x, {start, start}, loc);
}

LSTMResult LSTM::operator()(const Array& x, const LSTMState& state, Loc loc) const {
  Context evaluation;
  return (*this)(x, state, evaluation, loc);
}

LSTMResult LSTM::operator()(const Array& x, const LSTMState& state, Context& ctx, Loc loc) const {
  const OpScope at("LSTM", loc);
  if (x.rank() != 2 && x.rank() != 3) {
    throw ShapeError(std::string("LSTM: takes ") + (batch_first ? "f[n, t, in]" : "f[t, n, in]") +
                     " or f[t, in], got " + to_string(x.aval()));
  }
  const bool swapped = batch_first && x.rank() == 3;
  Array sequence = swapped ? swapaxes(x, 0, 1) : x;
  Shape shape{static_cast<int64_t>(cells.size())};
  for (int i = 1; i + 1 < x.rank(); ++i) shape.push_back(sequence.shape(i));
  shape.push_back(cells.empty() ? 0 : cells[0].hidden_size());
  check_state("LSTM", state, shape);

  const size_t directions = bidirectional ? 2 : 1;
  std::vector<Array> last_h, last_c;
  for (size_t k = 0; k < cells.size(); k += directions) {
    if (k > 0 && ctx.training && dropout != 0)
      sequence = nn::dropout(sequence, {.p = dropout, .key = ctx.next_key("LSTM")});
    std::vector<Array> outputs;
    for (size_t d = 0; d < directions; ++d) {
      const LSTMCell& cell = cells[k + d];
      const auto at_cell = static_cast<int64_t>(k + d);
      const auto step = [&](const LSTMState& s, const Array& projected) {
        const LSTMState next = advance(projected, cell.weight_hh, s);
        return std::pair{next, next.h};
      };
      // The inputs of all steps are projected by one product, outside of the loop.
      const auto [end, all] = scan(step, LSTMState{state.h[at_cell], state.c[at_cell]},
                                   project(cell, sequence), {.reverse = d == 1});
      outputs.push_back(all);
      last_h.push_back(end.h);
      last_c.push_back(end.c);
    }
    sequence = directions == 1 ? outputs[0] : concatenate(outputs, -1);
  }
  return {swapped ? swapaxes(sequence, 0, 1) : sequence, {stack(last_h), stack(last_c)}};
}

}  // namespace spruce::nn
