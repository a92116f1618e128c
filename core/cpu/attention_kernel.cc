// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/cpu/attention_kernel.h"

#include <deque>

#include "spruce/core/cpu/attention.h"
#include "spruce/core/cpu/elementwise.h"
#include "spruce/core/cpu/half.h"
#include "spruce/core/cpu/scratch.h"
#include "spruce/core/rules/attention.h"

namespace spruce::cpu {
namespace {

// Arrays as T: in place, or f16 and bf16 as copies in f32.
template <class T>
class Operands {
 public:
  const T* in(const View& v) {
    if (v.numel() == 0 || size_of(v.dtype()) == sizeof(T)) return v.as<const T>();
    T* const to = copies_.emplace_back(bytes(v)).template as<T>();
    visit_dtype(v.dtype(), [&]<class X>(X) {
      if constexpr (internal::kHalf<X> && std::is_same_v<T, float>) widen(v.as<X>(), to, v.numel());
    });
    return to;
  }
  T* out(const View& v) {
    if (size_of(v.dtype()) == sizeof(T)) return v.as<T>();
    T* const from = copies_.emplace_back(bytes(v)).template as<T>();
    results_.push_back({v, from});
    return from;
  }
  // Writes the results that have copies.
  void finish() const {
    for (const Result& r : results_) {
      visit_dtype(r.to.dtype(), [&]<class X>(X) {
        if constexpr (internal::kHalf<X> && std::is_same_v<T, float>)
          narrow(r.from, r.to.template as<X>(), r.to.numel());
      });
    }
  }
  ~Operands() {
    while (!copies_.empty()) copies_.pop_back();  // the last begun ends first
  }
  Operands() = default;
  Operands(const Operands&) = delete;
  Operands& operator=(const Operands&) = delete;

 private:
  struct Result {
    View to;
    const T* from;
  };
  static size_t bytes(const View& v) { return static_cast<size_t>(v.numel()) * sizeof(T); }

  std::deque<Scratch> copies_;
  std::vector<Result> results_;
};

template <class T>
Matrices<T> dense(T* data, const Shape& shape) {
  Matrices<T> m;
  m.data = data;
  m.row = shape.back();
  int64_t step = m.row * shape[shape.rank() - 2];
  for (int i = shape.rank() - 3; i >= 0; --i) {
    m.lead[i] = step;
    step *= shape[i];
  }
  return m;
}

template <class T>
void set(AttentionOperands<T>& a, const KernelArgs& args, size_t mask, Operands<T>& operands) {
  const auto& p = args.params.get<AttentionParams>();
  const Shape &qs = args.in[0].shape(), &vs = args.in[2].shape();
  const int r = qs.rank();
  a.items = 1;
  a.lead = Shape::filled(r - 2, 1);
  for (int i = 0; i + 2 < r; ++i) a.items *= a.lead[i] = qs[i];
  a.t = qs[r - 2], a.s = vs[r - 2], a.d = qs[r - 1], a.e = vs[r - 1];
  a.q = dense(operands.in(args.in[0]), qs);
  a.k = dense(operands.in(args.in[1]), args.in[1].shape());
  a.v = dense(operands.in(args.in[2]), vs);
  a.scale = static_cast<T>(p.scale);
  a.causal = p.causal;
  if (args.in.size() <= mask) return;
  const View& m = args.in[mask];
  a.mask_adds = m.dtype() != Dtype::kBool;
  a.mask.data = a.mask_adds ? operands.in(m) : m.data;
  int64_t step = 1;
  for (int i = m.shape().rank() - 1; i >= 0; --i) {
    const int axis = i + r - m.shape().rank();
    int64_t& to = axis == r - 1 ? a.mask_column : axis == r - 2 ? a.mask.row : a.mask.lead[axis];
    to = m.shape()[i] == 1 ? 0 : step;
    step *= m.shape()[i];
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
    a.out = dense(operands.out(args.out[0]), args.out[0].shape());
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
    a.out = dense(operands.in(args.in[3]), args.in[3].shape());
    a.lse = operands.in(args.in[4]);
    a.ct = dense(operands.in(args.in[5]), args.in[5].shape());
    a.dq = dense(operands.out(args.out[0]), args.out[0].shape());
    a.dk = dense(operands.out(args.out[1]), args.out[1].shape());
    a.dv = dense(operands.out(args.out[2]), args.out[2].shape());
    attention_grad(a);
    operands.finish();
  });
}

}  // namespace spruce::cpu
