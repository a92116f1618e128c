// SPDX-License-Identifier: Apache-2.0
#include "spruce/transforms/derive/linearizer.h"

#include "spruce/core/default_device.h"
#include "spruce/core/ops/create.h"
#include "spruce/core/rules/elementwise.h"
#include "spruce/core/rules/shape.h"
#include "spruce/core/rules/to_device.h"

namespace spruce::internal {

Linearizer::Linearizer(const char* name)
    : tape_(std::make_unique<Tape>()), dual_(name, tape_.get()) {}

void Linearizer::mark(Array& leaf, tree::Leaf kind) {
  if (!leaf.defined()) {
    inputs_.push_back({Aval{}, -1, false});
    return;
  }
  const Aval aval = leaf.aval();
  if (kind != tree::Leaf::kArray || !is_floating(aval.dtype)) {
    inputs_.push_back({aval, -1, true});
    return;
  }
  inputs_.push_back({aval, slots_++, true});
  leaf = dual_.make(leaf, tape_->input(aval));
}

void Linearizer::finish(Array& leaf) {
  if (!leaf.defined()) {
    outputs_.push_back(Array());
    out_avals_.push_back(Aval{});
    return;
  }
  outputs_.push_back(dual_.tangent(leaf));
  leaf = dual_.primal(leaf);
  out_avals_.push_back(leaf.aval());
}

std::vector<Array> Linearizer::pull_back(std::span<const Array> cts, const char* op) const {
  if (cts.size() != outputs_.size()) {
    throw TreeError(std::string(op) + ": the function has " + std::to_string(outputs_.size()) +
                    " outputs, " + std::to_string(cts.size()) + " cotangents were given");
  }
  std::vector<Array> typed(cts.begin(), cts.end());
  for (size_t k = 0; k < typed.size(); ++k) {
    if (typed[k].defined()) typed[k] = as_tangent(op, "cotangent", k, out_avals_[k], typed[k]);
  }
  const std::vector<Array> slots = tape_->transpose(outputs_, typed);
  std::vector<Array> out(inputs_.size());
  for (size_t i = 0; i < inputs_.size(); ++i) {
    if (!inputs_[i].defined) continue;
    if (inputs_[i].slot >= 0) out[i] = slots[static_cast<size_t>(inputs_[i].slot)];
    if (!out[i].defined()) out[i] = rules::zeros_of(inputs_[i].aval);
  }
  return out;
}

std::vector<Array> Linearizer::push_forward(std::span<const Array> tangents, const char* op) const {
  if (tangents.size() != inputs_.size()) {
    throw TreeError(std::string(op) + ": the function has " + std::to_string(inputs_.size()) +
                    " inputs, " + std::to_string(tangents.size()) + " tangents were given");
  }
  std::vector<Array> slots(static_cast<size_t>(slots_));
  for (size_t i = 0; i < inputs_.size(); ++i) {
    if (inputs_[i].slot < 0) continue;
    const Array& t = tangents[i];
    slots[static_cast<size_t>(inputs_[i].slot)] =
        t.defined() ? as_tangent(op, "tangent", i, inputs_[i].aval, t) : t;
  }
  std::vector<Array> out = tape_->apply(outputs_, slots);
  for (size_t k = 0; k < out.size(); ++k) {
    if (!out[k].defined()) out[k] = rules::zeros_of(out_avals_[k]);
  }
  return out;
}

void check_scalar_loss(const char* op, const Array& value) {
  if (!value.defined()) {
    throw DerivativeError(std::string(op) +
                          ": the function returned an Array that was never given a value");
  }
  if (value.rank() != 0 || !is_floating(value.dtype())) {
    throw DerivativeError(
        std::string(op) + ": the function must return a floating scalar, it returned " +
        to_string(value.aval()) +
        (value.rank() == 0 ? "; convert it with astype"
                           : "; reduce it with sum or mean, or take jacrev or vjp of it"));
  }
}

bool takes_dtype(const Aval& number, const Aval& value) {
  return number.weak && promote(value.dtype, value.weak, number.dtype, true) == value.dtype;
}

Array number_as(const Array& t, const Aval& value) {
  if (!t.weak() && !value.weak) return t;
  const Array typed = rules::convert(t, value.dtype, value.weak);
  return value.weak ? typed : rules::to_device(typed, value.device);
}

Array as_tangent(const char* op, const char* what, size_t index, const Aval& value,
                 const Array& t) {
  const Aval& got = t.aval();
  if (!(got.shape == value.shape)) {
    throw ShapeError(std::string(op) + ": " + what + " " + std::to_string(index) + " is " +
                     to_string(got) + ", its value is " + to_string(value) +
                     "; they must have one shape");
  }
  if (!is_floating(value.dtype)) return t;
  if (got.dtype != value.dtype && !takes_dtype(got, value)) {
    throw DtypeError(std::string(op) + ": " + what + " " + std::to_string(index) + " is " +
                     to_string(got) + ", its value is " + to_string(value) +
                     "; they must have one dtype");
  }
  return number_as(t, value);
}

Array one_of(const Array& value) {
  const DefaultDevice here(value.aval().device);
  return rules::convert(ones(value.shape(), value.dtype(), Loc::none()), value.dtype(),
                        value.weak());
}

Array zero_tangent(const Array& value) { return rules::zeros_of(value.aval()); }

}  // namespace spruce::internal
