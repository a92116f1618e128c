// SPDX-License-Identifier: Apache-2.0
#include "spruce/transforms/control/loops/associative_scan.h"

#include "spruce/core/empty_array_error.h"
#include "spruce/core/ops/ops.h"
#include "spruce/core/rules/shape.h"

namespace spruce::internal {
namespace {

using Combine = std::function<Leaves(const Leaves&, const Leaves&)>;

Leaves strided(const Leaves& xs, int64_t start, int64_t limit, int64_t stride) {
  Leaves out;
  for (const Array& x : xs) out.push_back(rules::slice_axis(x, 0, start, limit, stride));
  return out;
}

Leaves combined(const Combine& combine, const Leaves& a, const Leaves& b,
                const std::vector<std::string>& paths) {
  Leaves out = combine(a, b);
  for (size_t i = 0; i < a.size(); ++i) {
    if (i < out.size() && out[i].shape() == a[i].shape() && out[i].dtype() == a[i].dtype())
      continue;
    throw ShapeError("associative_scan: the function gives " +
                     (i < out.size() ? to_string(out[i].aval()) : std::string("nothing")) +
                     " for " + paths[i] + " of type " + to_string(a[i].aval()) +
                     "; it must keep the types of its arguments, for any size of axis 0");
  }
  return out;
}

// {a0, b0, a1, b1, ...}: as many of b as of a, or one fewer.
Array interleaved(const Array& a, const Array& b) {
  const int64_t pairs = b.shape()[0];
  Shape shape = b.shape();
  shape[0] = 2 * pairs;
  const Array head = rules::slice_axis(a, 0, 0, pairs);
  const Array both = reshape(stack({head, b}, 1), shape);
  if (a.shape()[0] == pairs) return both;
  return concatenate({both, rules::slice_axis(a, 0, pairs, pairs + 1)}, 0);
}

// Depth is the logarithm of the length.
Leaves prefixes(const Leaves& xs, const Combine& combine, const std::vector<std::string>& paths) {
  const int64_t n = xs[0].shape()[0];
  if (n < 2) return xs;
  const Leaves pairs = combined(combine, strided(xs, 0, n - 1, 2), strided(xs, 1, n, 2), paths);
  const Leaves odd = prefixes(pairs, combine, paths);
  const int64_t evens = (n + 1) / 2;
  const Leaves first = strided(xs, 0, 1, 1);
  Leaves even = first;
  if (evens > 1) {
    const Leaves later =
        combined(combine, strided(odd, 0, evens - 1, 1), strided(xs, 2, n, 2), paths);
    for (size_t i = 0; i < even.size(); ++i) even[i] = concatenate({first[i], later[i]}, 0);
  }
  Leaves out;
  for (size_t i = 0; i < even.size(); ++i) out.push_back(interleaved(even[i], odd[i]));
  return out;
}

}  // namespace

Leaves associative_prefixes(const std::vector<tree::Entry>& xs, Leaves elements, bool reverse,
                            const Combine& combine) {
  if (elements.empty() && !xs.empty())
    throw ValueError(std::string("associative_scan: all arrays of xs are undefined: ") +
                     kMovedFrom);
  if (elements.empty()) return elements;
  const std::vector<std::string> paths = leaf_paths("xs", xs);
  for (size_t i = 0; i < elements.size(); ++i) {
    const Aval& type = elements[i].aval();
    if (type.shape.rank() == 0)
      throw ShapeError("associative_scan: " + paths[i] + " is " + to_string(type) +
                       ", which has no axis to go along");
    if (type.shape[0] != elements[0].shape()[0])
      throw ShapeError("associative_scan: " + paths[0] + " is " + to_string(elements[0].aval()) +
                       ", " + paths[i] + " is " + to_string(type) +
                       "; all leaves of xs must have one size along axis 0");
  }
  if (!reverse) return prefixes(elements, combine, paths);
  for (Array& x : elements) x = flip(x, 0);
  // Turned around, what comes first is the second argument.
  Leaves out = prefixes(
      elements, [&](const Leaves& a, const Leaves& b) { return combine(b, a); }, paths);
  for (Array& x : out) x = flip(x, 0);
  return out;
}

}  // namespace spruce::internal
