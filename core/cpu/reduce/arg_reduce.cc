// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/cpu/reduce/arg_reduce.h"

namespace spruce::cpu::internal {

void run_arg_reduce(const KernelArgs& args, ArgReduceLoop loop) {
  const View &x = args.in[0], &y = args.out[0];
  if (y.numel() == 0) return;
  const auto axis = static_cast<int>(args.params.get<ArgReduceParams>().axis);
  const int64_t n = x.shape()[axis], inner = row_major_strides(x.shape())[axis],
                outer = y.numel() / inner;
  const int64_t width = std::min(inner, kArgColumns), tiles = (inner + width - 1) / width,
                bytes = size_of(x.dtype());
  parallel_pieces(
      outer * tiles, std::max<int64_t>(1, 32768 / (n * width)), [&](int64_t begin, int64_t end) {
        int64_t positions[kArgColumns];
        for (int64_t piece = begin; piece < end; ++piece) {
          const int64_t o = piece / tiles, column = piece % tiles * width,
                        columns = std::min(width, inner - column);
          loop(x.as<char>() + (o * n * inner + column) * bytes, positions, n, inner, columns);
          visit_dtype(y.dtype(), [&]<class T>(T) {
            if constexpr (std::is_integral_v<T>) {
              for (int64_t j = 0; j < columns; ++j)
                y.as<T>()[o * inner + column + j] = static_cast<T>(positions[j]);
            }
          });
        }
      });
}

}  // namespace spruce::cpu::internal
