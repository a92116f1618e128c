// SPDX-License-Identifier: Apache-2.0
// expect: spruce: an Array is no range; its rows are x[i] for i below x.shape(0), its elements
// x.data<float>()
#include <spruce/spruce.h>

spruce::Array sum_of_rows(const spruce::Array& x) {
  spruce::Array total = 0;
  for (const spruce::Array& row : x) total += row;
  return total;
}
