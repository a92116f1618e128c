// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/scalar/program.h"

#include <algorithm>

namespace spruce::scalar {
namespace {

// How far back a node is looked for: an expression has fewer nodes, programs of many have more.
constexpr size_t kWindow = 256;

uint64_t wrapped(Dtype d, uint64_t bits) {
  const int64_t size = size_of(d);
  return size == 8 ? bits : bits & ((uint64_t{1} << (8 * size)) - 1);
}

}  // namespace

// The value that a node stands for, or -1.
int Program::simplified(const Node& node) {
  const auto is_constant = [&](int v) { return v >= 0 && (*this)[v].op == Op::kConstant; };
  const int a = node.in[0], b = node.in[1];
  switch (node.op) {
    case Op::kConvert:
    case Op::kBitcast:
      return dtype(a) == node.dtype ? a : -1;
    case Op::kAbs:
      return is_floating(node.dtype) || is_signed_integer(node.dtype) ? -1 : a;
    case Op::kNot:
      return (*this)[a].op == Op::kNot ? (*this)[a].in[0] : -1;
    case Op::kAdd:
    case Op::kSub: {
      if (is_floating(node.dtype) || is_bool(node.dtype) || !is_constant(b)) return -1;
      const uint64_t by = node.op == Op::kAdd ? (*this)[b].bits : uint64_t{0} - (*this)[b].bits;
      if (wrapped(node.dtype, by) == 0) return a;
      if (is_constant(a)) return constant(node.dtype, wrapped(node.dtype, (*this)[a].bits + by));
      const Node inner = (*this)[a];
      if ((inner.op != Op::kAdd && inner.op != Op::kSub) || !is_constant(inner.in[1])) return -1;
      const uint64_t first = (*this)[inner.in[1]].bits;
      const uint64_t sum = (inner.op == Op::kAdd ? first : uint64_t{0} - first) + by;
      return add(Op::kAdd, node.dtype, inner.in[0], constant(node.dtype, wrapped(node.dtype, sum)));
    }
    default:
      return -1;
  }
}

int Program::add(Node node) {
  const int simple = simplified(node);
  if (simple >= 0) return simple;
  const size_t first = nodes_.size() > kWindow ? nodes_.size() - kWindow : 0;
  const auto found =
      std::find(nodes_.begin() + static_cast<std::ptrdiff_t>(first), nodes_.end(), node);
  if (found != nodes_.end()) return static_cast<int>(found - nodes_.begin());
  nodes_.push_back(node);
  return static_cast<int>(nodes_.size()) - 1;
}

}  // namespace spruce::scalar
