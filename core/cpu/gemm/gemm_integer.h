// SPDX-License-Identifier: Apache-2.0
// Products of matrices of integers, which wrap, and of bool, or of and.
#pragma once

#include "spruce/core/cpu/gemm/gemm.h"

namespace spruce::cpu {

/// See gemm(); T is an integer or bool. On several threads where it pays.
template <class T>
void gemm_integer(const Gemm& g);

}  // namespace spruce::cpu
