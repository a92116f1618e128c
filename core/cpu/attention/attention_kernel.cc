// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/cpu/attention/attention_kernel.h"

#include <array>
#include <optional>

#include "spruce/core/cpu/attention/attention.h"
#include "spruce/core/cpu/elementwise/elementwise.h"
#include "spruce/core/cpu/elementwise/half.h"
#include "spruce/core/cpu/with_workspace.h"
#include "spruce/core/rules/attention_strided.h"
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

template <class T>
Matrices<T> matrices(T* data, const rules::StridedView& v) {
  Matrices<T> m;
  m.data = data + v.offset;
  const int r = v.shape.rank();
  m.row = v.steps[r - 2];
  for (int i = 0; i + 2 < r; ++i) m.lead[i] = v.steps[i];
  return m;
}

// A strided primitive: where operands and results stand is settled.
class Strided final : public PreparedKernel {
 public:
  Strided(Avals in, Avals out, const Params& params, bool grad)
      : grad_(grad),
        scale_(params.get<AttentionStridedParams>().scale),
        causal_(params.get<AttentionStridedParams>().causal),
        dtype_(in[0]->dtype),
        in_(rules::strided_operands("attention", in, params, grad ? 5 : 3)) {
    const auto& p = params.get<AttentionStridedParams>();
    Shape result = in_[0].shape;
    result[result.rank() - 1] = p.values;
    for (size_t i = 0; i < (grad ? 3u : 1u); ++i) {
      const size_t output = p.joined >= 0 ? 0 : i;
      out_.push_back(rules::strided_result(grad ? in_[i].shape : result, p.perm, out[output]->shape,
                                           p.joined, static_cast<int64_t>(i)));
      out_.back().input = output;
    }
    visit_computed(dtype_, [&]<class T>(T) {
      workspace_ = workspace_of<T>(in_[0].shape, in_[2].shape, grad_);
    });
  }

  void run(const KernelArgs& args) const override {
    const WorkspaceRegion region(args.workspace, workspace_);
    visit_computed(dtype_, [&]<class T>(T) { grad_ ? backward<T>(args) : forward<T>(args); });
  }
  size_t workspace_bytes() const override { return workspace_; }
  bool in_place(size_t, size_t) const override { return false; }

 private:
  template <class T>
  Matrices<const T> operand(const KernelArgs& args, size_t i) const {
    return matrices(static_cast<const T*>(args.in[in_[i].input].as<T>()), in_[i]);
  }
  template <class T>
  Matrices<T> result(const KernelArgs& args, size_t i) const {
    return matrices(args.out[out_[i].input].as<T>(), out_[i]);
  }

  template <class T>
  void set(AttentionOperands<T>& a, const KernelArgs& args) const {
    set_sizes(a, in_[0].shape, in_[2].shape);
    a.q = operand<T>(args, 0), a.k = operand<T>(args, 1), a.v = operand<T>(args, 2);
    a.scale = static_cast<T>(scale_);
    a.causal = causal_;
  }

  template <class T>
  void forward(const KernelArgs& args) const {
    Attention<T> a;
    set(a, args);
    a.out = result<T>(args, 0);
    a.lse = args.out[1].as<T>();
    attention(a);
  }

  template <class T>
  void backward(const KernelArgs& args) const {
    AttentionGrad<T> a;
    set(a, args);
    a.out = operand<T>(args, 3), a.ct = operand<T>(args, 4);
    a.lse = args.in.back().as<T>();
    a.dq = result<T>(args, 0), a.dk = result<T>(args, 1), a.dv = result<T>(args, 2);
    attention_grad(a);
  }

  bool grad_;
  double scale_;
  bool causal_;
  Dtype dtype_;
  std::vector<rules::StridedView> in_, out_;
  size_t workspace_ = 0;
};

void run_strided(const KernelArgs& args, bool grad) {
  std::vector<const Aval*> in, out;
  for (const View& v : args.in) in.push_back(v.aval);
  for (const View& v : args.out) out.push_back(v.aval);
  Strided(in, out, args.params, grad).run(args);
}

}  // namespace

void attention_lse_strided_kernel(const KernelArgs& args) { run_strided(args, false); }
void attention_grad_strided_kernel(const KernelArgs& args) { run_strided(args, true); }

std::unique_ptr<const PreparedKernel> prepare_attention(const PrepareArgs& args) {
  return prepared(args, false);
}
std::unique_ptr<const PreparedKernel> prepare_attention_grad(const PrepareArgs& args) {
  return prepared(args, true);
}
std::unique_ptr<const PreparedKernel> prepare_attention_lse_strided(const PrepareArgs& args) {
  return std::make_unique<Strided>(args.in, args.out, args.params, false);
}
std::unique_ptr<const PreparedKernel> prepare_attention_grad_strided(const PrepareArgs& args) {
  return std::make_unique<Strided>(args.in, args.out, args.params, true);
}

}  // namespace spruce::cpu
