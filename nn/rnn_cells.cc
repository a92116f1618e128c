// SPDX-License-Identifier: Apache-2.0
#include "spruce/nn/rnn_cells.h"

#include "spruce/core/op_scope.h"
#include "spruce/nn/init_place.h"
#include "spruce/nn/observe.h"
#include "spruce/nn/recurrence.h"

namespace spruce::nn {
namespace {

// The four parameters that cells of all kinds have, with `gates` parts.
template <class Cell, class Options>
Cell init_cell(const char* op, const Key& key, int64_t gates, int64_t in, int64_t hidden,
               const Options& o) {
  check_shape(op, {hidden});  // so that gates * hidden is a number
  const auto [k_ih, k_hh, k_bias_ih, k_bias_hh] = random::split<4>(key);
  const auto uniform = [&](const init::Initializer& chosen, const Key& k, const Shape& shape) {
    return init::internal::first_value(chosen, k, shape, hidden, o.dtype);
  };
  Cell cell;
  cell.weight_ih = uniform(o.init.weight, k_ih, {gates * hidden, in});
  cell.weight_hh = uniform(o.init.weight, k_hh, {gates * hidden, hidden});
  if (o.bias) {
    cell.bias_ih = uniform(o.init.bias, k_bias_ih, {gates * hidden});
    cell.bias_hh = uniform(o.init.bias, k_bias_hh, {gates * hidden});
  }
  return cell;
}

}  // namespace

RNNCell RNNCell::init(const Key& given, int64_t in, int64_t hidden, const RNNCellOptions& o,
                      Loc loc) {
  const OpScope at("RNNCell::init", loc);
  const internal::InitPlace place(o.device, given);
  const Key& key = place.key();
  auto cell = init_cell<RNNCell>("RNNCell::init", key, 1, in, hidden, o);
  cell.nonlinearity = o.nonlinearity;
  return cell;
}

LSTMCell LSTMCell::init(const Key& given, int64_t in, int64_t hidden, const LSTMCellOptions& o,
                        Loc loc) {
  const OpScope at("LSTMCell::init", loc);
  const internal::InitPlace place(o.device, given);
  const Key& key = place.key();
  return init_cell<LSTMCell>("LSTMCell::init", key, 4, in, hidden, o);
}

GRUCell GRUCell::init(const Key& given, int64_t in, int64_t hidden, const GRUCellOptions& o,
                      Loc loc) {
  const OpScope at("GRUCell::init", loc);
  const internal::InitPlace place(o.device, given);
  const Key& key = place.key();
  return init_cell<GRUCell>("GRUCell::init", key, 3, in, hidden, o);
}

namespace {

// Products of all weights with each row.
template <class Cell>
Array observed_cell(const Cell& cell, const char* type, const Array& h) {
  return internal::observed(cell, type, h, [&] {
    const int64_t rows = h.size() / std::max<int64_t>(h.shape(-1), 1);
    int64_t weights = cell.weight_ih.size() + cell.weight_hh.size();
    if constexpr (requires { cell.weight_hr; })
      weights += cell.weight_hr ? cell.weight_hr->size() : 0;
    return rows * weights;
  });
}

}  // namespace

Array RNNCell::operator()(const Array& x, const Array& h, Loc loc) const {
  const OpScope at("RNNCell", loc);
  return observed_cell(*this, "RNNCell",
                       internal::run_cell("RNNCell", internal::arrays_of(*this), x, {h})[0]);
}

LSTMState LSTMCell::operator()(const Array& x, const LSTMState& state, Loc loc) const {
  const OpScope at("LSTMCell", loc);
  std::vector<Array> next =
      internal::run_cell("LSTMCell", internal::arrays_of(*this), x, {state.h, state.c});
  observed_cell(*this, "LSTMCell", next[0]);
  return {std::move(next[0]), std::move(next[1])};
}

Array GRUCell::operator()(const Array& x, const Array& h, Loc loc) const {
  const OpScope at("GRUCell", loc);
  return observed_cell(*this, "GRUCell",
                       internal::run_cell("GRUCell", internal::arrays_of(*this), x, {h})[0]);
}

}  // namespace spruce::nn
