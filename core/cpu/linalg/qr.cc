// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "spruce/core/cpu/linalg/linalg.h"
#include "spruce/core/cpu/linalg/matrices.h"
#include "spruce/core/cpu/linalg/reflectors.h"
#include "spruce/core/rules/decompositions.h"

namespace spruce::cpu {
namespace {

struct QrSizes {
  QrSizes(const Shape& a, const Params& params) {
    const MatrixBatch batch(a);
    m = batch.rows, n = batch.columns, k = std::min(m, n);
    columns = params.get<QrParams>().full ? m : k;
  }
  // Of `memory` as factor_qr lays it out.
  int64_t numbers() const {
    return 2 * m * n + 2 * m * columns + reflector_blocks(k) +
           reflector_memory(m, std::max(n, columns));
  }
  double work() const {
    return 2 * static_cast<double>(m) * static_cast<double>(std::max(n, columns)) *
           static_cast<double>(k);
  }
  int64_t m, n, k;
  int64_t columns;  // of q, rows of r
};

// a [m, n], dense, stands at the beginning of memory; returns q, whose memory begins behind that of
// a, which becomes r.
double* factor_qr(const QrSizes& s, double* memory) {
  double *a = memory, *qt = a + s.m * s.n, *q = qt + s.m * s.columns;
  double *rows = q + s.m * s.columns, *blocks = rows + s.m * s.n;
  double* more = blocks + reflector_blocks(s.k);
  const Reflectors h{s.k, s.m, rows, s.m, blocks};
  transpose_matrix(a, s.m, s.n, rows);
  factor_columns(vector_loops(), h, s.n, more);
  transpose_matrix(rows, s.n, s.m, a);
  for (int64_t i = 0; i < s.m; ++i) std::fill_n(a + i * s.n, std::min(i, s.n), 0.0);
  multiply_reflectors(h, s.m, qt, s.columns, more);
  transpose_matrix(qt, s.columns, s.m, q);
  return q;
}

}  // namespace

size_t qr_workspace(const PrepareArgs& args) {
  return workspace_size(bytes_of<double>(QrSizes(args.in[0]->shape, args.params).numbers()));
}

void qr_kernel(const KernelArgs& args) {
  const MatrixBatch batch(args.in[0].shape());
  const QrSizes s(args.in[0].shape(), args.params);
  const int64_t q_elements = s.m * s.columns, r_elements = s.columns * s.n;
  for_each_matrix(batch.count, s.work(), bytes_of<double>(s.numbers()),
                  [&](int64_t i, double* memory) {
                    read_doubles(args.in[0], i * batch.elements, batch.elements, memory);
                    const double* q = factor_qr(s, memory);
                    write_doubles(q, q_elements, args.out[0], i * q_elements);
                    write_doubles(memory, r_elements, args.out[1], i * r_elements);
                  });
}

}  // namespace spruce::cpu
