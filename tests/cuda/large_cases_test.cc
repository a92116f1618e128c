// SPDX-License-Identifier: Apache-2.0
// Primitives on cuda:0 (the emulator), on arrays that are large enough for what small samples never
// reach: several blocks, chunks of reductions, tiles, vectors with a rest, rows that do not fit in
// registers, sorts across blocks.
#include <cmath>
#include <limits>

#include "spruce/core/rules/attention.h"
#include "spruce/core/rules/dot.h"
#include "spruce/core/rules/gather.h"
#include "spruce/core/rules/layer_norm.h"
#include "spruce/core/rules/reduce.h"
#include "spruce/core/rules/shape.h"
#include "spruce/core/rules/sort.h"
#include "tests/cuda/emulator/emulator.h"
#include "tests/cuda/large_case.h"

namespace spruce {
namespace large_cases_test {

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
    sum({9, 40000}, {1});         // rows in chunks
    sum({20000, 40}, {0});        // columns in chunks
    sum({20000, 3}, {0});         // few columns
    sum({100, 40}, {0});          // columns
    sum({4, 30, 4, 50}, {1, 3});  // axes apart
    sum({2000, 20}, {1});         // short rows
    sum({5, 33, 200}, {0, 1});
  }
}

TEST(CudaLarge, ReductionsInVectors) {
  const auto sum = [](Dtype d, const Shape& shape, const Axes& axes) {
    check("reduce_sum", {numbers(d, shape)}, Params::make(ReduceParams{axes}));
  };
  for (const Dtype d : {float32, bfloat16}) {
    sum(d, {3, 5, 64}, {0, 2});  // within rows of two axes
    sum(d, {300, 5}, {1});       // rows shorter than two vectors
    sum(d, {3, 2049}, {1});      // with a rest, and rows that begin anywhere
    sum(d, {3, 5000}, {1});      // a block for each row
    sum(d, {40003}, {0});        // one result of chunks
    sum(d, {1}, {0});
  }
  sum(float64, {7, 600}, {1});
  sum(float32, {0, 40}, {0});
  sum(float32, {40, 0}, {0});
  for (const int axis : {0, 1}) {
    const Params params = Params::make(ReduceParams{{axis}});
    check("reduce_prod", {numbers(float64, {70, 600}, 0.9, 1.1)}, params);
    check("reduce_max", {numbers(int8, {70, 600}, -9, 9)}, params);
  }
}

// A bias gradient: more chunks than a warp has threads, which are fewer than a block has.
TEST(CudaLarge, ChunksOfColumns) {
  check("reduce_sum", {numbers(float32, {2600, 33})}, Params::make(ReduceParams{{0}}));
  check("reduce_sum", {numbers(bfloat16, {600, 70}, -1, 1)}, Params::make(ReduceParams{{0}}));
  check("argmax", {numbers(float32, {2600, 33})}, Params::make(ArgReduceParams{0, int32}));
}

// More chunks than a block has threads to bring them together.
TEST(CudaLarge, ManyChunksOfOneResult) {
  check("reduce_sum", {numbers(float32, {1100003})}, Params::make(ReduceParams{{0}}));
  check("reduce_max", {numbers(int8, {1100003}, -100, 100)}, Params::make(ReduceParams{{0}}));
  check("argmin", {numbers(float32, {1100003})}, Params::make(ArgReduceParams{0, int64}));
}

TEST(CudaLarge, PositionsOfTheLargest) {
  for (const Dtype d : {float32, int8}) {
    check("argmax", {numbers(d, {9, 40000}, -100, 100)}, Params::make(ArgReduceParams{1, int32}));
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

void check_scan(const char* p, Dtype d, const Shape& shape, int64_t axis, bool reverse = false) {
  check(p, {numbers(d, shape, 0.99, 1.01)}, Params::make(CumulativeParams{axis, reverse}));
}

TEST(CudaLarge, ScansInChunks) {
  for (const bool reverse : {false, true}) {
    for (const int64_t n : {4097, 9001}) check_scan("cumsum", float32, {n}, 0, reverse);
    for (const Dtype d : {float64, bfloat16, int64}) check_scan("cumsum", d, {2, 9001}, 1, reverse);
    check_scan("cumlogsumexp", float32, {8193, 3}, 0, reverse);
    check_scan("cummax", int8, {9001}, 0, reverse);
  }
  check_scan("cumsum", float32, {1100000}, 0);  // more chunks than threads carry at once
  check_scan("cumsum", float32, {1}, 0);
  check_scan("cumsum", float32, {0, 7}, 1);
}

TEST(CudaLarge, ScansOfManyColumns) {
  for (const int64_t n : {33, 36}) check_scan("cumprod", float32, {n, 4097}, 0, n == 33);
  check_scan("cumsum", float32, {4097, 33}, 1);  // a warp for each
  check_scan("cummin", int32, {1500, 70, 3}, 1, true);
}

void check_rows(Dtype d, std::initializer_list<int64_t> sizes) {
  for (const int64_t n : sizes) {
    const SampleInput x = numbers(d, {3, n});
    check("softmax", {x});
    check("log_softmax", {x});
    check("layer_norm", {x, numbers(d, {n}), numbers(d, {n})}, Params::make(LayerNormParams{1e-5}));
  }
}

// Of a few threads, a warp, blocks of two sizes, and of more than these hold.
TEST(CudaLarge, Rows) { check_rows(float32, {1, 3, 20, 33, 200, 1024, 1500, 5000, 20001}); }
TEST(CudaLarge, RowsOfBfloat16) { check_rows(bfloat16, {3, 33, 1024, 3000, 5000, 20001}); }
TEST(CudaLarge, RowsOfOtherFloats) {
  check_rows(float64, {3, 200, 1024, 5000, 20001});
  check_rows(float16, {100});
}

TEST(CudaLarge, ManyRows) {
  for (const int64_t n : {12, 40, 1100}) check("softmax", {numbers(float32, {70, n})});
  check("softmax", {numbers(float32, {0, 5})});
  check("softmax", {numbers(bfloat16, {5, 0})});
  check("layer_norm", {numbers(float32, {9, 100}), numbers(float32, {1}), numbers(float32, {100})},
        Params::make(LayerNormParams{1e-5}));
}

// Rows of -inf, of NaN and of +inf, in registers and read twice: parts of a row have no number
// above -inf until others come.
TEST(CudaLarge, RowsOfInfinities) {
  const float inf = std::numeric_limits<float>::infinity();
  for (const int64_t n : {40, 9000}) {
    std::vector<float> values(static_cast<size_t>(5 * n), -inf);
    const auto at = [&](int64_t row, int64_t k) -> float& {
      return values[static_cast<size_t>(row * n + k)];
    };
    at(1, n - 1) = 3, at(1, n / 2) = 2;
    at(2, 5) = std::nanf(""), at(2, 9) = 1;
    at(3, 7) = inf, at(3, 8) = 1;
    for (int64_t k = 0; k < n; ++k) at(4, k) = static_cast<float>(k) / 8 - 30;
    const Array x = array(values).reshape({5, n}),
                there = to_device(x, test_device::emulated_device());
    properties::expect_close({to_device(nn::softmax(there), cpu_device())}, {nn::softmax(x)}, 1e-5,
                             "");
    properties::expect_close({to_device(nn::log_softmax(there), cpu_device())},
                             {nn::log_softmax(x)}, 1e-5, "");
  }
}

// Blocks and threads in five orders: the same bits each time.
TEST(CudaLarge, RowsAndChunksInAnyOrder) {
  const auto same = [](const char* primitive, std::vector<SampleInput> in, Params params) {
    using properties::Arrays;
    const properties::Case c{find_primitive(primitive), 0,
                             Sample{.in = std::move(in), .params = std::move(params)}};
    Arrays x = properties::inputs(c);
    for (Array& a : x) a = to_device(a, test_device::emulated_device());
    Arrays first;
    for (uint64_t seed = 1; seed <= 5; ++seed) {
      cuda_emulator::set_seed(seed);
      const Arrays got = {to_device(properties::outputs(c, x)[0], cpu_device())};
      if (seed == 1) first = got;
      properties::expect_same(got, first, primitive);
    }
  };
  same("reduce_sum", {numbers(float32, {2600, 33})}, Params::make(ReduceParams{{0}}));
  same("reduce_sum", {numbers(float32, {300003})}, Params::make(ReduceParams{{0}}));
  for (const int64_t n : {700, 3000, 10000}) same("softmax", {numbers(float32, {5, n})}, {});
  same("cumsum", {numbers(float32, {9001})}, Params::make(CumulativeParams{0, false}));
  same("sort", {numbers(float32, {5000})}, Params::make(SortParams{0, 1}));
  same("scatter_add",
       {numbers(float32, {3, 2}), numbers(int32, {5000, 1}, 0, 3), numbers(float32, {5000, 2})},
       Params::make(rules::take_params(Shape{3, 2}, 0, 1)));
}

// Slices that a loop reads where they stand begin at any multiple of an element.
TEST(CudaLarge, RowsAtAnyPlace) {
  for (const Dtype d : {float32, bfloat16}) {
    const auto f = jit([](const Array& x) {
      const auto step = [](const Array& total, const Array& rows) {
        const Array sums = total * 0.5f + sum(rows, 1), y = nn::softmax(rows);
        return std::pair(sums, y * sums.reshape({3, 1}));
      };
      return scan(step, sum(x, {0, 2}), x).second;
    });
    const Array x = sin(arange(4 * 3 * 37).astype(float32)).reshape({4, 3, 37}).astype(d),
                there = to_device(x, test_device::emulated_device());
    properties::expect_close({to_device(f(there), cpu_device())}, {f(x)},
                             d == float32 ? 1e-5 : 5e-2, "");
  }
}

TEST(CudaLarge, Order) {
  check("sort", {numbers(float32, {2, 5000})}, Params::make(SortParams{1, 1}));
  check("sort",
        {numbers(int8, {3000, 2}, -5, 5), numbers(int32, {3000, 2}, -5, 5),
         numbers(float32, {3000, 2})},
        Params::make(SortParams{0, 2}));
  check("top_k", {numbers(float32, {2, 5000})}, Params::make(TopKParams{7}));
  // Keys of 32 bits, with equal ones, and wider keys.
  for (const Dtype d : {int8, uint8, int32, float16, float64, int64}) {
    check("sort", {numbers(d, {2500, 2}, 0, 9), numbers(float32, {2500, 2})},
          Params::make(SortParams{0, 1}));
    check("top_k", {numbers(d, {3, 2500}, 0, 9)}, Params::make(TopKParams{2500}));
  }
  check("sort", {numbers(int32, {20000}, 0, 5000)}, Params::make(SortParams{0, 1}));
  for (const int64_t k : {1, 64, 1024, 1025})
    check("top_k", {numbers(float16, {2, 9000})}, Params::make(TopKParams{k}));
  check("top_k", {numbers(float32, {70000}, -9, 9)}, Params::make(TopKParams{1000}));
  check("sort", {numbers(float32, {1})}, Params::make(SortParams{0, 1}));
  check("sort", {numbers(float32, {0, 3})}, Params::make(SortParams{0, 1}));
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

TEST(CudaLarge, ScattersWhosePlacesGoOnInOtherPieces) {
  const auto scatter = [](const char* p, Dtype d, int64_t rows, int64_t row, int64_t positions) {
    check(p,
          {numbers(d, {rows, row}), numbers(int32, {positions, 1}, -1, static_cast<double>(rows)),
           numbers(d, {positions, row}, 0.95, 1.05)},
          Params::make(rules::take_params(Shape{rows, row}, 0, 1)), is_half(d) ? 2e-2 : 1e-5);
  };
  for (const int64_t positions : {63, 64, 65, 128, 129, 1000}) {
    scatter("scatter_add", float32, 1, 1, positions);
    scatter("scatter_add", float32, 3, 5, positions);
  }
  for (const char* p : {"scatter", "scatter_add", "scatter_mul", "scatter_min", "scatter_max"})
    for (const Dtype d : {float32, float64, bfloat16, int8}) scatter(p, d, 2, 3, 333);
  scatter("scatter_add", float32, 40, 2, 2);
  scatter("scatter_add", float32, 40, 2, 0);
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
