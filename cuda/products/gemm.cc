// SPDX-License-Identifier: Apache-2.0
#include "spruce/cuda/products/gemm.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "spruce/core/error.h"
#include "spruce/cuda/cuda.h"
#include "spruce/cuda/driver/context.h"
#include "spruce/cuda/driver/error.h"

namespace spruce::cuda {
namespace {

// The powers of two, at most 256, of which the addresses of both factors and of the result are
// multiples: an algorithm may need more than elements do.
using Alignments = std::array<uint32_t, 3>;
constexpr uint32_t kMostAligned = 256;
constexpr uintptr_t kBiasAligned = 16;  // no preference names it

uint32_t alignment_of(const void* p) {
  const auto address = reinterpret_cast<uintptr_t>(p);
  return static_cast<uint32_t>(std::min<uintptr_t>(kMostAligned, address & -address));
}

// A matrix as cuBLASLt has it: columns without gaps, one after the other.
struct Matrix {
  int64_t rows = 0, columns = 0;  // in memory
  int64_t leading = 0;            // step from one column to the next
  int64_t batch_step = 0;
  bool transposed = false;  // what is multiplied is the transpose of what is in memory
};

// A matrix of rows x columns with these steps. Nothing where neither axis is without gaps.
std::optional<Matrix> matrix(int64_t rows, int64_t columns, int64_t row_step, int64_t column_step,
                             int64_t batch_step) {
  if (row_step == 1 || rows == 1) {
    const int64_t leading = columns == 1 ? rows : column_step;
    if (leading >= rows) return Matrix{rows, columns, leading, batch_step, false};
  }
  if (column_step == 1 || columns == 1) {
    const int64_t leading = rows == 1 ? columns : row_step;
    if (leading >= columns) return Matrix{columns, rows, leading, batch_step, true};
  }
  return std::nullopt;
}

cudaDataType_t data_type(Dtype d) {
  switch (d) {
    case Dtype::kFloat16:
      return CUDA_R_16F;
    case Dtype::kBfloat16:
      return CUDA_R_16BF;
    case Dtype::kFloat64:
      return CUDA_R_64F;
    default:
      return CUDA_R_32F;
  }
}

// One handle a context, for the whole program.
cublasLtHandle_t handle() {
  static std::mutex mutex;
  static auto* handles = new std::map<CUcontext, cublasLtHandle_t>;
  CUcontext context = nullptr;
  check(driver().cuCtxGetCurrent(&context), "cuCtxGetCurrent");
  const std::lock_guard lock(mutex);
  cublasLtHandle_t& h = (*handles)[context];
  if (h == nullptr) check(blas().cublasLtCreate(&h), "cublasLtCreate");
  return h;
}

cublasLtEpilogue_t epilogue_of(const Epilogue& e) {
  switch (e.activation) {
    case Activation::kRelu:
      return e.bias ? CUBLASLT_EPILOGUE_RELU_BIAS : CUBLASLT_EPILOGUE_RELU;
    case Activation::kGelu:
      return e.bias ? CUBLASLT_EPILOGUE_GELU_BIAS : CUBLASLT_EPILOGUE_GELU;
    default:
      return e.bias ? CUBLASLT_EPILOGUE_BIAS : CUBLASLT_EPILOGUE_DEFAULT;
  }
}

// Of memory behind what the library works in, for a bias that is not aligned.
int64_t bias_bytes(const Gemm& g) { return g.epilogue.bias ? g.columns * size_of(g.dtype) : 0; }

class GemmCall final : public LibraryCall {
 public:
  // left x right = result, as matrices of cuBLASLt; `swapped`: the first address is the right one.
  GemmCall(const Gemm& g, const Matrix& left, const Matrix& right, const Matrix& result,
           bool swapped)
      : dtype_(g.dtype),
        result_dtype_(g.result_dtype()),
        swapped_(swapped),
        adds_(g.adds),
        epilogue_(g.epilogue),
        bias_bytes_(bias_bytes(g)) {
    const bool wide = dtype_ == Dtype::kFloat64;
    exact_.operation = operation(wide ? CUBLAS_COMPUTE_64F : CUBLAS_COMPUTE_32F, left, right);
    if (dtype_ == Dtype::kFloat32)
      tf32_.operation = operation(CUBLAS_COMPUTE_32F_FAST_TF32, left, right);
    left_ = layout(left, dtype_, g.batches);
    right_ = layout(right, dtype_, g.batches);
    result_ = layout(result, result_dtype_, g.batches);
  }
  ~GemmCall() override {
    const BlasTable& b = blas();
    b.cublasLtMatrixLayoutDestroy(left_);
    b.cublasLtMatrixLayoutDestroy(right_);
    b.cublasLtMatrixLayoutDestroy(result_);
    b.cublasLtMatmulDescDestroy(exact_.operation);
    if (tf32_.operation != nullptr) b.cublasLtMatmulDescDestroy(tf32_.operation);
  }
  GemmCall(const GemmCall&) = delete;
  GemmCall& operator=(const GemmCall&) = delete;

  std::string_view name() const override { return "cublasLtMatmul"; }

  // True if the library multiplies them wherever they stand, and at the addresses of blocks.
  bool is_known() const {
    const auto element = static_cast<uint32_t>(size_of(dtype_)),
               result = static_cast<uint32_t>(size_of(result_dtype_));
    const std::lock_guard lock(mutex_);
    for (Way* way : {&exact_, &tf32_}) {
      for (const Alignments& aligned : {Alignments{element, element, result},
                                        Alignments{kMostAligned, kMostAligned, kMostAligned}}) {
        if (way->operation != nullptr && choice(*way, aligned) == nullptr) return false;
      }
    }
    return true;
  }

  // Addresses: inputs 0 and 1, output, workspace, bias.
  void enqueue(void* on, std::span<void* const> p) const override {
    const auto stream = static_cast<CUstream>(on);
    const cublasLtHandle_t lt = handle();
    const bool tf32 = tf32_.operation != nullptr && matmul_precision() == MatmulPrecision::kTf32;
    Way& way = tf32 ? tf32_ : exact_;
    const void *a = p[swapped_ ? 1 : 0], *b = p[swapped_ ? 0 : 1];
    // The address of the bias is part of the description, which threads share.
    const std::lock_guard lock(mutex_);
    if (epilogue_.bias) {
      void* bias = p[4];
      if (reinterpret_cast<uintptr_t>(bias) % kBiasAligned != 0) {
        bias = static_cast<char*>(p[3]) + kGemmWorkspace;
        copy_on_device(stream, bias, p[4], bias_bytes_);
      }
      set(way.operation, CUBLASLT_MATMUL_DESC_BIAS_POINTER, bias);
    }
    const cublasLtMatmulAlgo_t* algorithm =
        choice(way, {alignment_of(a), alignment_of(b), alignment_of(p[2])});
    if (algorithm == nullptr)
      throw DeviceError("cuBLASLt has no algorithm for this product; please report it");
    const double one = 1, kept = adds_ ? 1 : 0;
    const float one_f = 1, kept_f = adds_ ? 1 : 0;
    const bool wide = dtype_ == Dtype::kFloat64;
    check(blas().cublasLtMatmul(
              lt, way.operation, wide ? static_cast<const void*>(&one) : &one_f, a, left_, b,
              right_, wide ? static_cast<const void*>(&kept) : &kept_f, p[2], result_, p[2],
              result_, algorithm, p[3], static_cast<size_t>(kGemmWorkspace), stream),
          "cublasLtMatmul");
  }

 private:
  struct Choice {
    Alignments aligned;
    std::optional<cublasLtMatmulAlgo_t> algorithm;
  };
  // How the product is computed with one precision.
  struct Way {
    cublasLtMatmulDesc_t operation = nullptr;
    std::vector<Choice> choices;
  };

  template <class T>
  static void set(cublasLtMatmulDesc_t operation, cublasLtMatmulDescAttributes_t which,
                  const T& value) {
    check(blas().cublasLtMatmulDescSetAttribute(operation, which, &value, sizeof value),
          "cublasLtMatmulDescSetAttribute");
  }

  cublasLtMatmulDesc_t operation(cublasComputeType_t compute, const Matrix& left,
                                 const Matrix& right) const {
    cublasLtMatmulDesc_t out = nullptr;
    const bool wide = dtype_ == Dtype::kFloat64;
    check(blas().cublasLtMatmulDescCreate(&out, compute, wide ? CUDA_R_64F : CUDA_R_32F),
          "cublasLtMatmulDescCreate");
    const auto op = [](const Matrix& m) { return m.transposed ? CUBLAS_OP_T : CUBLAS_OP_N; };
    set(out, CUBLASLT_MATMUL_DESC_TRANSA, op(left));
    set(out, CUBLASLT_MATMUL_DESC_TRANSB, op(right));
    if (epilogue_of(epilogue_) != CUBLASLT_EPILOGUE_DEFAULT)
      set(out, CUBLASLT_MATMUL_DESC_EPILOGUE, epilogue_of(epilogue_));
    if (epilogue_.bias) {
      set(out, CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, data_type(dtype_));
      // None is known yet, but the library looks how it is aligned.
      const void* aligned = reinterpret_cast<const void*>(uintptr_t{kMostAligned});
      set(out, CUBLASLT_MATMUL_DESC_BIAS_POINTER, aligned);
    }
    return out;
  }

  cublasLtMatrixLayout_t layout(const Matrix& m, Dtype dtype, int64_t batches) const {
    const BlasTable& b = blas();
    cublasLtMatrixLayout_t out = nullptr;
    check(b.cublasLtMatrixLayoutCreate(&out, data_type(dtype), static_cast<uint64_t>(m.rows),
                                       static_cast<uint64_t>(m.columns), m.leading),
          "cublasLtMatrixLayoutCreate");
    if (batches == 1) return out;
    const auto count = static_cast<int32_t>(batches);
    check(b.cublasLtMatrixLayoutSetAttribute(out, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &count,
                                             sizeof count),
          "cublasLtMatrixLayoutSetAttribute");
    check(b.cublasLtMatrixLayoutSetAttribute(out, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET,
                                             &m.batch_step, sizeof m.batch_step),
          "cublasLtMatrixLayoutSetAttribute");
    return out;
  }

  // The library's first choice, asked for once; null where it has none. Under the lock.
  const cublasLtMatmulAlgo_t* choice(Way& way, const Alignments& aligned) const {
    auto found = std::find_if(way.choices.begin(), way.choices.end(),
                              [&](const Choice& c) { return c.aligned == aligned; });
    if (found == way.choices.end())
      found = way.choices.insert(found, {aligned, ask(way.operation, aligned)});
    return found->algorithm ? &*found->algorithm : nullptr;
  }

  std::optional<cublasLtMatmulAlgo_t> ask(cublasLtMatmulDesc_t operation,
                                          const Alignments& aligned) const {
    const BlasTable& b = blas();
    cublasLtMatmulPreference_t preference = nullptr;
    check(b.cublasLtMatmulPreferenceCreate(&preference), "cublasLtMatmulPreferenceCreate");
    const auto prefer = [&](cublasLtMatmulPreferenceAttributes_t which, auto value) {
      check(b.cublasLtMatmulPreferenceSetAttribute(preference, which, &value, sizeof value),
            "cublasLtMatmulPreferenceSetAttribute");
    };
    prefer(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, static_cast<uint64_t>(kGemmWorkspace));
    prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, aligned[0]);
    prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, aligned[1]);
    prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, aligned[2]);
    prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, aligned[2]);
    // Parts of a sum are not rounded to halves.
    if (is_half(dtype_)) {
      prefer(CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK,
             uint32_t{CUBLASLT_REDUCTION_SCHEME_NONE | CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE});
    }
    cublasLtMatmulHeuristicResult_t found{};
    int count = 0;
    const cublasStatus_t status = b.cublasLtMatmulAlgoGetHeuristic(
        handle(), operation, left_, right_, result_, result_, preference, 1, &found, &count);
    b.cublasLtMatmulPreferenceDestroy(preference);
    if (status == CUBLAS_STATUS_NOT_SUPPORTED) return std::nullopt;
    check(status, "cublasLtMatmulAlgoGetHeuristic");
    if (count == 0) return std::nullopt;
    return found.algo;
  }

  Dtype dtype_, result_dtype_;
  bool swapped_, adds_;
  Epilogue epilogue_;
  int64_t bias_bytes_;
  cublasLtMatrixLayout_t left_ = nullptr, right_ = nullptr, result_ = nullptr;
  mutable std::mutex mutex_;  // of both ways
  mutable Way exact_, tf32_;
};

std::atomic<MatmulPrecision>& precision() {
  static std::atomic<MatmulPrecision> value{MatmulPrecision::kFloat32};
  return value;
}

}  // namespace

void set_matmul_precision(MatmulPrecision value) { precision() = value; }
MatmulPrecision matmul_precision() { return precision(); }

std::shared_ptr<const LibraryCall> gemm_call(const Gemm& g) {
  if (!is_floating(g.dtype)) return nullptr;
  if (g.batches < 1 || g.rows < 1 || g.columns < 1 || g.depth < 1) return nullptr;
  if (std::max({g.batches, g.rows, g.columns, g.depth}) > INT32_MAX) return nullptr;
  if (g.batches > kMostGemmBatches || std::min({g.a[0], g.b[0], g.c[0]}) < 0) return nullptr;
  // A result with rows without gaps is the transpose of one with columns without gaps, and so are
  // its factors: (a b)' = b' a'.
  auto result = matrix(g.columns, g.rows, g.c[2], g.c[1], g.c[0]);
  const bool swapped = result && !result->transposed;
  if (!swapped) result = matrix(g.rows, g.columns, g.c[1], g.c[2], g.c[0]);
  if (!result || result->transposed) return nullptr;
  const auto left = swapped ? matrix(g.columns, g.depth, g.b[2], g.b[1], g.b[0])
                            : matrix(g.rows, g.depth, g.a[1], g.a[2], g.a[0]);
  const auto right = swapped ? matrix(g.depth, g.rows, g.a[2], g.a[1], g.a[0])
                             : matrix(g.depth, g.columns, g.b[1], g.b[2], g.b[0]);
  if (!left || !right) return nullptr;
  const bool mixed = g.result_dtype() != g.dtype;
  if (mixed && (!is_half(g.dtype) || g.result_dtype() != Dtype::kFloat32)) return nullptr;
  const bool ends = g.epilogue.bias || g.epilogue.activation != Activation::kNone;
  if (ends && (g.batches != 1 || mixed || g.adds || g.dtype == Dtype::kFloat64 || !swapped))
    return nullptr;
  auto product = std::make_shared<const GemmCall>(g, *left, *right, *result, swapped);
  if (!product->is_known()) return nullptr;
  return product;
}

std::optional<Kernels> gemm_kernels(const Gemm& g) {
  auto product = gemm_call(g);
  if (product == nullptr) return std::nullopt;
  Kernels out;
  out.workspace_bytes = kGemmWorkspace + bias_bytes(g);
  Call call{std::move(product),
            {Argument::input(0), Argument::input(1), Argument::output(0), Argument::workspace(0)}};
  if (g.epilogue.bias) call.arguments.push_back(Argument::input(2));
  out.steps.push_back(std::move(call));
  return out;
}

}  // namespace spruce::cuda
