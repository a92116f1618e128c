// SPDX-License-Identifier: Apache-2.0
#include "spruce/transforms/compile/elementwise.h"

namespace spruce {

extern const Primitive broadcast_in_dim_p;

namespace internal {

void check_elementwise(const Graph& graph) {
  for (const Equation& e : graph.equations) {
    const Primitive& p = *e.primitive;
    const bool keeps_places = p.kind == PrimitiveKind::kView && p.scalar != nullptr;
    if (p.kind == PrimitiveKind::kElementwise || keeps_places || &p == &broadcast_in_dim_p)
      continue;
    throw ValueError(std::string("elementwise: the function does ") + p.name +
                     ", which is no operation on single elements; give what it makes to the "
                     "function as an argument, or use jit");
  }
}

bool computes_now(std::initializer_list<const Array*> args) {
  if (Interpreter::current() != nullptr) return false;
  for (const Array* a : args) {
    if (a != nullptr && (!a->defined() || a->is_tracer())) return false;
  }
  return true;
}

Dtype common_dtype(std::initializer_list<const Array*> arrays) {
  Dtype dtype = Dtype::kBool;
  bool weak = true, first = true;
  for (const Array* a : arrays) {
    if (a == nullptr || !a->defined()) continue;
    const Aval& aval = a->aval();
    dtype = first ? aval.dtype : promote(dtype, weak, aval.dtype, aval.weak);
    weak = weak && aval.weak;
    first = false;
  }
  return dtype;
}

Number number_beside(double value, Dtype dtype) {
  if (dtype == Dtype::kFloat64) return {array(value, float64)};
  // Beside integers it makes theirs floats.
  const Array single(static_cast<float>(value));
  return {is_floating(dtype) ? astype(single, float32) : single};
}

}  // namespace internal
}  // namespace spruce
