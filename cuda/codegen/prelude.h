// SPDX-License-Identifier: Apache-2.0
// What the texts of kernels begin with: element types, conversions, scalar operations and the like,
// as CUDA C++ in the namespace `sp`. It includes nothing, so that NVRTC compiles it without a path.
#pragma once

#include <string>
#include <string_view>

#include "spruce/core/dtype.h"

namespace spruce::cuda {

/// Element types (sp::f16 and so on), load and store with conversion, and operations on them.
std::string_view scalar_prelude();
/// Special functions: erf_inv, digamma, polygamma, derivatives of gamma variates. After the scalar
/// one.
const std::string& special_prelude();
/// Threefry and single random numbers of a key. After the special one.
std::string_view random_prelude();
/// Exchange of values within a warp. After the scalar one.
std::string_view shuffle_prelude();
/// Reductions over a warp and a block. After that of shuffles.
std::string_view reduce_prelude();
/// Of the largest state of a reduction, at most.
inline constexpr int64_t kStateBytes = 16;

/// The element type of a text: "f32", "i64", "bool".
std::string_view text_type(Dtype d);
/// The type that a text computes in: "f32" for f16 and bf16, else text_type().
std::string_view compute_type(Dtype d);
/// A number as a literal of that type: "sp::f32(0x1.8p+1f)" in hexadecimal, so that it is exact.
std::string literal(Dtype d, double value);
/// The same for an integer.
std::string literal(Dtype d, int64_t value);

}  // namespace spruce::cuda
