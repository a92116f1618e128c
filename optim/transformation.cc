// SPDX-License-Identifier: Apache-2.0
#include "spruce/optim/transformation.h"

namespace spruce::optim::internal {

void throw_shapes(const std::vector<tree::Entry>& entries, const Array& a, const Array& b) {
  std::string path;
  for (const tree::Entry& e : entries) {
    if (e.value.impl() == a.impl()) path = e.path;
  }
  throw ShapeError("optim: " + to_string(a.aval()) + " meets " + to_string(b.aval()) +
                   (path.empty() ? "" : " at " + path) +
                   "; gradients, parameters and state must come from one model");
}

Array zero_count() { return zeros({}, int32); }

Array next_count(const Array& count) { return count + 1; }

Array bias_correction(double decay, const Array& count, Dtype dtype) {
  const Dtype wide = dtype == float64 ? float64 : float32;
  const Array base = astype(array(decay), wide);
  return astype(1.0f - power(base, astype(count, wide)), dtype);
}

}  // namespace spruce::optim::internal
