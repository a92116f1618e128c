// SPDX-License-Identifier: Apache-2.0
#include <limits>
#include <utility>

#include "spruce/core/ops/create.h"
#include "spruce/core/ops/math.h"
#include "spruce/transforms/transforms.h"
#include "tests/transforms/passes/pass_text.h"

namespace spruce {
namespace {

TEST(ExpandComposites, NotWhereThePartsWouldRound) {
  const std::string body = "c: bf16[3] = logaddexp a b\nreturn c";
  EXPECT_EQ(after(passes::expand_composites, "a: bf16[3], b: bf16[3]", body), body);
}

// It has no kernel, so it is written out whatever its types and sizes.
TEST(ExpandComposites, TheTangentOfAttention) {
  for (const std::string type : {"f32[2,3]", "bf16[2,3]", "f64[0,3]"}) {
    const std::string rest = type.substr(type.find('[')), dtype = type.substr(0, type.find('['));
    std::string inputs;
    for (const char name : {'a', 'b', 'c', 'd', 'f', 'g', 'h'})
      inputs += std::string(1, name) + ": " + type + ", ";
    const std::string lse = (dtype == "bf16" ? "f32" : dtype) + rest.substr(0, 2) + "]";
    inputs.insert(inputs.find("f: "), "e: " + lse + ", ");
    inputs.resize(inputs.size() - 2);
    const std::string text = after(
        passes::expand_composites, inputs,
        "i: " + type + " = attention_tangent[scale=0.5 causal=true] a b c d e f g h\nreturn i");
    EXPECT_EQ(text.find("attention_tangent"), std::string::npos) << text;
    EXPECT_NE(text.find("dot_general"), std::string::npos) << text;
  }
}

TEST(ExpandComposites, LogaddexpOfInfinitiesAndNan) {
  const float inf = std::numeric_limits<float>::infinity(),
              nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(after(passes::expand_composites, "a: f32[3], b: f32[3]",
                  "c: f32[3] = logaddexp a b\nreturn c")
                .find("logaddexp"),
            std::string::npos);
  const Array a = array({inf, -inf, inf, -inf, nan, 1.0f, 0.0f, 90.0f, 3.0f});
  const Array b = array({inf, -inf, -inf, 2.0f, 1.0f, nan, 0.0f, -90.0f, 2.5f});
  const Array eager = logaddexp(a, b), compiled = jit(logaddexp)(a, b);
  EXPECT_TRUE(allclose(eager, compiled, {.rtol = 1e-6, .equal_nan = true})) << eager << "\n"
                                                                            << compiled;
}

}  // namespace
}  // namespace spruce
