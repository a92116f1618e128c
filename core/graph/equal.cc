// SPDX-License-Identifier: Apache-2.0
// When two graphs in parameters are the same: value by value and equation by equation, wherever in
// the user's code they come from.
#include <algorithm>
#include <cstring>

#include "spruce/core/graph/graph.h"

namespace spruce::internal {
namespace {

bool same_value(const Array& a, const Array& b) {
  if (a.is_tracer() || b.is_tracer() || !(a.aval() == b.aval())) return false;
  if (a.impl()->buffer.get() == b.impl()->buffer.get()) return true;
  const Array x = on_host(a), y = on_host(b);
  return x.nbytes() == 0 ||
         std::memcmp(mutable_data(x), mutable_data(y), static_cast<size_t>(x.nbytes())) == 0;
}

bool same_constant(const Graph::Constant& a, const Graph::Constant& b) {
  return a.id == b.id && same_value(a.value, b.value);
}

bool same_equation(const Equation& a, const Equation& b) {
  return a.primitive == b.primitive && a.inputs == b.inputs && a.outputs == b.outputs &&
         a.params == b.params;
}

template <class T, class Same>
bool all_same(const std::vector<T>& a, const std::vector<T>& b, Same same) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), same);
}

}  // namespace

bool graphs_equal(const GraphPtr& a, const GraphPtr& b) {
  if (a == b) return true;
  if (a == nullptr || b == nullptr) return false;
  return a->inputs == b->inputs && a->outputs == b->outputs && a->avals == b->avals &&
         all_same(a->equations, b->equations, same_equation) &&
         all_same(a->constants, b->constants, same_constant);
}

}  // namespace spruce::internal
