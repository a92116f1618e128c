// SPDX-License-Identifier: Apache-2.0
// Primitives on cuda:0 (the emulator), on arrays that are large enough for what small samples never
// reach: several blocks, chunks of reductions, tiles, vectors with a rest, rows that do not fit in
// registers, sorts across blocks.
#include <gtest/gtest.h>

#include "spruce/core/rules/attention.h"
#include "spruce/core/rules/dot.h"
#include "spruce/core/rules/gather.h"
#include "spruce/core/rules/layer_norm.h"
#include "spruce/core/rules/reduce.h"
#include "spruce/core/rules/shape.h"
#include "spruce/core/rules/sort.h"
#include "spruce/spruce.h"
#include "tests/cuda/emulated_device.h"
#include "tests/transforms/properties.h"

namespace spruce {
namespace large_cases_test {

using properties::Arrays;

SampleInput numbers(Dtype dtype, const Shape& shape, double low = -2, double high = 2) {
  SampleInput in;
  in.aval = Aval{dtype, false, shape};
  in.low = low;
  in.high = high;
  return in;
}

void check(std::string_view primitive, std::vector<SampleInput> in, Params params = {},
           double tolerance = 0) {
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

TEST(CudaLarge, ElementwiseInVectors) {
  check("add", {numbers(float32, {1003}), numbers(float32, {1003})});
  check("add", {numbers(float32, {33, 128}), numbers(float32, {128})});
  check("add", {numbers(float32, {33, 127}), numbers(float32, {33, 1})});
  check("add", {numbers(bfloat16, {33, 128}), numbers(bfloat16, {1, 128})});
  check("add", {numbers(float32, {4, 8, 16}), numbers(float32, {8, 1})});
  check("select",
        {numbers(bool_, {33, 128}, 0, 1), numbers(float32, {33, 128}), numbers(float32, {})});
  check("convert_element_type", {numbers(uint8, {1001}, 0, 200)},
        Params::make(ConvertParams{float64, false}));
}

TEST(CudaLarge, Reductions) {
  for (const Dtype d : {float32, int32, bfloat16}) {
    const auto sum = [&](const Shape& shape, const Axes& axes) {
      check("reduce_sum", {numbers(d, shape)}, Params::make(ReduceParams{axes}));
      check("reduce_max", {numbers(d, shape)}, Params::make(ReduceParams{axes}));
    };
    sum({3, 20000}, {1});         // rows in chunks
    sum({20000, 40}, {0});        // columns in chunks
    sum({20000, 3}, {0});         // few columns
    sum({100, 40}, {0});          // columns
    sum({4, 30, 4, 50}, {1, 3});  // axes apart
    sum({2000, 20}, {1});         // short rows
    sum({5, 33, 200}, {0, 1});
  }
}

TEST(CudaLarge, PositionsOfTheLargest) {
  for (const Dtype d : {float32, int8}) {
    check("argmax", {numbers(d, {3, 20000}, -100, 100)}, Params::make(ArgReduceParams{1, int32}));
    check("argmax", {numbers(d, {20000, 40}, -100, 100)}, Params::make(ArgReduceParams{0, int32}));
    check("argmin", {numbers(d, {300, 40}, -100, 100)}, Params::make(ArgReduceParams{0, int64}));
  }
}

TEST(CudaLarge, Scans) {
  for (const bool reverse : {false, true}) {
    for (const char* p : {"cumsum", "cumprod", "cummax", "cumlogsumexp"}) {
      check(p, {numbers(float32, {2, 5000}, 0.99, 1.01)},
            Params::make(CumulativeParams{1, reverse}));
      check(p, {numbers(float32, {3000, 3}, 0.99, 1.01)},
            Params::make(CumulativeParams{0, reverse}));
    }
  }
}

TEST(CudaLarge, Rows) {
  for (const int64_t n : {20, 33, 200, 300, 3000, 5000, 20000}) {
    check("softmax", {numbers(float32, {3, n})});
    check("log_softmax", {numbers(float32, {3, n})});
    check("layer_norm", {numbers(float32, {3, n}), numbers(float32, {n}), numbers(float32, {n})},
          Params::make(LayerNormParams{1e-5}));
  }
}

TEST(CudaLarge, Order) {
  check("sort", {numbers(float32, {2, 5000})}, Params::make(SortParams{1, 1}));
  check("sort",
        {numbers(int8, {3000, 2}, -5, 5), numbers(int32, {3000, 2}, -5, 5),
         numbers(float32, {3000, 2})},
        Params::make(SortParams{0, 2}));
  check("top_k", {numbers(float32, {2, 5000})}, Params::make(TopKParams{7}));
}

TEST(CudaLarge, Transposes) {
  check("transpose", {numbers(float32, {40, 50})}, Params::make(TransposeParams{{1, 0}}));
  check("transpose", {numbers(float16, {3, 40, 70})}, Params::make(TransposeParams{{0, 2, 1}}));
  check("transpose", {numbers(float32, {40, 3, 5, 33})},
        Params::make(TransposeParams{{3, 1, 0, 2}}));
  check("transpose", {numbers(uint8, {33, 10, 20}, 0, 200)},
        Params::make(TransposeParams{{2, 1, 0}}));
}

TEST(CudaLarge, RowsThatManyPositionsName) {
  const Params params = Params::make(rules::take_params(Shape{500, 3}, 0, 1));
  const SampleInput table = numbers(float32, {500, 3}), at = numbers(int32, {3000, 1}, -5, 505),
                    updates = numbers(float32, {3000, 3}, 0.9, 1.1);
  check("gather", {table, at}, params);
  for (const char* p : {"scatter", "scatter_add", "scatter_mul", "scatter_min", "scatter_max"})
    check(p, {table, at, updates}, params);
}

TEST(CudaLarge, Products) {
  for (const Dtype d : {float32, float16, int32}) {
    check("dot_general", {numbers(d, {100, 70}), numbers(d, {70, 130})},
          dot_params({{1}, {0}, {}, {}}));
    check("dot_general", {numbers(d, {3, 70, 65}), numbers(d, {3, 66, 70})},
          dot_params({{1}, {2}, {0}, {0}}));
    check("dot_general", {numbers(d, {3, 7, 2, 65}), numbers(d, {2, 66, 7})},
          dot_params({{2, 1}, {0, 2}, {}, {}}));
  }
  ConvParams p;
  p.strides = {2, 1}, p.padding_low = {1, 0}, p.padding_high = {1, 2}, p.lhs_dilation = {1, 2},
  p.rhs_dilation = {1, 1};
  check("conv_general", {numbers(float32, {2, 8, 20, 20}), numbers(float32, {70, 8, 3, 3})},
        Params::make(p), 1e-4);
  p.feature_group_count = 2;
  check("conv_general", {numbers(float64, {2, 8, 20, 20}), numbers(float64, {70, 4, 3, 3})},
        Params::make(p));
}

TEST(CudaLarge, Attention) {
  for (const bool causal : {false, true}) {
    const Params params = Params::make(AttentionParams{0.3, causal});
    const SampleInput q = numbers(float32, {2, 70, 40}), k = numbers(float32, {2, 90, 40}),
                      v = numbers(float32, {2, 90, 72});
    check("attention", {q, k, v}, params, 1e-4);
    check("attention_lse", {q, k, v}, params, 1e-4);
    check("attention_lse",
          {numbers(float32, {1, 33, 160}), numbers(float32, {1, 70, 160}),
           numbers(float32, {1, 70, 130})},
          Params::make(AttentionParams{0.1, causal}), 1e-4);
    check("attention_grad",
          {q, k, v, numbers(float32, {2, 70, 72}), numbers(float32, {2, 70}, 3, 8),
           numbers(float32, {2, 70, 72})},
          params, 1e-3);
  }
  // Rows so long that fewer of them share the memory of a block.
  const Params params = Params::make(AttentionParams{0.05, false});
  const SampleInput q = numbers(float32, {1, 5, 1300}), k = numbers(float32, {1, 9, 1300}),
                    rows = numbers(float32, {1, 5, 1300}), lse = numbers(float32, {1, 5}, 3, 8);
  check("attention", {q, k, k}, params, 1e-4);
  check("attention_grad", {q, k, k, rows, lse, rows}, params, 1e-3);
}

}  // namespace large_cases_test
}  // namespace spruce
