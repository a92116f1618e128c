// SPDX-License-Identifier: Apache-2.0
// expect: spruce: the body of scan returns std::pair{carry, y}; y is spruce::none where nothing is
// to be stacked
#include <spruce/spruce.h>

namespace sp = spruce;
using spruce::Array;

auto f(const Array& xs) {
  return sp::scan([](const Array& c, const Array& x) { return c + x; }, Array(0.0f), xs);
}
