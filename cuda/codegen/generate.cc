// SPDX-License-Identifier: Apache-2.0
// Primitives that the code generator writes itself: elementwise ones, what moves elements,
// reductions, and whole bodies of such.
#include <string_view>
#include <utility>

#include "spruce/core/rules/group.h"
#include "spruce/core/rules/index_maps.h"
#include "spruce/core/rules/reduce.h"
#include "spruce/core/rules/shape.h"
#include "spruce/cuda/codegen/loops.h"
#include "spruce/cuda/codegen/sequence.h"
#include "spruce/cuda/codegen/strided.h"
#include "spruce/cuda/codegen/walk.h"

namespace spruce::cuda {
namespace {

// The state in the prelude of a reduction, or null.
const char* reduction_name(const Primitive& p) {
  switch (p.reduces_by()) {
    case Monoid::kSum:
      return "CompensatedSum";
    case Monoid::kProduct:
      return "Product";
    case Monoid::kMax:
      return "Largest";
    case Monoid::kMin:
      return "Smallest";
    case Monoid::kAnd:
      return "And";
    case Monoid::kOr:
      return "Or";
    case Monoid::kNone:
      break;
  }
  return &p == &argmax_p ? "ArgLargest" : &p == &argmin_p ? "ArgSmallest" : nullptr;
}

Axes reduced_axes(const Equation& e) {
  if (e.primitive == &argmax_p || e.primitive == &argmin_p)
    return {e.params.get<ArgReduceParams>().axis};
  return e.params.get<ReduceParams>().axes;
}

// One equation as a graph.
Graph graph_of(const Primitive& primitive, const PrepareArgs& args) {
  Graph g;
  Equation e;
  e.primitive = &primitive;
  e.params = args.params;
  for (const Aval* in : args.in) e.inputs.push_back(g.add_value(*in));
  for (const Aval* out : args.out) e.outputs.push_back(g.add_value(*out));
  g.inputs = e.inputs;
  g.outputs = e.outputs;
  g.equations.push_back(std::move(e));
  return g;
}

// Kernels for all outputs: first the reductions, in order, then the elementwise outputs, those of
// one shape in one kernel.
bool write(const PrepareArgs& args, const Graph& g, Kernels& out) {
  std::map<ValueId, Place> places;
  for (size_t i = 0; i < g.inputs.size(); ++i) places[g.inputs[i]] = {Place::Kind::kInput, i, 0};
  const auto output_of = [&](ValueId v) {
    for (size_t k = 0; k < g.outputs.size(); ++k) {
      if (g.outputs[k] == v) return static_cast<int64_t>(k);
    }
    return int64_t{-1};
  };
  for (const Equation& e : g.equations) {
    const char* name = reduction_name(*e.primitive);
    if (name == nullptr) continue;
    const ValueId result = e.outputs[0];
    const Aval& aval = g.avals[static_cast<size_t>(result)];
    const int64_t k = output_of(result);
    const Place to = k >= 0 ? Place{Place::Kind::kOutput, static_cast<size_t>(k), 0}
                            : Place{Place::Kind::kWorkspace, 0, reserve(out, aval.bytes())};
    if (!reduction_kernels(args, g, places, {name, e.inputs[0], reduced_axes(e), aval.dtype, to},
                           out))
      return false;
    places[result] = to;
  }
  std::vector<Target> targets;
  for (size_t k = 0; k < g.outputs.size(); ++k) {
    const auto known = places.find(g.outputs[k]);
    const bool written = known != places.end() && known->second.kind == Place::Kind::kOutput &&
                         known->second.index == k;
    if (!written) targets.push_back({g.outputs[k], {Place::Kind::kOutput, k, 0}});
  }
  while (!targets.empty()) {
    const auto shape = [&](const Target& t) -> const Shape& {
      return g.avals[static_cast<size_t>(t.value)].shape;
    };
    std::vector<Target> now, later;
    for (const Target& t : targets) (shape(t) == shape(targets[0]) ? now : later).push_back(t);
    if (!elementwise_kernel(args, g, places, now, out)) return false;
    targets = std::move(later);
  }
  return true;
}

// One copy after the other: where they meet, the later one holds.
void move(const PrepareArgs& args, const std::vector<IndexMap>& maps, Kernels& out) {
  const int64_t bytes = size_of(args.out[0]->dtype);
  for (const IndexMap& m : maps) {
    const rules::MappedMemory from = rules::memory_of_input(m, input_strides(args, m.input)),
                              to = rules::memory_of_output(m, output_strides(args, 0));
    strided_copy(args, m.count, bytes, {of_input(m.input), from.offset, from.strides},
                 {of_output(0), to.offset, to.strides}, out);
  }
}

}  // namespace

Kernels generate(const Primitive& primitive, const PrepareArgs& args, bool& known) {
  Kernels out;
  if (primitive.kind == PrimitiveKind::kGroup) {
    const auto& group = args.params.get<GroupParams>();
    known = write(args, *group.body, out);
    return known || !group.unrolled ? out : sequence(args, *group.body, known);
  }
  if (primitive.kind == PrimitiveKind::kView) {
    known = true;
    whole_copy(args, 0, 0, out);
    return out;
  }
  known = primitive.scalar != nullptr || reduction_name(primitive) != nullptr ||
          &primitive == &broadcast_in_dim_p || &primitive == &iota_p;
  if (known) {
    known = write(args, graph_of(primitive, args), out);
  } else if (primitive.index_maps != nullptr) {
    move(args, primitive.index_maps(args), out);
    known = true;
  }
  return out;
}

}  // namespace spruce::cuda
