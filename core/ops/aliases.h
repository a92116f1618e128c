// SPDX-License-Identifier: Apache-2.0
// Other names that NumPy, PyTorch and SciPy have for functions that stand here under those of JAX.
// Messages name the function that does the work.
#pragma once

#include "spruce/core/ops/cumulative.h"
#include "spruce/core/ops/join.h"
#include "spruce/core/ops/linalg.h"
#include "spruce/core/ops/math.h"
#include "spruce/core/ops/norm.h"
#include "spruce/core/ops/rearrange.h"
#include "spruce/core/ops/reduce.h"
#include "spruce/core/ops/shape.h"
#include "spruce/core/ops/sort.h"
#include "spruce/core/ops/take.h"

namespace spruce {

/// asin, in NumPy.
inline constexpr const auto& arcsin = asin;
/// acos, in NumPy.
inline constexpr const auto& arccos = acos;
/// atan, in NumPy.
inline constexpr const auto& arctan = atan;
/// atan2, in NumPy.
inline constexpr const auto& arctan2 = atan2;
/// asinh, in NumPy.
inline constexpr const auto& arcsinh = asinh;
/// acosh, in NumPy.
inline constexpr const auto& arccosh = acosh;
/// atanh, in NumPy.
inline constexpr const auto& arctanh = atanh;
/// abs, in NumPy and PyTorch.
inline constexpr const auto& absolute = abs;
/// power, in PyTorch and C++.
inline constexpr const auto& pow = power;
/// divide, in NumPy and PyTorch.
inline constexpr const auto& true_divide = divide;
/// round, in NumPy.
inline constexpr const auto& around = round;
/// clip, in PyTorch and C++.
inline constexpr const auto& clamp = clip;
/// deg2rad, in NumPy.
inline constexpr const auto& radians = deg2rad;
/// rad2deg, in NumPy.
inline constexpr const auto& degrees = rad2deg;
/// bitwise_not, in NumPy.
inline constexpr const auto& invert = bitwise_not;
/// population_count; NumPy's function of the name counts the bits of the magnitude.
inline constexpr const auto& bitwise_count = population_count;

/// erf_inv, in PyTorch, SciPy and jax.scipy.
inline constexpr const auto& erfinv = erf_inv;
/// lgamma, in SciPy and jax.scipy.
inline constexpr const auto& gammaln = lgamma;
/// sigmoid, in SciPy and jax.scipy.
inline constexpr const auto& expit = logistic;

/// max over axes, in NumPy and PyTorch.
inline constexpr const auto& amax = max;
/// min over axes, in NumPy and PyTorch.
inline constexpr const auto& amin = min;
/// cumlogsumexp, in PyTorch.
inline constexpr const auto& logcumsumexp = cumlogsumexp;

/// top_k, in PyTorch.
inline constexpr const auto& topk = top_k;
/// take_along_axis, in PyTorch.
inline constexpr const auto& take_along_dim = take_along_axis;

/// concatenate, in PyTorch.
inline constexpr const auto& cat = concatenate;
/// concatenate, in NumPy and PyTorch.
inline constexpr const auto& concat = concatenate;
/// expand_dims, in PyTorch.
inline constexpr const auto& unsqueeze = expand_dims;
/// transpose, in PyTorch.
inline constexpr const auto& permute = transpose;
/// transpose, in NumPy.
inline constexpr const auto& permute_dims = transpose;
/// array_split, in PyTorch.
inline constexpr const auto& tensor_split = array_split;

/// What NumPy, JAX and PyTorch have in linalg too, where it means the same.
namespace linalg {
using spruce::cross;
using spruce::matmul;
using spruce::norm;
using spruce::outer;
using spruce::tensordot;
using spruce::vecdot;
}  // namespace linalg

}  // namespace spruce
