// SPDX-License-Identifier: Apache-2.0
// A contraction of two arrays as loops around one product of matrices.
#pragma once

#include "spruce/core/cpu/gemm/gemm.h"
#include "spruce/core/ops/linalg.h"
#include "spruce/core/primitive.h"

namespace spruce::cpu {

/// Of the operands and the result, in elements; null for row-major order without gaps.
struct DotStrides {
  const Shape *a = nullptr, *b = nullptr, *c = nullptr;
};

/// Axes that step evenly are one; of those of the left (right) operand alone, one is the rows
/// (columns) of the product and the others are loops, so that nothing is copied.
struct Contraction {
  struct Loop {
    int64_t size, a, b, c;  // steps in elements
  };
  static constexpr int kMaxLoops = 2 * kMaxRank;

  Contraction(const Aval& a, const Aval& b, const DotParams& d, const DotStrides& strides = {});

  Dtype dtype;
  Gemm product;          // sizes and strides; no pointers
  int64_t items = 1;     // products
  int loops = 0;         // outermost first
  bool even = true;      // false: the contracted axes are not one, and the rest is not set
  bool swapped = false;  // the rows of the product are those of the right operand
  Loop loop[kMaxLoops];

  /// Calls f(a, b, c) with the offsets of the products begin..end.
  template <class F>
  void each(int64_t begin, int64_t end, const F& f) const {
    int64_t index[kMaxLoops];
    int64_t rest = begin, a = 0, b = 0, c = 0;
    for (int i = loops - 1; i >= 0; --i) {
      index[i] = rest % loop[i].size;
      rest /= loop[i].size;
      a += index[i] * loop[i].a, b += index[i] * loop[i].b, c += index[i] * loop[i].c;
    }
    for (int64_t item = begin; item < end; ++item) {
      f(a, b, c);
      for (int i = loops - 1; i >= 0; --i) {
        const Loop& l = loop[i];
        a += l.a, b += l.b, c += l.c;
        if (++index[i] < l.size) break;
        index[i] = 0;
        a -= l.size * l.a, b -= l.size * l.b, c -= l.size * l.c;
      }
    }
  }

 private:
  void set_matrices(const Shape& a, const Shape& b, bool a_turned, bool b_turned);
};

}  // namespace spruce::cpu
