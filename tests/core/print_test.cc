// SPDX-License-Identifier: Apache-2.0
// Arrays as text: a table of arrays and of what NumPy prints for them (print_cases.py).
#include <gtest/gtest.h>

#include <cmath>
#include <sstream>

#include "spruce/core/ops/create.h"
#include "spruce/core/ops/math.h"
#include "spruce/core/ops/reduce.h"
#include "spruce/core/ops/shape.h"
#include "spruce/transforms/transforms.h"

namespace spruce {
namespace print_test {

struct Case {
  Array array;
  std::string text;
};

TEST(Print, AsNumPy) {
  const std::vector<Case> cases = {
#include "tests/core/print_cases.inc"
  };
  for (const auto& [array, text] : cases)
    EXPECT_EQ(to_string(array), text) << to_string(array.aval());
}

TEST(Print, Stream) {
  std::ostringstream out;
  out << array({1, 2}) << ' ' << array(true);
  EXPECT_EQ(out.str(), "[1 2] True");
}

TEST(Print, OtherDtypes) {
  EXPECT_EQ(to_string(astype(array({1.0f, 0.1f, -3.0f}), bfloat16)), "[ 1.   0.1 -3. ]");
  EXPECT_EQ(to_string(astype(array({3.14159f}), bfloat16)), "[3.14]");
  EXPECT_EQ(to_string(array({uint64_t{18446744073709551615u}, uint64_t{1}})),
            "[18446744073709551615                    1]");
  EXPECT_EQ(to_string(array({int8_t{-128}, int8_t{65}})), "[-128   65]");
  EXPECT_EQ(to_string(Array(2.5)), "2.5");
}

TEST(Print, NoValue) {
  EXPECT_EQ(to_string(Array()), "(an empty Array)");
  std::string traced;
  (void)vmap([&](const Array& x) {
    traced = to_string(x);
    return x;
  })(zeros({4, 2, 3}));
  EXPECT_EQ(traced, "f32[2,3] (a traced value of vmap)");
}

}  // namespace print_test
}  // namespace spruce
