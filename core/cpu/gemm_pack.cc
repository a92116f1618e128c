// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/cpu/gemm_pack.h"

#include <cstring>

#include "spruce/core/cpu/transpose.h"

namespace spruce::cpu {

template <class T>
void gemm_pack(const T* from, int64_t step_j, int64_t step_p, int64_t count, int64_t k,
               int64_t width, T* to) {
  if (step_j == 1) {
    for (int64_t p = 0; p < k; ++p)
      std::memcpy(to + p * width, from + p * step_p, static_cast<size_t>(count) * sizeof(T));
  } else if (step_p == 1) {
    static const TransposeLoop loop = transpose_loop(sizeof(T));
    loop(from, step_j, to, width, k, count);
  } else {
    for (int64_t p = 0; p < k; ++p) {
      for (int64_t j = 0; j < count; ++j) to[p * width + j] = from[j * step_j + p * step_p];
    }
  }
}

template void gemm_pack<float>(const float*, int64_t, int64_t, int64_t, int64_t, int64_t, float*);
template void gemm_pack<double>(const double*, int64_t, int64_t, int64_t, int64_t, int64_t,
                                double*);

}  // namespace spruce::cpu
