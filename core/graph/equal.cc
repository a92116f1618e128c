// SPDX-License-Identifier: Apache-2.0
// When two graphs in parameters are the same: value by value and equation by equation, wherever in
// the user's code they come from.
#include <algorithm>
#include <cstring>

#include "spruce/core/graph/graph.h"

namespace spruce::internal {
namespace {

bool same_elements(const Array& a, const Array& b) {
  if (a.is_tracer() || b.is_tracer() || !(a.aval() == b.aval())) return false;
  if (a.impl()->buffer.get() == b.impl()->buffer.get()) return true;
  const Array x = on_host(a), y = on_host(b);
  return x.nbytes() == 0 ||
         std::memcmp(mutable_data(x), mutable_data(y), static_cast<size_t>(x.nbytes())) == 0;
}

// Two graphs, whose values have the same numbers where the graphs are the same. Numbers that stand
// for no value have types that say nothing.
class Pair {
 public:
  Pair(const Graph& a, const Graph& b) : a_(a), b_(b) {}

  bool same() const {
    return a_.outputs == b_.outputs && same_values(a_.inputs, b_.inputs) &&
           all_same(a_.equations, b_.equations,
                    [&](const Equation& x, const Equation& y) { return same(x, y); }) &&
           all_same(a_.constants, b_.constants,
                    [](const Graph::Constant& x, const Graph::Constant& y) {
                      return x.id == y.id && same_elements(x.value, y.value);
                    });
  }

 private:
  template <class T, class Same>
  static bool all_same(const std::vector<T>& x, const std::vector<T>& y, Same same) {
    return std::equal(x.begin(), x.end(), y.begin(), y.end(), same);
  }
  bool same_values(const std::vector<ValueId>& x, const std::vector<ValueId>& y) const {
    return all_same(x, y, [&](ValueId v, ValueId w) {
      return v == w && a_.avals[static_cast<size_t>(v)] == b_.avals[static_cast<size_t>(w)];
    });
  }
  bool same(const Equation& x, const Equation& y) const {
    return x.primitive == y.primitive && x.inputs == y.inputs &&
           same_values(x.outputs, y.outputs) && x.params == y.params;
  }

  const Graph &a_, &b_;
};

}  // namespace

bool graphs_equal(const GraphPtr& a, const GraphPtr& b) {
  if (a == b) return true;
  return a != nullptr && b != nullptr && Pair(*a, *b).same();
}

}  // namespace spruce::internal
