// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/cpu/attention/attention_kernel.h"

#include <array>
#include <optional>

#include "spruce/core/cpu/attention/attention.h"
#include "spruce/core/cpu/elementwise/elementwise.h"
#include "spruce/core/cpu/elementwise/half.h"
#include "spruce/core/cpu/with_workspace.h"
#include "spruce/core/rules/attention.h"
#include "spruce/core/workspace.h"

namespace spruce::cpu {
namespace {

// Bytes of the copy in f32 that stands for an array of f16 or bf16.
size_t copied_bytes(const Aval& a) { return is_half(a.dtype) ? bytes_of(a.numel()) : 0; }

// Arrays as T: in place, or f16 and bf16 as copies in f32.
template <class T>
class Operands {
 public:
  const T* in(const View& v) {
    if (copied_bytes(*v.aval) == 0) return v.as<const T>();
    T* const to = copy(v);
    visit_dtype(v.dtype(), [&]<class X>(X) {
      if constexpr (kIsHalf<X> && std::is_same_v<T, float>) widen(v.as<X>(), to, v.numel());
    });
    return to;
  }
  T* out(const View& v) {
    if (copied_bytes(*v.aval) == 0) return v.as<T>();
    results_[result_count_] = {v, copy(v)};
    return results_[result_count_++].from;
  }
  // Writes the results that have copies.
  void finish() const {
    for (size_t i = 0; i < result_count_; ++i) {
      const Result& r = results_[i];
      visit_dtype(r.to.dtype(), [&]<class X>(X) {
        if constexpr (kIsHalf<X> && std::is_same_v<T, float>)
          narrow(r.from, r.to.template as<X>(), r.to.numel());
      });
    }
  }
  ~Operands() {
    while (copy_count_ > 0) copies_[--copy_count_].reset();  // the last begun ends first
  }
  Operands() = default;
  Operands(const Operands&) = delete;
  Operands& operator=(const Operands&) = delete;

 private:
  struct Result {
    View to;
    T* from;
  };
  T* copy(const View& v) {
    auto& memory = copies_[copy_count_++];
    return memory.emplace(copied_bytes(*v.aval)).template as<T>();
  }

  std::array<std::optional<Workspace>, 10> copies_;
  std::array<Result, 3> results_;
  size_t copy_count_ = 0, result_count_ = 0;
};

// The matrices of a view whose elements are at `data`.
template <class T>
Matrices<T> matrices(T* data, const View& v) {
  const Shape strides = v.steps();
  Matrices<T> m;
  m.data = data;
  m.row = strides[-2];
  for (int i = 0; i + 2 < strides.rank(); ++i) m.lead[i] = strides[i];
  return m;
}

template <class T>
void set_sizes(AttentionOperands<T>& a, const Shape& query, const Shape& value) {
  const int r = query.rank();
  a.items = 1;
  a.lead = Shape::filled(r - 2, 1);
  for (int i = 0; i + 2 < r; ++i) a.items *= a.lead[i] = query[i];
  a.t = query[r - 2], a.s = value[r - 2], a.d = query[r - 1], a.e = value[r - 1];
}

// What the kernels take besides copies.
template <class T>
size_t workspace_of(const Shape& query, const Shape& value, bool grad) {
  AttentionOperands<T> a;
  set_sizes(a, query, value);
  return grad ? attention_grad_workspace(a) : attention_workspace(a);
}

template <class T>
void set(AttentionOperands<T>& a, const KernelArgs& args, size_t mask, Operands<T>& operands) {
  const auto& p = args.params.get<AttentionParams>();
  const Shape &qs = args.in[0].shape(), &vs = args.in[2].shape();
  const int r = qs.rank();
  set_sizes(a, qs, vs);
  a.q = matrices(operands.in(args.in[0]), args.in[0]);
  a.k = matrices(operands.in(args.in[1]), args.in[1]);
  a.v = matrices(operands.in(args.in[2]), args.in[2]);
  a.scale = static_cast<T>(p.scale);
  a.causal = p.causal;
  if (args.in.size() <= mask) return;
  const View& m = args.in[mask];
  a.mask_adds = m.dtype() != Dtype::kBool;
  a.mask.data = a.mask_adds ? operands.in(m) : m.data;
  const Shape strides = m.steps();
  for (int i = 0; i < strides.rank(); ++i) {
    const int axis = i + r - strides.rank();
    int64_t& to = axis == r - 1 ? a.mask_column : axis == r - 2 ? a.mask.row : a.mask.lead[axis];
    to = m.shape()[i] == 1 ? 0 : strides[i];
  }
}

// f(T()) for the type in which a dtype is computed.
template <class F>
void visit_computed(Dtype dtype, const F& f) {
  if (dtype == Dtype::kFloat64)
    f(double());
  else
    f(float());
}

}  // namespace

void attention_kernel(const KernelArgs& args) {
  if (args.out[0].numel() == 0 && args.out.back().numel() == 0) return;
  visit_computed(args.in[0].dtype(), [&]<class T>(T) {
    Operands<T> operands;
    Attention<T> a;
    set(a, args, 3, operands);
    a.out = matrices(operands.out(args.out[0]), args.out[0]);
    if (args.out.size() > 1) a.lse = args.out[1].as<T>();
    attention(a);
    operands.finish();
  });
}

void attention_grad_kernel(const KernelArgs& args) {
  visit_computed(args.in[0].dtype(), [&]<class T>(T) {
    Operands<T> operands;
    AttentionGrad<T> a;
    set(a, args, 6, operands);
    a.out = matrices(operands.in(args.in[3]), args.in[3]);
    a.lse = operands.in(args.in[4]);
    a.ct = matrices(operands.in(args.in[5]), args.in[5]);
    a.dq = matrices(operands.out(args.out[0]), args.out[0]);
    a.dk = matrices(operands.out(args.out[1]), args.out[1]);
    a.dv = matrices(operands.out(args.out[2]), args.out[2]);
    attention_grad(a);
    operands.finish();
  });
}

namespace {

std::unique_ptr<const PreparedKernel> prepared(const PrepareArgs& args, bool grad) {
  size_t bytes = 0;
  for (const Avals& arrays : {args.in, args.out}) {
    for (const Aval* a : arrays) bytes += workspace_size(copied_bytes(*a));
  }
  visit_computed(args.in[0]->dtype, [&]<class T>(T) {
    bytes += workspace_of<T>(args.in[0]->shape, args.in[2]->shape, grad);
  });
  return with_workspace(grad ? attention_grad_kernel : attention_kernel, bytes);
}

}  // namespace

std::unique_ptr<const PreparedKernel> prepare_attention(const PrepareArgs& args) {
  return prepared(args, false);
}
std::unique_ptr<const PreparedKernel> prepare_attention_grad(const PrepareArgs& args) {
  return prepared(args, true);
}

}  // namespace spruce::cpu
