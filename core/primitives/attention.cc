// SPDX-License-Identifier: Apache-2.0
// softmax(scale query key^T) value with a mask (Vaswani et al. 2017).
#include "spruce/core/rules/attention.h"

#include <optional>

#include "spruce/core/cpu/attention.h"
#include "spruce/core/cpu/elementwise.h"
#include "spruce/core/cpu/half.h"
#include "spruce/core/cpu/scratch.h"
#include "spruce/core/ops/linalg.h"
#include "spruce/core/ops/shape.h"
#include "spruce/core/rules/shape.h"

namespace spruce {

namespace {

Aval shape(const ShapeArgs& a) {
  const Aval &q = *a.in[0], &k = *a.in[1], &v = *a.in[2];
  const int r = q.shape.rank();
  bool fits = r >= 2 && k.shape.rank() == r && v.shape.rank() == r;
  for (int i = 0; fits && i + 2 < r; ++i)
    fits = k.shape[i] == q.shape[i] && v.shape[i] == q.shape[i];
  if (!fits || k.shape[r - 1] != q.shape[r - 1] || v.shape[r - 2] != k.shape[r - 2]) {
    throw ShapeError("attention: query " + to_string(q) + ", key " + to_string(k) + " and value " +
                     to_string(v) + " must be f[..., t, d], f[..., s, d] and f[..., s, e]");
  }
  if (!is_floating(q.dtype) || k.dtype != q.dtype || v.dtype != q.dtype) {
    throw DtypeError("attention: query " + to_string(q) + ", key " + to_string(k) + " and value " +
                     to_string(v) + " must have one floating dtype");
  }
  Aval out{q.dtype, false, q.shape};
  if (a.in.size() > 3) {
    if (a.params.get<AttentionParams>().causal)
      throw ValueError("attention: a causal one takes no mask; put the causal mask into it");
    Shape scores = q.shape;
    scores[r - 1] = k.shape[r - 2];
    const Aval& mask = *a.in[3];
    if (!broadcasts_to(mask.shape, scores) ||
        (mask.dtype != Dtype::kBool && mask.dtype != q.dtype)) {
      throw ShapeError("attention: the mask is " + to_string(mask) + ", it must be bool or " +
                       to_string(Aval{q.dtype, false, scores}) + " or broadcast to that shape");
    }
  }
  out.shape[r - 1] = v.shape[r - 1];
  return out;
}

template <class T>
void run(const KernelArgs& args, const T* q, const T* k, const T* v, const void* mask, T* out) {
  const auto& p = args.params.get<AttentionParams>();
  const Shape &qs = args.in[0].shape(), &vs = args.in[2].shape();
  const int r = qs.rank();
  cpu::Attention<T> a;
  a.items = 1;
  a.lead = Shape::filled(r - 2, 1);
  for (int i = 0; i + 2 < r; ++i) a.items *= a.lead[i] = qs[i];
  a.t = qs[r - 2], a.s = vs[r - 2], a.d = qs[r - 1], a.e = vs[r - 1];
  a.q = q, a.k = k, a.v = v, a.out = out;
  a.scale = static_cast<T>(p.scale);
  a.causal = p.causal;
  if (mask != nullptr) {
    a.mask = mask;
    a.mask_adds = args.in[3].dtype() != Dtype::kBool;
    const Shape& ms = args.in[3].shape();
    int64_t step = 1;
    for (int i = ms.rank() - 1; i >= 0; --i) {
      const int axis = i + r - ms.rank();
      int64_t& to = axis == r - 1 ? a.mask_column : axis == r - 2 ? a.mask_row : a.mask_step[axis];
      to = ms[i] == 1 ? 0 : step;
      step *= ms[i];
    }
  }
  cpu::attention(a);
}

// f16 and bf16 are computed in f32.
template <class X>
struct Widened {
  cpu::Scratch memory;
  const float* data;
  explicit Widened(const View& v)
      : memory(static_cast<size_t>(v.numel()) * sizeof(float)), data(memory.as<float>()) {
    cpu::widen(v.as<X>(), memory.as<float>(), v.numel());
  }
};

void kernel(const KernelArgs& args) {
  if (args.out[0].numel() == 0) return;
  const bool masked = args.in.size() > 3;
  const void* mask = masked ? args.in[3].data : nullptr;
  visit_dtype(args.out[0].dtype(), [&]<class X>(X) {
    if constexpr (std::is_floating_point_v<X>) {
      run<X>(args, args.in[0].as<X>(), args.in[1].as<X>(), args.in[2].as<X>(), mask,
             args.out[0].as<X>());
    } else if constexpr (cpu::internal::kHalf<X>) {
      const Widened<X> q(args.in[0]), k(args.in[1]), v(args.in[2]);
      std::optional<Widened<X>> added;
      if (masked && args.in[3].dtype() != Dtype::kBool) added.emplace(args.in[3]);
      const int64_t n = args.out[0].numel();
      const cpu::Scratch out(static_cast<size_t>(n) * sizeof(float));
      run<float>(args, q.data, k.data, v.data, added ? added->data : mask, out.as<float>());
      cpu::narrow(out.as<float>(), args.out[0].as<X>(), n);
    }
  });
}

std::vector<Array> expand(std::span<const Array> in, const Params& params) {
  const auto& p = params.get<AttentionParams>();
  const Array scores = matmul(in[0] * p.scale, swapaxes(in[1], -1, -2));
  const Array mask = in.size() > 3 ? in[3] : Array();
  return {matmul(rules::attention_weights(scores, mask, p.causal), in[2])};
}

double flops(const PrepareArgs& a) {
  const Shape &q = a.in[0]->shape, &v = a.in[2]->shape;
  const double scores = static_cast<double>(a.out[0]->shape.numel()) /
                        static_cast<double>(v.back() > 0 ? v.back() : 1) *
                        static_cast<double>(v[v.rank() - 2]);
  return scores * static_cast<double>(2 * q.back() + 2 * v.back() + 5);
}

std::vector<Sample> samples() {
  std::vector<Sample> out;
  const auto add = [&](const std::vector<Shape>& shapes, bool causal) {
    Sample s;
    for (const Shape& in : shapes) {
      SampleInput input;
      input.aval = Aval{Dtype::kFloat32, false, in};
      s.in.push_back(input);
    }
    s.params = Params::make(AttentionParams{0.5, causal});
    out.push_back(s);
  };
  add({{3, 2}, {4, 2}, {4, 3}}, false);
  add({{2, 5, 2}, {2, 5, 2}, {2, 5, 2}}, true);
  add({{2, 1, 3, 2}, {2, 1, 4, 2}, {2, 1, 4, 1}, {1, 3, 4}}, false);
  add({{2, 3, 2}, {2, 4, 2}, {2, 4, 2}, {2, 1, 4}}, false);
  add({{0, 2}, {3, 2}, {3, 2}}, false);
  return out;
}

}  // namespace

extern constinit const Primitive attention_p = {
    .name = "attention",
    .shape = shape,
    .cpu = kernel,
    .samples = samples,
    .params = kParamsOf<AttentionParams>,
    .expand = expand,
    .flops = flops,
    // Derivatives need the weights, which the kernel does not keep.
    .prefer_expand = [](const Params&) { return true; },
};

}  // namespace spruce
