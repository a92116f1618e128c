// SPDX-License-Identifier: Apache-2.0
// Products of up to four terms and columns, many after each other: rotations, homogeneous
// transforms, small covariances.
#pragma once

#include "spruce/core/cpu/gemm/gemm.h"

namespace spruce::cpu {

/// The product of matrices with the sizes and strides of `g`. The terms are added one after the
/// other, as by a tile of gemm_tiles.h.
template <class T>
using TinyGemm = void (*)(const Gemm& g, const T* a, const T* b, T* c);

/// The one for products of float or double of such sizes and strides; null where there is none.
template <class T>
TinyGemm<T> tiny_gemm(const Gemm& g);

}  // namespace spruce::cpu
