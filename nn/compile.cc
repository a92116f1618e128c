// SPDX-License-Identifier: Apache-2.0
#include "spruce/nn/compile.h"

#include <algorithm>

#include "spruce/core/ops/math.h"
#include "spruce/core/ops/shape.h"

namespace spruce::nn::internal {

void Bound::refresh() {
  const uint64_t version = structure_version();
  if (seen_ == version) return;
  const std::string text = form_text(*node_);
  const auto known = std::find(forms_.begin(), forms_.end(), text);
  form_ = known - forms_.begin();
  if (known == forms_.end()) forms_.push_back(text);
  names_.clear();
  variables_.clear();
  for (const Place& p : places(*node_)) {
    names_.push_back(p.name);
    variables_.push_back(p.node->slots[p.slot].variable);
  }
  seen_ = version;
}

std::vector<Array> Bound::values() const {
  std::vector<Array> out;
  out.reserve(variables_.size());
  for (const auto& v : variables_) out.push_back(v->value);
  return out;
}

NamedArrays Bound::trainable(const std::vector<Array>& values) const {
  NamedArrays out;
  for (size_t i = 0; i < variables_.size(); ++i) {
    if (!variables_[i]->buffer && variables_[i]->requires_grad) out.insert(names_[i], values[i]);
  }
  return out;
}

void Bound::bind(Call& call, const std::vector<Array>& values) const {
  for (size_t i = 0; i < variables_.size(); ++i) call.bind(*variables_[i], values[i]);
}

std::vector<Array> Bound::changed(const Call& call) const {
  std::vector<Array> out(variables_.size());
  for (size_t i = 0; i < variables_.size(); ++i) {
    if (call.changed(*variables_[i])) out[i] = call.value(*variables_[i]);
  }
  return out;
}

void Bound::keep(const std::vector<Array>& next, const Key& key) const {
  for (size_t i = 0; i < next.size(); ++i) {
    if (next[i].is_tracer()) throw_traced_buffer("Module", names_[i]);
  }
  for (size_t i = 0; i < next.size(); ++i) {
    if (next[i].defined()) variables_[i]->value = next[i];
  }
  if (key.data().defined()) node_->key = key;
}

Key key_after(const Call& call) {
  return call.keys_used > 0 && call.key.data().defined() ? call.next_key() : Key();
}

void put_updated(const Bound& bound, const NamedArrays& params, const NamedArrays& updates,
                 std::vector<Array>& values) {
  for (size_t i = 0; i < bound.names().size(); ++i) {
    const Array* p = params.find(bound.names()[i]);
    if (p == nullptr || !is_floating(p->dtype())) continue;
    values[i] = astype(*p + updates.at(bound.names()[i]), p->dtype());
  }
}

}  // namespace spruce::nn::internal
