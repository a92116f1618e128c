// SPDX-License-Identifier: Apache-2.0
#include "spruce/nn/rnn.h"

#include "spruce/core/op_scope.h"
#include "spruce/nn/dropout.h"
#include "spruce/nn/init_place.h"
#include "spruce/nn/observe.h"
#include "spruce/nn/recurrence.h"
#include "spruce/nn/torch_names.h"

namespace spruce::nn {
namespace {

// Cells for all layers and directions; `make(key, inputs)` makes one.
template <class Layer, class Options, class Make>
Layer init_layers(const char* op, const Key& key, int64_t in, int64_t out, const Options& o,
                  const Make& make) {
  internal::check_layers(op, o.num_layers, o.dropout);
  const std::string init = std::string(op) + "::init";
  check_shape(init.c_str(), {out});
  check_shape(init.c_str(), {o.num_layers});
  const int64_t directions = o.bidirectional ? 2 : 1, count = o.num_layers * directions;
  const Key keys = random::split(key, count);
  Layer layer;
  for (int64_t k = 0; k < count; ++k)
    layer.cells.push_back(make(keys[k], k < directions ? in : out * directions));
  layer.batch_first = o.batch_first;
  layer.bidirectional = o.bidirectional;
  layer.dropout = o.dropout;
  return layer;
}

template <class Layer>
internal::SequenceResult run(const char* op, const Layer& layer, const Array& x,
                             std::vector<Array> state, Context& ctx, const SequenceOptions& o) {
  std::vector<internal::CellArrays> cells;
  for (const auto& cell : layer.cells) cells.push_back(internal::arrays_of(cell));
  internal::SequenceResult r = internal::run_cells(
      cells,
      {op, layer.batch_first, layer.bidirectional, o.lengths, o.mask,
       [&](const Array& y) { return internal::dropped(y, layer.dropout, ctx, op, layer); }},
      x, std::move(state));
  internal::observed(layer, op, r.output, [&] { return internal::products(cells, x); });
  return r;
}

// A parameter that there is, and PyTorch's name for it.
template <class A>
struct Named {
  std::string name;
  A* array;
};

template <class A, class Layer>
std::vector<Named<A>> parameters_of(Layer& layer) {
  std::vector<Named<A>> out;
  for (size_t k = 0; k < layer.cells.size(); ++k) {
    auto& cell = layer.cells[k];
    const auto add = [&](const char* name, A* array) {
      if (array != nullptr)
        out.push_back(
            {torch_name("cells." + std::to_string(k) + "." + name, layer.bidirectional), array});
    };
    const auto perhaps = [](auto& array) -> A* { return array ? &*array : nullptr; };
    add("weight_ih", &cell.weight_ih);
    add("weight_hh", &cell.weight_hh);
    add("bias_ih", perhaps(cell.bias_ih));
    add("bias_hh", perhaps(cell.bias_hh));
    if constexpr (requires { cell.weight_hr; }) add("weight_hr", perhaps(cell.weight_hr));
  }
  return out;
}

std::map<std::string, Array> dict_of(const std::vector<Named<const Array>>& parameters) {
  std::map<std::string, Array> out;
  for (const auto& [name, array] : parameters) out.emplace(name, *array);
  return out;
}

// Replaces all of `parameters`.
void load(const char* op, const std::vector<Named<Array>>& parameters,
          const std::map<std::string, Array>& state) {
  const std::string where = std::string(op) + "::load_state_dict: ";
  std::map<std::string, Array> rest = state;
  for (const auto& [name, array] : parameters) {
    const auto at = rest.find(name);
    if (at == rest.end()) {
      throw TreeError(where + "there is no '" + name +
                      "'; the layer has the names of its state_dict()");
    }
    const Array& value = at->second;
    if (!value.defined() || value.shape() != array->shape()) {
      throw ShapeError(where + "'" + name + "' must be f" + to_string(array->shape()) + ", got " +
                       (value.defined() ? to_string(value.aval()) : "an undefined array"));
    }
    *array = value;
    rest.erase(at);
  }
  if (!rest.empty()) throw TreeError(where + "the layer has no '" + rest.begin()->first + "'");
}

}  // namespace

RNN RNN::init(const Key& given, int64_t in, int64_t hidden, const RNNOptions& o, Loc loc) {
  const OpScope at("RNN::init", loc);
  const internal::InitPlace place(o.device, given);
  const Key& key = place.key();
  return init_layers<RNN>("RNN", key, in, hidden, o, [&](const Key& k, int64_t inputs) {
    return RNNCell::init(
        k, inputs, hidden,
        {.bias = o.bias, .nonlinearity = o.nonlinearity, .dtype = o.dtype, .init = o.init});
  });
}

RecurrentResult RNN::operator()(const Array& x, const Array& h, const SequenceOptions& o,
                                Loc loc) const {
  Context evaluation;
  return (*this)(x, h, evaluation, o, loc);
}

RecurrentResult RNN::operator()(const Array& x, const Array& h, Context& ctx,
                                const SequenceOptions& o, Loc loc) const {
  const OpScope at("RNN", loc);
  internal::SequenceResult r = run("RNN", *this, x, {h}, ctx, o);
  return {std::move(r.output), std::move(r.state[0])};
}

std::map<std::string, Array> RNN::state_dict() const {
  return dict_of(parameters_of<const Array>(*this));
}

RNN RNN::load_state_dict(const std::map<std::string, Array>& state, Loc loc) const {
  const LocScope at(loc);
  RNN layer = *this;
  load("RNN", parameters_of<Array>(layer), state);
  return layer;
}

LSTM LSTM::init(const Key& given, int64_t in, int64_t hidden, const LSTMOptions& o, Loc loc) {
  const OpScope at("LSTM::init", loc);
  const internal::InitPlace place(o.device, given);
  const Key& key = place.key();
  if (o.proj_size < 0 || (o.proj_size > 0 && o.proj_size >= hidden)) {
    throw ValueError("LSTM::init: proj_size is " + std::to_string(o.proj_size) +
                     ", it must be from 0, for none, to below hidden_size, which is " +
                     std::to_string(hidden));
  }
  const int64_t out = o.proj_size > 0 ? o.proj_size : hidden;
  return init_layers<LSTM>("LSTM", key, in, out, o, [&](const Key& k, int64_t inputs) {
    LSTMCell cell =
        LSTMCell::init(k, inputs, hidden, {.bias = o.bias, .dtype = o.dtype, .init = o.init});
    if (o.proj_size > 0) {
      const auto uniform = [&](const Key& from, const Shape& shape) {
        return init::internal::first_value(o.init.weight, from, shape, hidden, o.dtype);
      };
      cell.weight_hh = uniform(random::split<4>(k)[1], {4 * hidden, out});
      cell.weight_hr = uniform(random::fold_in(k, 4), {out, hidden});
    }
    return cell;
  });
}

LSTMResult LSTM::operator()(const Array& x, Loc loc) const { return (*this)(x, LSTMState{}, loc); }

LSTMResult LSTM::operator()(const Array& x, const LSTMState& state, Loc loc) const {
  return (*this)(x, state, SequenceOptions{}, loc);
}

LSTMResult LSTM::operator()(const Array& x, const LSTMState& state, const SequenceOptions& o,
                            Loc loc) const {
  Context evaluation;
  return (*this)(x, state, evaluation, o, loc);
}

LSTMResult LSTM::operator()(const Array& x, const LSTMState& state, Context& ctx, Loc loc) const {
  return (*this)(x, state, ctx, SequenceOptions{}, loc);
}

LSTMResult LSTM::operator()(const Array& x, const LSTMState& state, Context& ctx,
                            const SequenceOptions& o, Loc loc) const {
  const OpScope at("LSTM", loc);
  internal::SequenceResult r = run("LSTM", *this, x, {state.h, state.c}, ctx, o);
  return {std::move(r.output), {std::move(r.state[0]), std::move(r.state[1])}};
}

std::map<std::string, Array> LSTM::state_dict() const {
  return dict_of(parameters_of<const Array>(*this));
}

LSTM LSTM::load_state_dict(const std::map<std::string, Array>& state, Loc loc) const {
  const LocScope at(loc);
  LSTM layer = *this;
  load("LSTM", parameters_of<Array>(layer), state);
  return layer;
}

GRU GRU::init(const Key& given, int64_t in, int64_t hidden, const GRUOptions& o, Loc loc) {
  const OpScope at("GRU::init", loc);
  const internal::InitPlace place(o.device, given);
  const Key& key = place.key();
  return init_layers<GRU>("GRU", key, in, hidden, o, [&](const Key& k, int64_t inputs) {
    return GRUCell::init(k, inputs, hidden, {.bias = o.bias, .dtype = o.dtype, .init = o.init});
  });
}

RecurrentResult GRU::operator()(const Array& x, const Array& h, const SequenceOptions& o,
                                Loc loc) const {
  Context evaluation;
  return (*this)(x, h, evaluation, o, loc);
}

RecurrentResult GRU::operator()(const Array& x, const Array& h, Context& ctx,
                                const SequenceOptions& o, Loc loc) const {
  const OpScope at("GRU", loc);
  internal::SequenceResult r = run("GRU", *this, x, {h}, ctx, o);
  return {std::move(r.output), std::move(r.state[0])};
}

std::map<std::string, Array> GRU::state_dict() const {
  return dict_of(parameters_of<const Array>(*this));
}

GRU GRU::load_state_dict(const std::map<std::string, Array>& state, Loc loc) const {
  const LocScope at(loc);
  GRU layer = *this;
  load("GRU", parameters_of<Array>(layer), state);
  return layer;
}

}  // namespace spruce::nn
