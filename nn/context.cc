// SPDX-License-Identifier: Apache-2.0
#include "spruce/nn/context.h"

namespace spruce::nn {

Key Context::next_key(const char* who) {
  if (!key.data().defined()) {
    throw ValueError(std::string(who) +
                     ": draws random numbers in training, and the context has no key; make it with "
                     "Context{.training = true, .key = key}, or give the Module one by seed(key)");
  }
  return random::fold_in(key, keys_used++);
}

const Array* Context::origin(const Array* place) const {
  for (const Copy& c : copies) {
    if (c.place == place) return c.origin;
  }
  return place;
}

const Array& Context::latest(const Buffer& buffer) const {
  const Array* place = origin(&buffer.value);
  for (size_t k = updates.size(); k-- > 0;) {
    if (updates[k].place == place) return updates[k].value;
  }
  return buffer.value;
}

void Context::replace(const Array& place, Array& value, std::vector<size_t>& found) const {
  const Array* at = origin(&place);
  // Another tree may stand by now where a model was copied from.
  for (const Copy& c : copies) {
    if (c.origin == at && c.place->impl() != place.impl()) return;
  }
  for (size_t k = 0; k < updates.size(); ++k) {
    if (updates[k].place == at) {
      value = updates[k].value;
      found[k] = 1;
    }
  }
}

void Context::check_found(const std::vector<size_t>& found) const {
  size_t missing = 0;
  for (const size_t f : found) missing += f == 0 ? 1 : 0;
  if (missing > 0) {
    throw TreeError("Context::updated: " + std::to_string(missing) + " of " +
                    std::to_string(found.size()) +
                    " buffers that layers have updated are not part of this model; pass the object "
                    "that was called, not a copy of it");
  }
}

}  // namespace spruce::nn
