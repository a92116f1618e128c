// SPDX-License-Identifier: Apache-2.0
#include "spruce/optim/scale_gradient.h"

#include "spruce/transforms/derive/custom.h"

namespace spruce::optim::internal {

Array with_scaled_gradient(const Array& x, double scale) {
  const auto rule = [scale](const std::tuple<Array>& primals, const std::tuple<Array>& tangents) {
    return std::pair{std::get<0>(primals), scale * std::get<0>(tangents)};
  };
  return custom_jvp([](const Array& x) { return x; }, rule)(x);
}

}  // namespace spruce::optim::internal
