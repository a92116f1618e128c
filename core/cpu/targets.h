// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "spruce/core/scalar/inline.h"

/// Attributes of kernels that are compiled for several instruction sets in one binary.
///
/// A kernel is a loop in a function marked `SPRUCE_TARGET_V3` or `SPRUCE_TARGET_V4` over a body
/// marked `SPRUCE_INLINE`; the caller picks one at run time by what the processor has. Elsewhere
/// than x86-64 the macros are empty and the loop is compiled for the baseline.

/// Before a loop: its iterations do not depend on each other, although pointers may be equal.
#if defined(__clang__)
// Its own pragma for this demands a vector loop and warns where it makes none.
#define SPRUCE_INDEPENDENT
#else
#define SPRUCE_INDEPENDENT _Pragma("GCC ivdep")
#endif

#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))
#define SPRUCE_HAS_X86_TARGETS 1
#define SPRUCE_TARGET_V3 __attribute__((target("avx2,fma,bmi,bmi2,f16c")))
#if defined(__clang__)
#define SPRUCE_TARGET_BASE
// clang 14 has no prefer-vector-width in target attributes and warns about it.
#define SPRUCE_TARGET_V4 \
  __attribute__((target("avx2,fma,bmi,bmi2,f16c,avx512f,avx512bw,avx512dq,avx512vl")))
#else
// Processors without AVX2 are rare: for them loops are compiled for size, a third of their code.
#define SPRUCE_TARGET_BASE __attribute__((optimize("Os")))
#define SPRUCE_TARGET_V4                                                  \
  __attribute__((                                                         \
      target("avx2,fma,bmi,bmi2,f16c,avx512f,avx512bw,avx512dq,avx512vl," \
             "prefer-vector-width=512")))
#endif
// In addition to SPRUCE_TARGET_V4: products of pairs of bf16.
#define SPRUCE_TARGET_BF16 \
  __attribute__((target("avx2,fma,bmi,bmi2,f16c,avx512f,avx512bw,avx512dq,avx512vl,avx512bf16")))
#else
#define SPRUCE_HAS_X86_TARGETS 0
#define SPRUCE_TARGET_BASE
#define SPRUCE_TARGET_V3
#define SPRUCE_TARGET_V4
#endif
