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

const Array& Context::latest(const Buffer& buffer) const {
  for (size_t k = updates.size(); k-- > 0;) {
    if (updates[k].place == &buffer) return updates[k].value;
  }
  return buffer.value;
}

void Context::replace(const Array& place, Array& value, std::vector<size_t>& found) const {
  for (size_t k = 0; k < updates.size(); ++k) {
    if (&updates[k].place->value == &place) {
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
