// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/cpu/reduce/arg_reduce.h"

#include "spruce/core/ceil_div.h"
#include "spruce/core/cpu/transpose.h"

namespace spruce::cpu::internal {
namespace {

constexpr int64_t kShortRow = 64;  // elements

void store(const View& y, int64_t at, const int64_t* positions, int64_t count) {
  visit_dtype(y.dtype(), [&]<class T>(T) {
    if constexpr (std::is_integral_v<T>) {
      for (int64_t j = 0; j < count; ++j) y.as<T>()[at + j] = static_cast<T>(positions[j]);
    }
  });
}

// Many short rows at a time, as columns of their transpose.
void short_rows(const View& x, const View& y, int64_t n, ArgReduceLoop loop) {
  constexpr int64_t kRows = 64;
  const int64_t rows = y.numel(), bytes = size_of(x.dtype());
  const TransposeLoop transpose = transpose_loop(bytes);
  parallel_pieces(ceil_div(rows, kRows), std::max<int64_t>(1, 32768 / (n * kRows)),
                  [&](int64_t begin, int64_t end) {
                    alignas(64) char columns[kShortRow * kRows * sizeof(double)];
                    int64_t positions[kRows];
                    for (int64_t row = begin * kRows; row < std::min(rows, end * kRows);
                         row += kRows) {
                      const int64_t count = std::min(kRows, rows - row);
                      transpose(x.as<char>() + row * n * bytes, n, columns, kRows, n, count);
                      loop(columns, positions, n, kRows, count);
                      store(y, row, positions, count);
                    }
                  });
}

}  // namespace

void run_arg_reduce(const KernelArgs& args, ArgReduceLoop loop) {
  const View &x = args.in[0], &y = args.out[0];
  if (y.numel() == 0) return;
  const auto axis = static_cast<int>(args.params.get<ArgReduceParams>().axis);
  const int64_t n = x.shape()[axis], inner = row_major_strides(x.shape())[axis],
                outer = y.numel() / inner;
  const int64_t width = std::min(inner, kArgColumns), tiles = ceil_div(inner, width),
                bytes = size_of(x.dtype());
  if (inner == 1 && n <= kShortRow && outer > 1) return short_rows(x, y, n, loop);
  parallel_pieces(
      outer * tiles, std::max<int64_t>(1, 32768 / (n * width)), [&](int64_t begin, int64_t end) {
        int64_t positions[kArgColumns];
        for (int64_t piece = begin; piece < end; ++piece) {
          const int64_t o = piece / tiles, column = piece % tiles * width,
                        columns = std::min(width, inner - column);
          loop(x.as<char>() + (o * n * inner + column) * bytes, positions, n, inner, columns);
          store(y, o * inner + column, positions, columns);
        }
      });
}

}  // namespace spruce::cpu::internal
