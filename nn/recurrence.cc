// SPDX-License-Identifier: Apache-2.0
#include "spruce/nn/recurrence.h"

#include "spruce/core/op_scope.h"
#include "spruce/core/ops/compare.h"
#include "spruce/core/ops/create.h"
#include "spruce/core/ops/function.h"
#include "spruce/core/ops/index.h"
#include "spruce/core/ops/join.h"
#include "spruce/core/ops/math.h"
#include "spruce/core/ops/shape.h"
#include "spruce/core/ranges.h"
#include "spruce/nn/activations.h"
#include "spruce/nn/array_loop.h"
#include "spruce/nn/init_hint.h"
#include "spruce/nn/known_indices.h"
#include "spruce/nn/linear.h"

namespace spruce::nn::internal {
namespace {

// What a step needs besides the state and the projected input.
struct StepArrays {
  CellKind kind;
  Array weight_hh, weight_hr;
  Array bias_n;  // of the part n of a GRU, which the reset gate scales
};

// All of the gates that does not depend on the state, f[..., in] -> f[..., gates * hidden], with
// the biases that can be added before the state is known.
Array project(const CellArrays& cell, const Array& x, StepArrays& step) {
  Array late = cell.bias_hh;
  if (cell.kind == CellKind::kGru && late.defined()) {
    const int64_t hidden = cell.state_sizes()[0];
    if (late.shape() != Shape{3 * hidden}) {
      throw ShapeError("GRU: bias_hh must be f[" + std::to_string(3 * hidden) + "], got " +
                       to_string(late.aval()));
    }
    step.bias_n = late[slice(2 * hidden, none)];
    late = concatenate({late[slice(2 * hidden)], zeros({hidden}, late.dtype())});
  }
  Array bias = cell.bias_ih;
  if (late.defined()) bias = bias.defined() ? bias + late : late;
  return linear(x, cell.weight_ih, bias);
}

std::vector<Array> advance(const StepArrays& cell, const Array& projected,
                           std::span<const Array> state) {
  const Array &h = state[0], recurrent = linear(h, cell.weight_hh);
  if (cell.kind == CellKind::kTanh) return {tanh(projected + recurrent)};
  if (cell.kind == CellKind::kRelu) return {relu(projected + recurrent)};
  if (cell.kind == CellKind::kLstm) {
    const std::vector<Array> gates = split(projected + recurrent, 4, -1);
    const Array c = sigmoid(gates[1]) * state[1] + sigmoid(gates[0]) * tanh(gates[2]);
    const Array out = sigmoid(gates[3]) * tanh(c);
    return {cell.weight_hr.defined() ? linear(out, cell.weight_hr) : out, c};
  }
  const std::vector<Array> from_x = split(projected, 3, -1), from_h = split(recurrent, 3, -1);
  const Array r = sigmoid(from_x[0] + from_h[0]), z = sigmoid(from_x[1] + from_h[1]);
  const Array late = cell.bias_n.defined() ? from_h[2] + cell.bias_n : from_h[2];
  const Array n = tanh(from_x[2] + r * late);
  return {n + z * (h - n)};
}

StepArrays step_of(const CellArrays& cell) {
  return {cell.kind, cell.weight_hh, cell.weight_hr, {}};
}

// Zeros where all of the state is undefined, in the dtype to which x, the weights and a given state
// promote: a loop keeps it. `lead` are the axes in front of the sizes.
void complete_state(const char* op, const CellArrays& cell, const Shape& lead, const Array& x,
                    std::vector<Array>& state) {
  const std::vector<int64_t> sizes = cell.state_sizes();
  Dtype dtype = promote(x.dtype(), cell.weight_ih.dtype());
  bool none_defined = true;
  for (const Array& a : state) none_defined = none_defined && !a.defined();
  for (size_t i = 0; i < state.size(); ++i) {
    Shape shape = lead;
    shape.push_back(sizes[i]);
    Array& a = state[i];
    if (none_defined) a = zeros(shape, dtype);
    if (!a.defined() || a.shape() != shape) {
      const char* name = state.size() == 1 ? "" : i == 0 ? "h of " : "c of ";
      throw ShapeError(std::string(op) + ": " + name + "the state must be f" + to_string(shape) +
                       ", got " + (a.defined() ? to_string(a.aval()) : "an undefined array"));
    }
    dtype = promote(dtype, a.dtype());
  }
  for (Array& a : state) a = astype(a, dtype);
}

// bool [t, n..., 1]: which steps count; undefined for all. `shape` is [t, n...].
Array steps_that_count(const SequenceConfig& c, const Shape& shape) {
  const std::string op = std::string(c.op) + ": ";
  if (c.lengths.defined() && c.mask.defined())
    throw ValueError(op + "lengths and mask exclude each other; give one of them");
  if (c.mask.defined()) {
    if (c.mask.dtype() != bool_) {
      throw DtypeError(op + "mask must be bool, true where a step counts, got " +
                       to_string(c.mask.aval()));
    }
    const bool swapped = c.batch_first && shape.rank() == 2;
    const Shape want = swapped ? Shape{shape[1], shape[0]} : shape;
    if (c.mask.shape() != want) {
      throw ShapeError(op + "mask is " + to_string(c.mask.aval()) + ", it must be bool" +
                       to_string(want));
    }
    return expand_dims(swapped ? swapaxes(c.mask, 0, 1) : c.mask, -1);
  }
  if (!c.lengths.defined()) return {};
  if (!is_integer(c.lengths.dtype())) {
    throw DtypeError(op + "lengths must be integers, got " + to_string(c.lengths.aval()));
  }
  const Shape want = shape.rank() == 2 ? Shape{shape[1]} : Shape{};
  if (c.lengths.shape() != want) {
    throw ShapeError(op + "lengths is " + to_string(c.lengths.aval()) + ", it must be i" +
                     to_string(want) + ", one number for each sequence");
  }
  const int64_t t = shape[0];
  if (!may_be_within(c.lengths, 0, static_cast<double>(t))) {
    throw ValueError(op + "lengths must be within 0.." + std::to_string(t) +
                     ", the number of steps; got " + to_string(c.lengths));
  }
  const Array places = arange(t, c.lengths.dtype());
  return expand_dims(shape.rank() == 2 ? less(expand_dims(places, 1), expand_dims(c.lengths, 0))
                                       : less(places, c.lengths),
                     -1);
}

// One cell over the whole sequence: its output at each step, and `state` at the end.
Array run_direction(const CellArrays& cell, const Array& sequence, const Array& counts,
                    bool reverse, std::vector<Array>& state) {
  StepArrays arrays = step_of(cell);
  // The inputs of all steps are projected by one product, outside of the loop.
  std::vector<Array> xs = {project(cell, sequence, arrays)};
  if (counts.defined()) xs.push_back(counts);
  const size_t carried = state.size();
  std::vector<Array> end =
      scan_arrays(std::move(state), xs, reverse, [&](std::span<const Array> in) {
        const std::span<const Array> s = in.first(carried), x = in.subspan(carried);
        std::vector<Array> next = advance(arrays, x[0], s);
        Array out = x.size() == 1 ? next[0] : where(x[1], next[0], 0);
        if (x.size() > 1)
          for (size_t i = 0; i < carried; ++i) next[i] = where(x[1], next[i], s[i]);
        next.push_back(std::move(out));
        return next;
      });
  Array all = std::move(end.back());
  end.pop_back();
  state = std::move(end);
  return all;
}

}  // namespace

std::vector<int64_t> CellArrays::state_sizes() const {
  const int64_t h = weight_hh.shape(1);
  if (kind == CellKind::kLstm) return {h, weight_hh.shape(0) / 4};
  return {h};
}

CellArrays arrays_of(const RNNCell& c) {
  const bool relu = c.nonlinearity == Nonlinearity::kRelu;
  return {relu ? CellKind::kRelu : CellKind::kTanh,
          c.weight_ih,
          c.weight_hh,
          c.bias_ih.value_or(Array()),
          c.bias_hh.value_or(Array()),
          {}};
}
CellArrays arrays_of(const LSTMCell& c) {
  return {CellKind::kLstm,
          c.weight_ih,
          c.weight_hh,
          c.bias_ih.value_or(Array()),
          c.bias_hh.value_or(Array()),
          c.weight_hr.value_or(Array())};
}
CellArrays arrays_of(const GRUCell& c) {
  return {CellKind::kGru,
          c.weight_ih,
          c.weight_hh,
          c.bias_ih.value_or(Array()),
          c.bias_hh.value_or(Array()),
          {}};
}

std::vector<Array> run_cell(const char* op, const CellArrays& cell, const Array& x,
                            std::vector<Array> state) {
  spruce::internal::require_defined(op, "x", x, "weight_ih", cell.weight_ih, "weight_hh",
                                    cell.weight_hh);
  require_made(op, cell.weight_ih);
  StepArrays arrays = step_of(cell);
  const Array projected = project(cell, x, arrays);
  Shape lead;
  for (int i = 0; i + 1 < x.rank(); ++i) lead.push_back(x.shape(i));
  complete_state(op, cell, lead, x, state);
  return advance(arrays, projected, state);
}

SequenceResult run_cells(const std::vector<CellArrays>& cells, const SequenceConfig& c,
                         const Array& x, std::vector<Array> state) {
  const std::string op = std::string(c.op) + ": ";
  const size_t directions = c.bidirectional ? 2 : 1;
  if (cells.empty() || cells.size() % directions != 0) {
    throw ValueError(op +
                     (cells.empty() ? "there are no cells; make them with "
                                    : "an odd number of cells, and .bidirectional needs two in "
                                      "each layer; make them with ") +
                     c.op + "::init");
  }
  spruce::internal::require_defined(c.op, "x", x);
  for (const CellArrays& cell : cells) {
    spruce::internal::require_defined(c.op, "weight_ih", cell.weight_ih, "weight_hh",
                                      cell.weight_hh);
  }
  if (x.rank() != 2 && x.rank() != 3) {
    throw ShapeError(op + "takes " + (c.batch_first ? "f[n, t, in]" : "f[t, n, in]") +
                     " or f[t, in], got " + to_string(x.aval()));
  }
  if (const Array& weight = cells[0].weight_ih; x.shape(-1) != weight.shape(-1)) {
    throw ShapeError(op + "the last axis of x " + to_string(x.aval()) + " must be input_size " +
                     std::to_string(weight.shape(-1)) + ": weight_ih is " +
                     to_string(weight.aval()));
  }
  const bool swapped = c.batch_first && x.rank() == 3;
  Array sequence = swapped ? swapaxes(x, 0, 1) : x;
  Shape steps, lead{static_cast<int64_t>(cells.size())};
  for (int i = 0; i + 1 < x.rank(); ++i) {
    steps.push_back(sequence.shape(i));
    if (i > 0) lead.push_back(sequence.shape(i));
  }
  complete_state(c.op, cells[0], lead, x, state);
  const Array counts = steps_that_count(c, steps);
  // What does not count may be NaN, and 0 times it would reach the gradients of weights.
  if (counts.defined()) sequence = where(counts, sequence, 0);

  std::vector<std::vector<Array>> last(state.size());
  for (size_t k = 0; k < cells.size(); k += directions) {
    if (k > 0) sequence = c.dropped(sequence);
    std::vector<Array> outputs;
    for (size_t d = 0; d < directions; ++d) {
      std::vector<Array> carried;
      for (const Array& a : state) carried.push_back(a[static_cast<int64_t>(k + d)]);
      outputs.push_back(run_direction(cells[k + d], sequence, counts, d == 1, carried));
      for (size_t i = 0; i < carried.size(); ++i) last[i].push_back(carried[i]);
    }
    sequence = directions == 1 ? outputs[0] : concatenate(outputs, -1);
  }
  SequenceResult result{swapped ? swapaxes(sequence, 0, 1) : sequence, {}};
  for (const std::vector<Array>& arrays : last) result.state.push_back(stack(arrays));
  return result;
}

int64_t products(const std::vector<CellArrays>& cells, const Array& x) {
  int64_t count = 0;
  for (const CellArrays& c : cells) {
    count += c.weight_ih.size() + c.weight_hh.size();
    if (c.weight_hr.defined()) count += c.weight_hr.size();
  }
  return x.size() / std::max<int64_t>(x.shape(-1), 1) * count;
}

void check_layers(const char* op, int64_t num_layers, float dropout) {
  if (num_layers < 1) {
    throw ValueError(std::string(op) + ": num_layers is " + std::to_string(num_layers) +
                     ", there must be at least one");
  }
  const std::string where = std::string(op) + "::init";
  spruce::internal::check_range(where.c_str(), "dropout", dropout, spruce::internal::Range::kShare);
}

}  // namespace spruce::nn::internal
