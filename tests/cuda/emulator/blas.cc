// SPDX-License-Identifier: Apache-2.0
#include "tests/cuda/emulator/blas.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstring>
#include <vector>

#include "spruce/core/half.h"
#include "tests/cuda/emulator/emulator.h"
#include "tests/cuda/emulator/stream.h"

namespace spruce::cuda_emulator {
namespace {

struct Operation {
  cublasComputeType_t compute;
  cublasOperation_t a = CUBLAS_OP_N, b = CUBLAS_OP_N;
  cublasLtEpilogue_t epilogue = CUBLASLT_EPILOGUE_DEFAULT;
  const void* bias = nullptr;
  cudaDataType_t bias_type = CUDA_R_32F;

  bool has_bias() const {
    return epilogue == CUBLASLT_EPILOGUE_BIAS || epilogue == CUBLASLT_EPILOGUE_RELU_BIAS ||
           epilogue == CUBLASLT_EPILOGUE_GELU_BIAS;
  }
  bool is_relu() const {
    return epilogue == CUBLASLT_EPILOGUE_RELU || epilogue == CUBLASLT_EPILOGUE_RELU_BIAS;
  }
  bool is_gelu() const {
    return epilogue == CUBLASLT_EPILOGUE_GELU || epilogue == CUBLASLT_EPILOGUE_GELU_BIAS;
  }
};
struct Matrix {
  cudaDataType_t type;
  int64_t rows, columns, leading;
  int32_t batches = 1;
  int64_t batch_step = 0;
};
struct Preference {
  std::array<uint32_t, 4> aligned = {256, 256, 256, 256};  // a, b, c, d: what cuBLASLt supposes
};
std::atomic<bool> has_algorithms{true};

template <class T, class Handle>
T& of(Handle handle) {
  return *reinterpret_cast<T*>(handle);
}

// The value of an attribute, which has the size of the field.
template <class T>
cublasStatus_t take_value(T& field, const void* value, size_t bytes) {
  if (bytes != sizeof field) return CUBLAS_STATUS_INVALID_VALUE;
  std::memcpy(&field, value, bytes);
  return CUBLAS_STATUS_SUCCESS;
}

double read(const void* p, cudaDataType_t type, int64_t i) {
  switch (type) {
    case CUDA_R_16F:
      return static_cast<float>(static_cast<const Float16*>(p)[i]);
    case CUDA_R_16BF:
      return static_cast<float>(static_cast<const Bfloat16*>(p)[i]);
    case CUDA_R_64F:
      return static_cast<const double*>(p)[i];
    default:
      return static_cast<const float*>(p)[i];
  }
}
void write(void* p, cudaDataType_t type, int64_t i, double v) {
  const auto single = static_cast<float>(v);
  switch (type) {
    case CUDA_R_16F:
      static_cast<Float16*>(p)[i] = Float16(single);
      break;
    case CUDA_R_16BF:
      static_cast<Bfloat16*>(p)[i] = Bfloat16(single);
      break;
    case CUDA_R_64F:
      static_cast<double*>(p)[i] = v;
      break;
    default:
      static_cast<float*>(p)[i] = single;
  }
}

cublasStatus_t create(cublasLtHandle_t* handle) {
  static int there;
  *handle = reinterpret_cast<cublasLtHandle_t>(&there);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t destroy(cublasLtHandle_t) { return CUBLAS_STATUS_SUCCESS; }
size_t version() { return CUBLAS_VERSION; }
const char* status_string(cublasStatus_t) { return "an error of the emulated cuBLASLt"; }

cublasStatus_t operation_create(cublasLtMatmulDesc_t* out, cublasComputeType_t compute,
                                cudaDataType_t) {
  *out = reinterpret_cast<cublasLtMatmulDesc_t>(new Operation{compute});
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t operation_destroy(cublasLtMatmulDesc_t o) {
  delete &of<Operation>(o);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t operation_set(cublasLtMatmulDesc_t o, cublasLtMatmulDescAttributes_t which,
                             const void* value, size_t bytes) {
  auto& operation = of<Operation>(o);
  const auto take = [&](auto& field) { return take_value(field, value, bytes); };
  switch (which) {
    case CUBLASLT_MATMUL_DESC_TRANSA:
      return take(operation.a);
    case CUBLASLT_MATMUL_DESC_TRANSB:
      return take(operation.b);
    case CUBLASLT_MATMUL_DESC_EPILOGUE:
      return take(operation.epilogue);
    case CUBLASLT_MATMUL_DESC_BIAS_POINTER:
      return take(operation.bias);
    case CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE:
      return take(operation.bias_type);
    default:
      return CUBLAS_STATUS_NOT_SUPPORTED;
  }
}
cublasStatus_t layout_create(cublasLtMatrixLayout_t* out, cudaDataType type, uint64_t rows,
                             uint64_t columns, int64_t leading) {
  if (leading < static_cast<int64_t>(rows)) return CUBLAS_STATUS_INVALID_VALUE;
  *out = reinterpret_cast<cublasLtMatrixLayout_t>(
      new Matrix{type, static_cast<int64_t>(rows), static_cast<int64_t>(columns), leading});
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t layout_destroy(cublasLtMatrixLayout_t m) {
  delete &of<Matrix>(m);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t layout_set(cublasLtMatrixLayout_t m, cublasLtMatrixLayoutAttribute_t which,
                          const void* value, size_t bytes) {
  auto& matrix = of<Matrix>(m);
  if (which == CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT) return take_value(matrix.batches, value, bytes);
  if (which == CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET)
    return take_value(matrix.batch_step, value, bytes);
  return CUBLAS_STATUS_INVALID_VALUE;
}
cublasStatus_t preference_create(cublasLtMatmulPreference_t* out) {
  *out = reinterpret_cast<cublasLtMatmulPreference_t>(new Preference);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t preference_destroy(cublasLtMatmulPreference_t p) {
  delete &of<Preference>(p);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t preference_set(cublasLtMatmulPreference_t p,
                              cublasLtMatmulPreferenceAttributes_t which, const void* value,
                              size_t bytes) {
  auto& aligned = of<Preference>(p).aligned;
  const auto take = [&](auto& field) { return take_value(field, value, bytes); };
  switch (which) {
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES:
      return take(aligned[0]);
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES:
      return take(aligned[1]);
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES:
      return take(aligned[2]);
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES:
      return take(aligned[3]);
    case CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES:
    case CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK:
      return CUBLAS_STATUS_SUCCESS;
    default:
      return CUBLAS_STATUS_NOT_SUPPORTED;
  }
}

// The sizes that a product of these has to have.
bool fits(const Operation& o, const Matrix& a, const Matrix& b, const Matrix& d) {
  const bool ta = o.a == CUBLAS_OP_T, tb = o.b == CUBLAS_OP_T;
  return (ta ? a.columns : a.rows) == d.rows && (tb ? b.rows : b.columns) == d.columns &&
         (ta ? a.rows : a.columns) == (tb ? b.columns : b.rows) && a.type == b.type &&
         (a.type == d.type || (!o.has_bias() && d.type == CUDA_R_32F &&
                               (a.type == CUDA_R_16F || a.type == CUDA_R_16BF))) &&
         a.batches == d.batches && b.batches == d.batches &&
         (!o.has_bias() || (o.bias != nullptr && o.bias_type == d.type)) &&
         (o.epilogue == CUBLASLT_EPILOGUE_DEFAULT || d.type != CUDA_R_64F) &&
         (o.compute != CUBLAS_COMPUTE_32F_FAST_TF32 || d.type == CUDA_R_32F);
}

cublasStatus_t heuristic(cublasLtHandle_t, cublasLtMatmulDesc_t o, cublasLtMatrixLayout_t a,
                         cublasLtMatrixLayout_t b, cublasLtMatrixLayout_t, cublasLtMatrixLayout_t d,
                         cublasLtMatmulPreference_t p, int, cublasLtMatmulHeuristicResult_t* found,
                         int* count) {
  if (!fits(of<Operation>(o), of<Matrix>(a), of<Matrix>(b), of<Matrix>(d)))
    return CUBLAS_STATUS_INVALID_VALUE;
  *count = 0;
  if (!has_algorithms) return CUBLAS_STATUS_NOT_SUPPORTED;
  *found = {};
  // The algorithm needs what it was told that there is.
  const auto& aligned = of<Preference>(p).aligned;
  static_assert(sizeof aligned <= sizeof found->algo.data);
  std::memcpy(found->algo.data, aligned.data(), sizeof aligned);
  *count = 1;
  return CUBLAS_STATUS_SUCCESS;
}

// The fraction of 10 bits that tensor cores take of f32.
double in_tf32(double v) {
  const auto single = static_cast<float>(v);
  uint32_t bits = 0;
  std::memcpy(&bits, &single, sizeof bits);
  if ((bits & 0x7f800000u) != 0x7f800000u) bits = (bits + 0x1000u) & ~0x1fffu;
  float out = 0;
  std::memcpy(&out, &bits, sizeof out);
  return out;
}

double at_the_end(const Operation& o, double sum, int64_t row) {
  auto v = static_cast<float>(sum);
  if (o.has_bias()) v += static_cast<float>(read(o.bias, o.bias_type, row));
  if (o.is_relu()) return v <= 0 ? 0 : v;
  if (o.is_gelu())
    return 0.5 * v * (1 + std::tanh(0.7978845608028654 * (v + 0.044715 * double{v} * v * v)));
  return v;
}

// `count` columns of a matrix as it is stored, or rows, of `depth` elements each: the first
// elements of all, then the second ones. Every element is read once, not for each of the others
// that it is multiplied by.
std::vector<double> lines(const Matrix& m, const void* p, int64_t batch, int64_t count,
                          int64_t depth, bool columns, bool tf32) {
  std::vector<double> out(static_cast<size_t>(count * depth));
  double* to = out.data();
  for (int64_t k = 0; k < depth; ++k) {
    for (int64_t i = 0; i < count; ++i) {
      const int64_t at = columns ? k + i * m.leading : i + k * m.leading;
      const double v = read(p, m.type, batch * m.batch_step + at);
      *to++ = tf32 ? in_tf32(v) : v;
    }
  }
  return out;
}

void multiply(const Operation& o, const Matrix& a, const void* pa, const Matrix& b, const void* pb,
              const Matrix& d, void* pd, bool adds) {
  const bool ta = o.a == CUBLAS_OP_T, tb = o.b == CUBLAS_OP_T;
  const bool tf32 = o.compute == CUBLAS_COMPUTE_32F_FAST_TF32;
  const int64_t depth = ta ? a.rows : a.columns;
  std::vector<double> sums(static_cast<size_t>(d.rows));
  for (int64_t n = 0; n < d.batches; ++n) {
    const std::vector<double> rows = lines(a, pa, n, d.rows, depth, ta, tf32),
                              columns = lines(b, pb, n, d.columns, depth, !tb, tf32);
    for (int64_t j = 0; j < d.columns; ++j) {
      std::fill(sums.begin(), sums.end(), 0.0);
      for (int64_t k = 0; k < depth; ++k) {
        const double *x = rows.data() + k * d.rows,
                     y = columns[static_cast<size_t>(k * d.columns + j)];
        for (int64_t i = 0; i < d.rows; ++i) sums[static_cast<size_t>(i)] += x[i] * y;
      }
      for (int64_t i = 0; i < d.rows; ++i) {
        const int64_t at = n * d.batch_step + i + j * d.leading;
        double sum = sums[static_cast<size_t>(i)];
        if (adds) sum += read(pd, d.type, at);
        if (o.epilogue != CUBLASLT_EPILOGUE_DEFAULT) sum = at_the_end(o, sum, i);
        write(pd, d.type, at, sum);
      }
    }
  }
}

bool is_aligned(const void* p, uint32_t bytes) {
  return reinterpret_cast<uintptr_t>(p) % bytes == 0;
}

// alpha is 1 and beta 0 or 1: nothing else is asked for.
cublasStatus_t matmul(cublasLtHandle_t, cublasLtMatmulDesc_t o, const void*, const void* a,
                      cublasLtMatrixLayout_t a_layout, const void* b,
                      cublasLtMatrixLayout_t b_layout, const void* beta, const void* c,
                      cublasLtMatrixLayout_t, void* d, cublasLtMatrixLayout_t d_layout,
                      const cublasLtMatmulAlgo_t* algorithm, void* workspace,
                      size_t workspace_bytes, cudaStream_t stream) {
  if (algorithm == nullptr || c != d) return CUBLAS_STATUS_INVALID_VALUE;
  const Operation operation = of<Operation>(o);
  const Matrix ma = of<Matrix>(a_layout), mb = of<Matrix>(b_layout), md = of<Matrix>(d_layout);
  if (!fits(operation, ma, mb, md)) return CUBLAS_STATUS_INVALID_VALUE;
  const bool adds = read(beta, md.type == CUDA_R_64F ? CUDA_R_64F : CUDA_R_32F, 0) != 0;
  std::array<uint32_t, 4> aligned{};
  std::memcpy(aligned.data(), algorithm->data, sizeof aligned);
  if (!is_aligned(a, aligned[0]) || !is_aligned(b, aligned[1]) || !is_aligned(d, aligned[3]) ||
      (operation.has_bias() && !is_aligned(operation.bias, 16)))
    return CUBLAS_STATUS_INVALID_VALUE;
  const CUresult result =
      enqueue_on(stream, {"matmul", [=] {
                            if (!device_memory().contains(workspace, workspace_bytes))
                              return CUDA_ERROR_INVALID_VALUE;
                            const DeviceMemory& m = device_memory();
                            Operation opened = operation;
                            opened.bias = m.open(operation.bias);
                            multiply(opened, ma, m.open(a), mb, m.open(b), md, m.open(d), adds);
                            return CUDA_SUCCESS;
                          }});
  return result == CUDA_SUCCESS ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_EXECUTION_FAILED;
}

}  // namespace

void set_has_algorithms(bool value) { has_algorithms = value; }

const cuda::BlasTable& blas_table() {
  static const cuda::BlasTable table = {
      .cublasLtCreate = create,
      .cublasLtDestroy = destroy,
      .cublasLtGetVersion = version,
      .cublasLtGetStatusString = status_string,
      .cublasLtMatmul = matmul,
      .cublasLtMatmulDescCreate = operation_create,
      .cublasLtMatmulDescDestroy = operation_destroy,
      .cublasLtMatmulDescSetAttribute = operation_set,
      .cublasLtMatrixLayoutCreate = layout_create,
      .cublasLtMatrixLayoutDestroy = layout_destroy,
      .cublasLtMatrixLayoutSetAttribute = layout_set,
      .cublasLtMatmulPreferenceCreate = preference_create,
      .cublasLtMatmulPreferenceDestroy = preference_destroy,
      .cublasLtMatmulPreferenceSetAttribute = preference_set,
      .cublasLtMatmulAlgoGetHeuristic = heuristic,
  };
  return table;
}

}  // namespace spruce::cuda_emulator
