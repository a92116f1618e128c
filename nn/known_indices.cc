// SPDX-License-Identifier: Apache-2.0
#include "spruce/nn/known_indices.h"

#include <limits>
#include <string>
#include <utility>

#include "spruce/core/ops/math.h"
#include "spruce/core/ops/shape.h"

namespace spruce::nn {

void check_known(const Array& index, const NanOutsideParams& p) {
  if (!has_known_values(index)) return;
  visit_dtype(index.dtype(), [&]<class T>(T) {
    if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
      for (const T i : index.data<T>()) {
        if (std::cmp_greater_equal(i, 0) && std::cmp_less(i, p.size)) continue;
        rules::throw_outside(p, std::to_string(i));
      }
    }
  });
}

bool may_be_within(const Array& x, double low, double high) {
  if (!has_known_values(x)) return true;
  const Array values = spruce::internal::known_values(x);
  bool within = true;
  visit_dtype(x.dtype(), [&]<class T>(T) {
    for (const T v : values.data<T>()) {
      const auto number = static_cast<double>(v);
      within = within && !(number < low) && !(number > high);
    }
  });
  return within;
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
