// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/cpu/gemm/onednn.h"

#include <dnnl.h>

#ifdef SPRUCE_HAS_OPENMP
#include <omp.h>
#endif

#include <algorithm>

namespace spruce::cpu::onednn {
namespace {

// oneDNN sizes its team by the calling thread's setting; while one of these lives, that is one
// thread.
class OneThread {
 public:
#ifdef SPRUCE_HAS_OPENMP
  OneThread() : saved_(omp_get_max_threads()) {
    if (saved_ != 1) omp_set_num_threads(1);
  }
  ~OneThread() {
    if (saved_ != 1) omp_set_num_threads(saved_);
  }

 private:
  int saved_;
#else
  OneThread() {}
#endif
};

struct Layout {
  char flag;
  int64_t step;
};

// How a matrix [rows, cols] looks to sgemm, whose matrices are row-major.
bool layout(int64_t rows, int64_t cols, int64_t row, int64_t col, Layout* out) {
  if (col == 1 || cols == 1) {
    if (rows == 1 || row >= cols)
      return *out = {'N', rows == 1 ? std::max<int64_t>(cols, 1) : row}, true;
  }
  if (row == 1 || rows == 1) {
    if (cols == 1 || col >= rows)
      return *out = {'T', cols == 1 ? std::max<int64_t>(rows, 1) : col}, true;
  }
  return false;
}

}  // namespace

bool takes_sgemm(const Gemm& g) {
  Layout a{}, b{};
  return layout(g.m, g.k, g.a_row, g.a_col, &a) && layout(g.k, g.n, g.b_row, g.b_col, &b);
}

bool sgemm(const Gemm& g) {
  Layout a{'N', 1}, b{'N', 1};
  if (!layout(g.m, g.k, g.a_row, g.a_col, &a) || !layout(g.k, g.n, g.b_row, g.b_col, &b))
    return false;
  const OneThread one;
  const dnnl_status_t status =
      dnnl_sgemm(a.flag, b.flag, g.m, g.n, g.k, 1.0f, static_cast<const float*>(g.a), a.step,
                 static_cast<const float*>(g.b), b.step, g.accumulate ? 1.0f : 0.0f,
                 static_cast<float*>(g.c), std::max(g.c_row, g.n));
  return status == dnnl_success;
}

}  // namespace spruce::cpu::onednn
