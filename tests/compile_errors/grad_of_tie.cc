// SPDX-License-Identifier: Apache-2.0
// expect: spruce: a tree holds no references, as std::tie makes them, and no const fields without a
// default; hold the value itself, as std::tuple{a, b} does
#include <spruce/spruce.h>

namespace sp = spruce;
using spruce::Array;

auto gradient(Array w, Array b) {
  return sp::grad([](const auto& p) { return sp::sum(std::get<0>(p) * std::get<1>(p)); })(
      std::tie(w, b));
}
