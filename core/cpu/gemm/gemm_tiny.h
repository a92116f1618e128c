// SPDX-License-Identifier: Apache-2.0
// Products of up to four terms and columns, many after each other: rotations, homogeneous
// transforms, small covariances.
#pragma once

#include "spruce/core/cpu/gemm/gemm.h"

namespace spruce::cpu {

/// Products that follow each other, and the steps between them in elements.
struct TinyBatch {
  int64_t count, a, b, c;
};

/// Products of matrices with the sizes and strides of `g`. The terms are added one after the other,
/// as by a tile of gemm_tiles.h.
template <class T>
using TinyGemm = void (*)(const Gemm& g, const TinyBatch& batch, const T* a, const T* b, T* c);

/// The one for products of float or double of such sizes and strides; null where there is none.
template <class T>
TinyGemm<T> tiny_gemm(const Gemm& g);

}  // namespace spruce::cpu
