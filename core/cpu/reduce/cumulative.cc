// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/cpu/reduce/cumulative.h"

#include "spruce/core/ceil_div.h"

namespace spruce::cpu::internal {

void run_cumulative(const KernelArgs& args, CumulativeLoop loop) {
  const View &x = args.in[0], &y = args.out[0];
  if (x.numel() == 0) return;
  const auto& p = args.params.get<CumulativeParams>();
  const auto axis = static_cast<int>(p.axis);
  const int64_t n = x.shape()[axis], inner = row_major_strides(x.shape())[axis],
                outer = x.numel() / (n * inner);
  const int64_t bytes = size_of(x.dtype()), step = p.reverse ? -inner : inner,
                first = p.reverse ? (n - 1) * inner : 0;
  const auto run = [&](int64_t at, int64_t columns, int64_t column_step) {
    loop(x.as<char>() + (at + first) * bytes, y.as<char>() + (at + first) * bytes, n, step, columns,
         column_step);
  };
  if (inner == 1) {
    const int64_t rows = cumulative_rows(n), groups = ceil_div(outer, rows);
    parallel_pieces(groups, std::max<int64_t>(1, 16384 / (n * rows)),
                    [&](int64_t begin, int64_t end) {
                      for (int64_t group = begin; group < end; ++group)
                        run(group * rows * n, std::min(rows, outer - group * rows), n);
                    });
    return;
  }
  const int64_t width = std::min(inner, kCumulativeColumns), tiles = ceil_div(inner, width);
  parallel_pieces(outer * tiles, std::max<int64_t>(1, 16384 / (n * width)),
                  [&](int64_t begin, int64_t end) {
                    for (int64_t piece = begin; piece < end; ++piece) {
                      const int64_t column = piece % tiles * width;
                      run(piece / tiles * n * inner + column, std::min(width, inner - column), 1);
                    }
                  });
}

}  // namespace spruce::cpu::internal
