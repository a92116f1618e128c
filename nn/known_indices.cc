// SPDX-License-Identifier: Apache-2.0
#include "spruce/nn/known_indices.h"

#include <limits>

#include "spruce/core/ops/math.h"
#include "spruce/core/ops/shape.h"

namespace spruce::nn {

bool has_known_values(const Array& x) {
  return x.impl()->concrete() != nullptr && &x.device() == &cpu_device();
}

Array widened(const Array& index, int64_t n) {
  const Dtype dtype = index.dtype();
  const bool fits = size_of(dtype) < 4 || dtype == int32;
  return astype(index, fits && n <= std::numeric_limits<int32_t>::max() ? int32 : int64);
}

Array nan_outside(const Array& index, const NanOutsideParams& p) {
  return bind1(nan_outside_p, {index}, Params::make(p));
}

}  // namespace spruce::nn
