// SPDX-License-Identifier: Apache-2.0
// What moves elements on cuda:0 (the emulator): copies of several neighbours at once, with a rest,
// at places that are multiples of one element only; transposes by tiles and by words.
#include "spruce/core/rules/gather.h"
#include "spruce/core/rules/shape.h"
#include "tests/cuda/large_case.h"

namespace spruce {
namespace copies_test {

using large_cases_test::check;
using large_cases_test::numbers;

constexpr Dtype kEach[] = {uint8, bfloat16, float32, float64};

void check_slice(Dtype d, const Shape& x, const Shape& start, const Shape& limit) {
  check("slice", {numbers(d, x, 0, 100)},
        Params::make(SliceParams{start, limit, Shape::filled(x.rank(), 1)}));
}

TEST(CudaCopies, Slices) {
  for (const Dtype d : kEach) {
    check_slice(d, {5001}, {16}, {5000});  // one axis, with a rest
    check_slice(d, {5001}, {1}, {5001});   // from an odd place
    check_slice(d, {70, 96}, {3, 32}, {70, 96});
    check_slice(d, {70, 96}, {0, 2}, {70, 36});  // two neighbours
    check_slice(d, {70, 95}, {0, 0}, {69, 64});  // odd rows
    check_slice(d, {3, 20, 64}, {1, 0, 16}, {3, 11, 48});
    check_slice(d, {5}, {4}, {5});
    check_slice(d, {5}, {2}, {2});
  }
}

TEST(CudaCopies, Concatenations) {
  for (const Dtype d : kEach) {
    check("concatenate", {numbers(d, {33, 32}), numbers(d, {33, 64}), numbers(d, {33, 3})},
          Params::make(ConcatenateParams{1}));
    check("concatenate", {numbers(d, {33, 32}), numbers(d, {33, 64})},
          Params::make(ConcatenateParams{1}));
    check("concatenate", {numbers(d, {1001}), numbers(d, {77}), numbers(d, {0}), numbers(d, {1})},
          Params::make(ConcatenateParams{0}));
  }
}

void check_transpose(Dtype d, const Shape& x, const Axes& order) {
  check("transpose", {numbers(d, x, 0, 100)}, Params::make(TransposeParams{order}));
}

TEST(CudaCopies, Transposes) {
  for (const Dtype d : kEach) {
    check_transpose(d, {128, 256}, {1, 0});
    check_transpose(d, {131, 197}, {1, 0});
    check_transpose(d, {130, 68}, {1, 0});
    check_transpose(d, {64, 9}, {1, 0});
    check_transpose(d, {3, 65, 72}, {0, 2, 1});
    check_transpose(d, {40, 50, 2}, {1, 0, 2});  // pairs change places
    check_transpose(d, {40, 3, 50, 4}, {2, 1, 0, 3});
    check_transpose(d, {9, 40, 32}, {1, 0, 2});  // rows that stay as they are
    check_transpose(d, {1, 1}, {1, 0});
  }
}

TEST(CudaCopies, Windows) {
  for (const Dtype d : kEach) {
    for (const double at : {0.0, 4.0, 7.0, 60.0, -3.0}) {
      SampleInput row = numbers(int32, {}), column = numbers(int64, {});
      row.values = {3}, column.values = {at};
      check("dynamic_slice", {numbers(d, {30, 64}), row, column},
            Params::make(DynamicSliceParams{{20, 48}}));
      check("dynamic_slice", {numbers(d, {30, 64}), row, column},
            Params::make(DynamicSliceParams{{1, 33}}));
      check("dynamic_update_slice", {numbers(d, {30, 64}), numbers(d, {20, 32}), row, column});
      check("dynamic_update_slice", {numbers(d, {30, 63}), numbers(d, {20, 32}), row, column});
    }
  }
}

TEST(CudaCopies, Gathers) {
  for (const Dtype d : kEach) {
    const SampleInput at = numbers(int32, {70, 1}, -5, 105);
    for (const int64_t width : {1, 3, 16, 40, 1100})
      check("gather", {numbers(d, {100, width}), at},
            Params::make(rules::take_params(Shape{100, width}, 0, 1)));
    GatherParams p = rules::take_params(Shape{100, 40}, 0, 1);
    p.clip = false;
    check("gather", {numbers(d, {100, 40}), at}, Params::make(p));
    check("gather", {numbers(d, {5, 100, 16}), numbers(int32, {9, 8, 1}, 0, 100)},
          Params::make(rules::take_params(Shape{5, 100, 16}, 1, 2)));
    check("gather", {numbers(d, {40, 100}), at},
          Params::make(rules::take_params(Shape{40, 100}, 1, 1)));
  }
}

void check_pad(Dtype d, const Shape& x, const Shape& low, const Shape& high,
               const Shape& interior) {
  check("pad", {numbers(d, x), numbers(d, {})}, Params::make(PadParams{low, high, interior}));
}

TEST(CudaCopies, Pads) {
  for (const Dtype d : kEach) {
    check_pad(d, {10, 32}, {1, 16}, {2, 0}, {0, 0});
    check_pad(d, {10, 32}, {1, -16}, {2, 16}, {0, 0});
    check_pad(d, {10, 33}, {1, 3}, {2, -1}, {0, 0});
    check_pad(d, {2, 7, 6, 8}, {0, 1, 1, 0}, {0, 1, 2, 0}, {0, 0, 0, 0});
    check_pad(d, {2, 7, 6, 8}, {0, 1, -1, 0}, {0, 1, 2, 0}, {0, 2, 1, 0});
    check_pad(d, {500}, {8}, {4}, {0});
    check_pad(d, {50}, {-3}, {4}, {2});
    check_pad(d, {0, 3}, {1, 0}, {1, 0}, {0, 0});
    check_pad(d, {1}, {0}, {0}, {0});
  }
}

// The slices of a scan stand where they are in the whole, at multiples of one element.
TEST(CudaCopies, AtAnyAddress) {
  Device& gpu = test_device::emulated_device();
  for (const Dtype d : kEach) {
    for (const int64_t width : {96, 129}) {
      const Array xs = astype(arange(4 * (66 * width + 1)) % 97, d).reshape({4, 66 * width + 1}),
                  at = array({4, 1, 60});
      const auto f = jit([&](const Array& all, const Array& rows) {
        return scan(
            [&](const Array& state, const Array& row) {
              const Array x = row[{slice(1, none)}].reshape({66, width});
              return std::pair(
                  state, std::tuple(transpose(x), x[{slice(1, 65), slice(0, 64)}], take(x, rows, 0),
                                    concatenate({x, x}, 1), pad(x, {{1, 2}, {0, 0}})));
            },
            rows, all);
      });
      const auto [want_state, want] = f(xs, at);
      const auto [state, got] = f(to_device(xs, gpu), to_device(at, gpu));
      std::apply(
          [&](const auto&... w) {
            std::apply(
                [&](const auto&... g) {
                  (properties::expect_same({to_device(g, cpu_device())}, {w}, "at any address"),
                   ...);
                },
                got);
          },
          want);
    }
  }
}

}  // namespace copies_test
}  // namespace spruce
