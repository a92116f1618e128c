// SPDX-License-Identifier: Apache-2.0
// What is computed element by element and of which only slices are read is computed for each slice
// by itself, as the gates of an LSTM are, so that it joins what the slice is read by.
#include "spruce/transforms/passes/fusion/push_slices_up.h"

#include <algorithm>
#include <list>

#include "spruce/core/rules/shape.h"
#include "spruce/transforms/passes/passes.h"
#include "spruce/transforms/passes/rewriter.h"

namespace spruce::passes {
namespace {

constexpr int64_t kLongRun = 128;   // elements
constexpr size_t kMostSlices = 16;  // of one value, so that a graph does not grow without bound

using internal::at;

class Slicer {
 public:
  explicit Slicer(Graph graph) : out_(std::move(graph)) {
    std::vector<Equation> from = std::move(out_.equations);
    uses_.assign(out_.avals.size(), 0);
    slices_.resize(out_.avals.size());
    for (const ValueId v : out_.outputs) ++uses_[at(v)];
    for (size_t k = from.size(); k-- > 0;) {
      Equation& e = from[k];
      if (is_read_in_slices(e))
        move_into_slices(e);
      else
        insert(equations_.begin(), std::move(e));
    }
    out_.equations.assign(std::make_move_iterator(equations_.begin()),
                          std::make_move_iterator(equations_.end()));
  }

  Graph result() { return std::move(out_); }

 private:
  using Place = std::list<Equation>::iterator;

  Place insert(Place before, Equation e) {
    const Place place = equations_.insert(before, std::move(e));
    for (const ValueId v : place->inputs) ++uses_[at(v)];
    if (place->primitive == &slice_p) slices_[at(place->inputs[0])].push_back(place);
    return place;
  }

  bool is_read_in_slices(const Equation& e) const {
    if (e.primitive->kind != PrimitiveKind::kElementwise) return false;
    const ValueId y = e.outputs[0];
    const auto& slices = slices_[at(y)];
    if (slices.empty() || slices.size() != uses_[at(y)] || slices.size() > kMostSlices)
      return false;
    for (const ValueId x : e.inputs) {
      const Shape& shape = out_.avals[at(x)].shape;
      if (shape.rank() != 0 && !(shape == out_.avals[at(y)].shape)) return false;
    }
    int64_t read = 0;
    for (const Place s : slices) {
      if (!has_long_runs(out_, *s)) return false;
      read += out_.avals[at(s->outputs[0])].numel();
    }
    return read <= out_.avals[at(y)].numel();
  }

  // Each slice of the result becomes the operation on slices of the operands.
  void move_into_slices(const Equation& e) {
    const std::vector<Place> all = slices_[at(e.outputs[0])];  // the vector around it grows
    for (const Place s : all) {
      Equation moved = e;
      moved.outputs = s->outputs;
      for (ValueId& x : moved.inputs) {
        Aval aval = out_.avals[at(x)];
        if (aval.shape.rank() == 0) continue;
        aval.shape = out_.avals[at(s->outputs[0])].shape;
        const ValueId part = out_.add_value(aval);
        uses_.push_back(0);
        slices_.emplace_back();
        insert(s, {&slice_p, s->params, {x}, {part}, s->place});
        x = part;
      }
      insert(s, std::move(moved));
      equations_.erase(s);
    }
  }

  Graph out_;
  std::list<Equation> equations_;
  std::vector<size_t> uses_;                // by value: by equations and as an output
  std::vector<std::vector<Place>> slices_;  // by value: the slices of it
};

Graph sliced(Graph graph) {
  Graph out = Slicer(std::move(graph)).result();
  for (Equation& e : out.equations) {
    if (has_bodies(e)) e.params = map_graphs(e.params, sliced);
  }
  return out;
}

// Elements of a part that stand side by side in the whole, of which it takes each `step`th index.
int64_t run_of(const Shape& part, const Shape& whole, const Shape& step) {
  int64_t run = 1;
  for (int i = part.rank(); i-- > 0;) {
    if (step[i] == 1) run *= part[i];
    if (step[i] != 1 || part[i] != whole[i]) break;
  }
  return run;
}

}  // namespace

bool has_long_runs(const Graph& graph, const Equation& e) {
  const auto shape = [&](ValueId v) -> const Shape& { return graph.avals[at(v)].shape; };
  const Shape& to = shape(e.outputs[0]);
  if (e.primitive == &slice_p) {
    return run_of(to, shape(e.inputs[0]), e.params.get<SliceParams>().stride) >= kLongRun;
  }
  return std::all_of(e.inputs.begin(), e.inputs.end(), [&](ValueId x) {
    return run_of(shape(x), to, Shape::filled(to.rank(), 1)) >= kLongRun;
  });
}

Graph push_slices_up(Graph graph) { return common_subexpressions(sliced(std::move(graph))); }

}  // namespace spruce::passes
