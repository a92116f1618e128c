// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/named_shapes.h"

namespace spruce::internal {

NamedShapes::NamedShapes(const NamedArrays& arrays) {
  for (const auto& [name, value] : arrays) shapes_.emplace_back(name, value.shape());
}

void NamedShapes::check(const char* op, const NamedArrays& now) const {
  std::string text;
  NamedArrays fresh = now;
  for (const auto& [name, shape] : shapes_) {
    const Array* found = now.find(name);
    if (found == nullptr)
      text += "\n  " + name + " is gone or frozen";
    else if (!(found->shape() == shape))
      text += "\n  " + name + " was " + to_string(shape) + " and is " + to_string(found->shape());
    fresh.erase(name);
  }
  for (const auto& [name, value] : fresh) text += "\n  " + name + " is new";
  if (text.empty()) return;
  throw TreeError(std::string(op) +
                  ": the trainable parameters are other ones than when the optimizer was made; "
                  "make a new one after requires_grad(), set_layer() or append():" +
                  text);
}

}  // namespace spruce::internal
