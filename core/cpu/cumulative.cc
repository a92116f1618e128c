// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/cpu/cumulative.h"

namespace spruce::cpu::internal {

void run_cumulative(const KernelArgs& args, CumulativeLoop loop) {
  const View &x = args.in[0], &y = args.out[0];
  if (x.numel() == 0) return;
  const auto& p = args.params.get<CumulativeParams>();
  const auto axis = static_cast<int>(p.axis);
  const int64_t n = x.shape()[axis], inner = row_major_strides(x.shape())[axis], outer = x.numel() / (n * inner);
  const int64_t width = std::min(inner, kCumulativeColumns), tiles = (inner + width - 1) / width, bytes = size_of(x.dtype());
  parallel_pieces(outer * tiles, std::max<int64_t>(1, 16384 / (n * width)), [&](int64_t begin, int64_t end) {
    for (int64_t piece = begin; piece < end; ++piece) {
      const int64_t column = piece % tiles * width;
      const int64_t first = (piece / tiles * n + (p.reverse ? n - 1 : 0)) * inner + column;
      loop(x.as<char>() + first * bytes, y.as<char>() + first * bytes, n, p.reverse ? -inner : inner, std::min(width, inner - column));
    }
  });
}

}  // namespace spruce::cpu::internal
