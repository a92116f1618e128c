// SPDX-License-Identifier: Apache-2.0
#include "spruce/transforms/derive/dual.h"

#include "spruce/core/default_device.h"
#include "spruce/core/escaped.h"
#include "spruce/core/rules/elementwise.h"

namespace spruce::internal {
namespace {

class DualTracer final : public ArrayImpl {
 public:
  DualTracer(uint64_t id, const char* transform, const Array& p, const Array& t)
      : ArrayImpl(p.aval()), primal(p), tangent(t), transform_(transform) {
    interpreter = id;
  }
  const ArrayImpl* concrete() const override { return primal.impl()->concrete(); }
  std::string describe() const override { return std::string("a traced value of ") + transform_; }

  const Array primal, tangent;

 private:
  const char* transform_;
};

const DualTracer& dual(const Array& a) { return *static_cast<const DualTracer*>(a.impl()); }

// Of a composite that states no jvp: the value by its kernel, the tangent by differentiating
// `expand`.
void jvp_by_expansion(const JvpArgs& args) {
  const std::vector<Array> values = bind_all(args.p, args.in, args.params);
  DualInterpreter dual("jvp");
  std::vector<Array> in(args.in.size()), out;
  for (size_t i = 0; i < in.size(); ++i) in[i] = dual.make(args.in[i], args.tangents[i]);
  {
    const InterpreterScope scope(&dual);
    out = args.p.expand(in, args.params);
  }
  for (size_t k = 0; k < out.size(); ++k) {
    args.out[k] = values[k];
    args.out_tangents[k] = dual.tangent(out[k]);
  }
}

}  // namespace

Array DualInterpreter::make(const Array& primal, const Array& tangent) const {
  if (!tangent.defined()) return primal;
  return Array(Ref<ArrayImpl>(new DualTracer(id(), name_, primal, tangent)));
}

Array DualInterpreter::primal(const Array& a) const {
  if (owns(a)) return dual(a).primal;
  if (a.is_tracer() && !is_running(a.impl()->interpreter)) throw_escaped(name_, a);
  return a;
}
Array DualInterpreter::tangent(const Array& a) const { return owns(a) ? dual(a).tangent : Array(); }

void DualInterpreter::process(const Primitive& p, std::span<const Array> in, const Params& params,
                              std::span<Array> out) {
  constexpr size_t kInline = 4;
  const size_t n = in.size();
  Array inline_arrays[2 * kInline + 2];
  std::vector<Array> heap;
  Array* arrays = inline_arrays;
  if (n > kInline || out.size() > 1) {
    heap.resize(2 * n + out.size());
    arrays = heap.data();
  }
  const std::span<Array> primals(arrays, n), tangents(arrays + n, n),
      out_tangents(arrays + 2 * n, out.size());
  bool any = false;
  for (size_t i = 0; i < n; ++i) {
    if (owns(in[i])) {
      primals[i] = dual(in[i]).primal;
      tangents[i] = dual(in[i]).tangent;
      any = true;
    } else {
      primals[i] = in[i];
    }
  }
  if (!any) return bind_into(parent(), p, in, params, out);
  {
    const InterpreterScope scope(rules_);
    const SameDevice here(primals);
    const JvpArgs args{p, primals, tangents, params, out, out_tangents};
    if (p.jvp != nullptr && !p.expands(params)) {
      p.jvp(args);
    } else if (p.expand != nullptr) {
      jvp_by_expansion(args);
    } else {
      throw DerivativeError(describe_call(p, primals) +
                            ": this operation has no derivative rule; wrap it in stop_gradient or "
                            "give one with custom_jvp");
    }
  }
  for (size_t k = 0; k < out.size(); ++k) {
    if (out_tangents[k].defined()) out[k] = make(out[k], out_tangents[k]);
  }
}

std::vector<Array> DualInterpreter::process_custom(const std::shared_ptr<const CustomFunction>& f,
                                                   std::span<const Array> in) {
  std::vector<Array> primals(in.size()), tangents(in.size()), out, out_tangents;
  bool any = false;
  for (size_t i = 0; i < in.size(); ++i) {
    primals[i] = primal(in[i]);
    tangents[i] = tangent(in[i]);
    any = any || owns(in[i]);
  }
  if (!any) {
    const InterpreterScope scope(parent());
    return bind_custom(f, in);
  }
  {
    const InterpreterScope scope(rules_);
    const SameDevice here(primals);
    f->jvp(primals, tangents, out, out_tangents);
  }
  for (size_t k = 0; k < out.size(); ++k) out[k] = make(out[k], out_tangents[k]);
  return out;
}

}  // namespace spruce::internal
