// SPDX-License-Identifier: Apache-2.0
// Products of matrices by cuBLASLt.
#pragma once

#include <array>
#include <memory>
#include <optional>

#include "spruce/cuda/kernels.h"

namespace spruce::cuda {

/// What is applied to each element last.
enum class Activation : uint8_t { kNone, kRelu, kGelu };  // gelu in its form with tanh

/// What follows a product in the same call.
struct Epilogue {
  bool bias = false;  ///< input 2, of which element n is added to column n
  Activation activation = Activation::kNone;
};

/// c[b, m, n] = the sum over k of a[b, m, k] b[b, k, n], each matrix with one step along each axis.
struct Gemm {
  Dtype dtype = Dtype::kFloat32;                          ///< of a and b
  int64_t batches = 1, rows = 1, columns = 1, depth = 1;  ///< the sizes of b, m, n and k
  /// Steps in elements: of a along b, m, k; of b along b, k, n; of c along b, m, n.
  std::array<int64_t, 3> a{}, b{}, c{};
  Epilogue epilogue;
  /// Of c: that of a and b where it is not set; f32 for products of halves, without an epilogue.
  std::optional<Dtype> result = std::nullopt;
  bool adds = false;  ///< to what c holds

  /// The dtype of c.
  Dtype result_dtype() const { return result.value_or(dtype); }
};

/// Bytes that a product works in, besides those of a bias: as NVIDIA advises for Hopper; earlier
/// ones need less.
inline constexpr int64_t kGemmWorkspace = int64_t{32} << 20;
/// Batches that one product may have.
inline constexpr int64_t kMostGemmBatches = 65535;

/// The product of two matrices at any addresses, which Call::arguments name in the order a, b, c,
/// workspace. Null where gemm_kernels() gives nothing. Several calls may share it.
std::shared_ptr<const LibraryCall> gemm_call(const Gemm& gemm);

/// The product of inputs 0 and 1 as output 0. Nothing where cuBLASLt has none for such steps or
/// dtypes: all three matrices need an axis without gaps, and an epilogue has one batch, no f64 and
/// columns side by side in c. The thread has entered the context, for which cuBLASLt is asked; the
/// addresses may be those of any elements. f32 is computed as matmul_precision() says when it runs,
/// f16 and bf16 are summed up in f32.
std::optional<Kernels> gemm_kernels(const Gemm& gemm);

}  // namespace spruce::cuda
