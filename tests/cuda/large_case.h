// SPDX-License-Identifier: Apache-2.0
// One primitive on cuda:0 (the emulator) and on the CPU, on arrays of some size.
#pragma once

#include <gtest/gtest.h>

#include "spruce/spruce.h"
#include "tests/cuda/emulated_device.h"
#include "tests/transforms/properties.h"

namespace spruce::large_cases_test {

inline SampleInput numbers(Dtype dtype, const Shape& shape, double low = -2, double high = 2) {
  SampleInput in;
  in.aval = Aval{dtype, false, shape};
  in.low = low;
  in.high = high;
  return in;
}

inline void check(std::string_view primitive, std::vector<SampleInput> in, Params params = {},
                  double tolerance = 0) {
  using properties::Arrays;
  const Primitive* const p = find_primitive(primitive);
  ASSERT_NE(p, nullptr) << primitive;
  const properties::Case c{p, 0, Sample{.in = std::move(in), .params = std::move(params)}};
  SCOPED_TRACE(c.text());
  const Arrays x = properties::inputs(c), want = properties::outputs(c, x);
  Arrays there, got;
  for (const Array& a : x) there.push_back(to_device(a, test_device::emulated_device()));
  for (const Array& y : properties::outputs(c, there)) got.push_back(to_device(y, cpu_device()));
  properties::expect_close(got, want, tolerance > 0 ? tolerance : properties::tolerance(want),
                           primitive);
}

}  // namespace spruce::large_cases_test
