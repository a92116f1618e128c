// SPDX-License-Identifier: Apache-2.0
// A transpose of what is computed element by element from an array of fewer bytes, as images in u8
// that are normalised are, moves those bytes instead. Exact.
#include <algorithm>

#include "spruce/core/rules/layouts.h"
#include "spruce/core/rules/shape.h"
#include "spruce/transforms/passes/passes.h"
#include "spruce/transforms/passes/rewriter.h"

namespace spruce::passes {
namespace {

using internal::at;

constexpr int64_t kFewElements = 16;  // one of so many is not worth counting

class Narrowing {
 public:
  explicit Narrowing(Graph graph) : out_(std::move(graph)) {
    const rules::Layouts layouts(out_, rules::Layouts::Takers::kWorking);
    from_ = std::move(out_.equations);
    out_.equations.clear();
    source_.resize(out_.avals.size());
    uses_.resize(out_.avals.size());
    for (const ValueId v : out_.outputs) ++uses_[at(v)];
    for (const Equation& e : from_) {
      for (const ValueId v : e.inputs) ++uses_[at(v)];
      for (const ValueId v : e.outputs) source_[at(v)] = &e;
    }
    for (size_t k = 0; k < from_.size(); ++k) {
      const Equation& e = from_[k];
      if (e.primitive == &transpose_p && layouts.runs(k)) {
        const std::vector<Step> steps = steps_to_narrowest(e.inputs[0]);
        if (!steps.empty()) {
          compute_behind(e, steps);
          continue;
        }
      }
      out_.equations.push_back(e);
    }
  }

  Graph result() { return std::move(out_); }

 private:
  // An equation, and the number of the only input that has as many elements as the result.
  struct Step {
    const Equation* equation;
    size_t large;
  };

  const Aval& aval(ValueId v) const { return out_.avals[at(v)]; }

  // The input through which v is made of an array of its shape, if nobody else reads v.
  std::optional<Step> step_to(ValueId v) const {
    const Equation* e = source_[at(v)];
    if (e == nullptr || uses_[at(v)] != 1 || e->primitive->kind != PrimitiveKind::kElementwise)
      return std::nullopt;
    std::optional<Step> step;
    for (size_t i = 0; i < e->inputs.size(); ++i) {
      const Aval& x = aval(e->inputs[i]);
      if (x.numel() <= aval(v).numel() / kFewElements) continue;
      if (step || x.shape != aval(v).shape) return std::nullopt;
      step = Step{e, i};
    }
    return step;
  }

  // From v to the array of the fewest bytes among those that it is made of; empty if that is v.
  std::vector<Step> steps_to_narrowest(ValueId v) const {
    std::vector<Step> steps;
    size_t kept = 0;
    int64_t fewest = aval(v).bytes();
    while (const std::optional<Step> step = step_to(v)) {
      steps.push_back(*step);
      v = step->equation->inputs[step->large];
      if (aval(v).bytes() >= fewest) continue;
      fewest = aval(v).bytes();
      kept = steps.size();
    }
    steps.resize(kept);
    return steps;
  }

  // A new value of the type of v and another shape.
  ValueId with_shape(ValueId v, const Shape& shape) {
    Aval type = aval(v);
    type.shape = shape;
    return out_.add_value(type);
  }

  ValueId moved(const Equation& like, const Primitive& p, Params params, ValueId x,
                const Shape& shape) {
    const ValueId y = with_shape(x, shape);
    out_.equations.push_back({&p, std::move(params), {x}, {y}, like.place});
    return y;
  }

  // An operand of few elements, as a transposed array is computed from it.
  ValueId few(const Equation& transpose, ValueId x, const Axes& perm) {
    const Shape shape = aval(x).shape;
    if (shape.rank() == 0) return x;
    Shape wide = Shape::filled(perm.rank(), 1), to = wide;
    for (int i = 0; i < shape.rank(); ++i) wide[perm.rank() - shape.rank() + i] = shape[i];
    for (int i = 0; i < perm.rank(); ++i) to[i] = wide[static_cast<int>(perm[i])];
    if (wide != shape) x = moved(transpose, reshape_p, Params::make(ReshapeParams{wide}), x, wide);
    return moved(transpose, transpose_p, transpose.params, x, to);
  }

  // The result of `transpose`, whose operand is made by these steps, the last one first.
  void compute_behind(const Equation& transpose, const std::vector<Step>& steps) {
    const Axes& perm = transpose.params.get<TransposeParams>().perm;
    const Shape shape = aval(transpose.outputs[0]).shape;
    const Step& first = steps.back();
    ValueId y =
        moved(transpose, transpose_p, transpose.params, first.equation->inputs[first.large], shape);
    for (size_t k = steps.size(); k-- > 0;) {
      Equation e = *steps[k].equation;
      for (size_t i = 0; i < e.inputs.size(); ++i)
        e.inputs[i] = i == steps[k].large ? y : few(transpose, e.inputs[i], perm);
      y = k == 0 ? transpose.outputs[0] : with_shape(e.outputs[0], shape);
      e.outputs = {y};
      out_.equations.push_back(std::move(e));
    }
  }

  Graph out_;
  std::vector<Equation> from_;
  std::vector<const Equation*> source_;  // by value
  std::vector<int64_t> uses_;            // by value: by equations and as an output
};

}  // namespace

Graph narrow_transposes(Graph graph) {
  const bool any = std::any_of(graph.equations.begin(), graph.equations.end(),
                               [](const Equation& e) { return e.primitive == &transpose_p; });
  Graph out = any ? Narrowing(std::move(graph)).result() : std::move(graph);
  for (Equation& e : out.equations) {
    if (has_bodies(e)) e.params = map_graphs(e.params, narrow_transposes);
  }
  return out;
}

}  // namespace spruce::passes
