// SPDX-License-Identifier: Apache-2.0
// Sorts, scatters and scans on cuda:0 (the emulator) of values that stand at the edges of their
// types, of many equal elements, and of places outside, at sizes of several pieces.
#include <cmath>
#include <limits>
#include <numeric>

#include "spruce/core/rules/gather.h"
#include "spruce/core/rules/reduce.h"
#include "spruce/core/rules/scatter_add_rows.h"
#include "spruce/core/rules/sort.h"
#include "tests/cuda/large_case.h"

namespace spruce {
namespace large_cases_test {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
const double kNaN = std::nan("");

// The values in turn, in an order that is not theirs.
SampleInput repeated(Dtype d, const Shape& shape, const std::vector<double>& values) {
  SampleInput in = numbers(d, shape);
  for (int64_t i = 0; i < shape.numel(); ++i)
    in.values.push_back(values[static_cast<size_t>(i * i / 7 + i) % values.size()]);
  return in;
}

SampleInput counted(int64_t n) {
  SampleInput in = numbers(int32, {n});
  in.values.resize(static_cast<size_t>(n));
  std::iota(in.values.begin(), in.values.end(), 0);
  return in;
}

// The numbers of the elements come along: equal ones keep their order.
TEST(CudaOrdered, SortsOfEdges) {
  const std::vector<double> floats = {0, -0.0, kNaN, kInf, -kInf, 1, -1, 0x1p-130};
  for (const int64_t n : {1, 2, 3, 2047, 2048, 2049, 4097}) {
    const auto sorts = [n](Dtype d, const std::vector<double>& values) {
      const SampleInput x = repeated(d, {n}, values);
      check("sort", {x, counted(n)}, Params::make(SortParams{0, 1}));
      for (const int64_t k : {int64_t{1}, n / 2, n})
        check("top_k", {x}, Params::make(TopKParams{k}));
    };
    for (const Dtype d : {float32, float64, bfloat16, float16}) sorts(d, floats);
    sorts(bool_, {0, 1});
    sorts(int8, {-128, 127, 0, -1});
    sorts(uint32, {0, 4294967295.0, 4294967294.0, 2147483648.0});
    sorts(int32, {-2147483648.0, 2147483647, 0, -1});
    sorts(int64, {-0x1p63, 0x1p62, 0, -1});
    sorts(uint64, {0, 0x1p63, 1});
  }
}

TEST(CudaOrdered, ScansOfEdges) {
  for (const Shape& shape : {Shape{9001}, Shape{5000, 2}, Shape{600, 40}, Shape{33, 4100}}) {
    for (const char* p : {"cummax", "cummin", "cumlogsumexp", "cumsum"}) {
      for (const double late : {kNaN, kInf, -kInf}) {
        SampleInput x = repeated(float32, shape, {-kInf, -1, -2, 0});
        if (std::string_view(p) == "cumsum") x = repeated(float32, shape, {-0.0, 1});
        x.values[x.values.size() / 2] = late;
        for (const bool reverse : {false, true})
          check(p, {x}, Params::make(CumulativeParams{0, reverse}));
      }
    }
    check("cumprod", {repeated(int32, shape, {3, -1, 5})},
          Params::make(CumulativeParams{0, false}));
    check("cumsum", {repeated(uint8, shape, {255, 7})}, Params::make(CumulativeParams{0, true}));
    check("cummin", {repeated(uint64, shape, {0x1p63, 5})},
          Params::make(CumulativeParams{0, true}));
  }
}

// Places outside are left out, or clamped.
TEST(CudaOrdered, ScattersOutside) {
  for (const bool clip : {false, true}) {
    for (const int64_t positions : {1, 2, 64, 65, 300, 2049}) {
      for (const int64_t rows : {1, 4}) {
        GatherParams params = rules::take_params(Shape{rows, 2}, 0, 1);
        params.clip = clip;
        params.wraps = rows == 4;
        for (const char* p : {"scatter", "scatter_add", "scatter_min", "scatter_max"})
          check(p,
                {numbers(float32, {rows, 2}),
                 repeated(int64, {positions, 1}, {-5, -1, 0, 0, 3, 4, 0x1p40, -0x1p40}),
                 repeated(float32, {positions, 2}, {1, -0.0, 2, kNaN, -kInf})},
                Params::make(params));
        check("scatter_mul",
              {numbers(bool_, {rows, 2}, 0, 1), repeated(int32, {positions, 1}, {-5, 0, 0, 3, 4}),
               repeated(bool_, {positions, 2}, {1, 1, 0})},
              Params::make(params));
        check("scatter_add",
              {numbers(uint64, {rows, 2}, 0, 9),
               repeated(uint32, {positions, 1}, {4294967295.0, 0, 0, 3, 4}),
               repeated(uint64, {positions, 2}, {0x1p63, 7, 0})},
              Params::make(params));
      }
      ScatterAddRowsParams rows;
      rows.clip = clip;
      check("scatter_add_rows",
            {numbers(float32, {3, 2}), repeated(int32, {positions, 1}, {-1, 0, 0, 2, 3}),
             numbers(float32, {5, 2}), repeated(int32, {positions, 1}, {-9, 0, 4, 7})},
            Params::make(rows));
    }
    // Every position outside.
    GatherParams params = rules::take_params(Shape{3, 2}, 0, 1);
    params.clip = clip;
    check(
        "scatter_add",
        {numbers(float32, {3, 2}), repeated(int32, {200, 1}, {-1, 3}), numbers(float32, {200, 2})},
        Params::make(params));
  }
}

}  // namespace
}  // namespace large_cases_test
}  // namespace spruce
