// SPDX-License-Identifier: Apache-2.0
// What the rules of loops and branches do with the graphs of their bodies: each of the transforms,
// graph in, graph out. All are staged under the current interpreter.
#pragma once

#include <string>
#include <vector>

#include "spruce/core/graph/graph.h"
#include "spruce/core/primitive.h"

namespace spruce::internal {

/// Which inputs or outputs of a body something is true of.
using Mask = std::vector<bool>;

// The functions below keep what they make of a body until the outermost of them returns. A rule
// asks for it several times (which carries of a loop vary is found by trying), and so do the rules
// of the loops and branches within it: without that, the work would double with each level of
// nesting.

/// Forward mode. The inputs are those of the body, then a tangent for each input in `varies`; the
/// outputs are those of the body, then a tangent for each output in `out_varies`, which has at
/// least those that were asked for.
struct JvpBody {
  Graph graph;
  Mask out_varies;
};
JvpBody jvp_body(const GraphPtr& body, const Mask& varies, const Mask& asked);

/// The body split for reverse mode. `forward` has the inputs of the body; its outputs are those of
/// the body, then what the linear part needs of them. `linear` takes these and a tangent for each
/// input in `varies`; its outputs are tangents for the outputs in `out_varies`.
struct LinearBody {
  Graph forward;
  Graph linear;
  Mask out_varies;
  size_t residuals;
};
LinearBody linearize_body(const GraphPtr& body, const Mask& varies, const Mask& asked);
/// The same, except that the linear part takes inputs of the body and computes what it needs of
/// them again.
LinearBody relinearize_body(const GraphPtr& body, const Mask& varies, const Mask& asked);

/// The outputs of a body as reverse mode computes them where the inputs in `varies` have tangents:
/// functions with derivative rules of their own give what their rules compute, so that a second
/// derivative is that of the first one. The body itself where it has none.
Graph primal_body(const Graph& body, const Mask& varies);

/// The transpose of a body that is linear in the inputs in `linear`. The inputs are the others,
/// then a cotangent for each output in `cts`; the outputs are cotangents for the inputs in
/// `in_cts`, which has at least those that were asked for.
struct TransposedBody {
  Graph graph;
  Mask in_cts;
};
TransposedBody transpose_body(const GraphPtr& body, const Mask& linear, const Mask& cts,
                              const Mask& asked);

/// The body over one more axis, that of a call of vmap's rule, in front of the inputs in `batched`
/// and of the outputs in `out_batched`, which has at least those that were asked for.
struct BatchedBody {
  Graph graph;
  Mask out_batched;
};
BatchedBody batch_body(const GraphPtr& body, const BatchArgs& a, const Mask& batched,
                       const Mask& asked);

/// How many graphs the functions above have made on this thread, not counting those that were kept:
/// what a test measures their work by.
int64_t bodies_made();

/// A new value of that shape and dtype with `value` in each element.
ValueId add_filled(Graph& g, const Aval& type, double value);

/// The outputs that depend on an input in `inputs`.
Mask depends(const Graph& body, const Mask& inputs);

/// The types of a graph's inputs and outputs.
std::vector<Aval> input_avals(const Graph& g);
std::vector<Aval> output_avals(const Graph& g);

/// The elements of `x` in the order of `order`, which names each by its number.
template <class T>
std::vector<T> reordered(const std::vector<T>& x, const std::vector<size_t>& order) {
  std::vector<T> out;
  for (const size_t i : order) out.push_back(x[i]);
  return out;
}

}  // namespace spruce::internal
