// SPDX-License-Identifier: Apache-2.0
#include "spruce/nn/compile.h"

#include <algorithm>

#include "spruce/core/ops/math.h"
#include "spruce/core/ops/shape.h"

namespace spruce::nn::internal {

void Bound::refresh() {
  const uint64_t version = structure_version();
  if (seen_ == version) return;
  names_.clear();
  targets_.clear();
  // A guest that nothing else holds has been replaced.
  nodes_.erase(std::remove_if(nodes_.begin() + 1, nodes_.end(),
                              [](const auto& node) { return node.use_count() == 1; }),
               nodes_.end());
  std::string text;
  for (size_t i = 0; i < nodes_.size(); ++i) {
    text += form_text(*nodes_[i]);
    for (const Place& p : places(*nodes_[i])) {
      names_.push_back(p.name);
      targets_.push_back({nodes_[i], p.node->slots[p.slot].variable});
    }
    if (i == 0) own_ = names_.size();
  }
  const auto known = std::find(forms_.begin(), forms_.end(), text);
  form_ = known - forms_.begin();
  if (known == forms_.end()) forms_.push_back(text);
  seen_ = version;
}

void Bound::add(const NewGuests& found) {
  nodes_.insert(nodes_.end(), found.nodes.begin(), found.nodes.end());
  seen_ = 0;
}

void Bound::throw_new_modules() {
  throw ValueError(
      "compile: what is traced calls other modules each time; make them once, in front of it");
}

std::vector<Array> Bound::values(const Call* loss) const {
  std::vector<Array> out;
  out.reserve(targets_.size());
  for (const Target& t : targets_)
    out.push_back(loss == nullptr ? t.variable->value : loss->value(*t.variable));
  return out;
}

std::vector<Key> Bound::keys(Call* loss) const {
  std::vector<Key> out;
  for (const auto& node : nodes_) out.push_back(node->key);
  // The guests of a module are only read.
  if (loss != nullptr) out[0] = loss->guest(*nodes_[0]).next_key();
  return out;
}

NamedArrays Bound::trainable(const std::vector<Array>& values) const {
  NamedArrays out;
  for (size_t i = 0; i < own_; ++i) {
    const Variable& v = *targets_[i].variable;
    if (!v.buffer && v.requires_grad) out.insert(names_[i], values[i]);
  }
  return out;
}

void Bound::bind(Call& call, const std::vector<Array>& values, const std::vector<Key>& keys) const {
  for (size_t i = 0; i < targets_.size(); ++i) call.bind(*targets_[i].variable, values[i]);
  call.key = keys[0];
  for (size_t i = 1; i < nodes_.size(); ++i) call.guests.push_back({nodes_[i], keys[i]});
  call.known = call.guests.size();
}

std::vector<Array> Bound::changed(const Call& call) const {
  for (const auto& node : nodes_) check_buffers("compile", *node, call);
  std::vector<Array> out(targets_.size());
  for (size_t i = 0; i < targets_.size(); ++i) {
    if (call.changed(*targets_[i].variable)) out[i] = call.value(*targets_[i].variable);
  }
  return out;
}

std::vector<Key> Bound::keys_after(const Call& call) const {
  const bool drawn = call.keys_used > 0 && call.key.data().defined();
  std::vector<Key> out{drawn ? call.next_key() : Key()};
  for (size_t i = 0; i + 1 < nodes_.size(); ++i) out.push_back(call.guests[i].new_key());
  return out;
}

void Bound::keep(const std::vector<Array>& next, const std::vector<Key>& keys, Call* loss) const {
  if (loss == nullptr) return internal::keep("Module", targets_, next, nodes_, keys);
  for (size_t i = 0; i < next.size(); ++i) {
    if (next[i].defined()) loss->set(*targets_[i].variable, next[i]);
  }
  for (size_t i = 0; i < keys.size(); ++i) {
    if (keys[i].data().defined()) loss->advance(*nodes_[i], keys[i]);
  }
}

void Bound::put_updated(const NamedArrays& params, const NamedArrays& updates,
                        std::vector<Array>& values) const {
  for (size_t i = 0; i < own_; ++i) {
    const Array* p = params.find(names_[i]);
    if (p == nullptr || !is_floating(p->dtype())) continue;
    values[i] = astype(*p + updates.at(names_[i]), p->dtype());
  }
}

}  // namespace spruce::nn::internal
