// SPDX-License-Identifier: Apache-2.0
// Attention reads its operands where the parts of a projection stand, and writes its results and
// cotangents in the order in which they are wanted next. Exact.
#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "spruce/core/graph/build.h"
#include "spruce/core/rules/attention_strided.h"
#include "spruce/core/rules/shape.h"
#include "spruce/transforms/passes/passes.h"
#include "spruce/transforms/passes/rewriter.h"

namespace spruce::passes {
namespace {

using internal::at;

// An array as part of another one.
struct Part {
  ValueId of;
  int64_t offset = 0;
  Shape steps;         // by axis, in elements
  bool moved = false;  // `of` is a value of the new graph
};

// The coordinates of the elements of an array in those that it is made from.
class Coordinates {
 public:
  explicit Coordinates(const Shape& shape) : from_(Shape::filled(shape.rank(), 0)), step_(from_) {
    for (int i = 0; i < shape.rank(); ++i) axis_.push_back(i), step_[i] = 1;
  }

  void transpose(const Axes& perm) {
    Shape from = from_;
    for (int j = 0; j < perm.rank(); ++j) from[static_cast<int>(perm[j])] = from_[j];
    from_ = from;
    for (int64_t& a : axis_) a = a < 0 ? a : perm[static_cast<int>(a)];
  }
  void slice(const SliceParams& p) {
    for (int j = 0; j < from_.rank(); ++j) from_[j] = p.start[j] + from_[j] * p.stride[j];
    for (int i = 0; i < axis_.rank(); ++i)
      step_[i] *= axis_[i] < 0 ? 1 : p.stride[static_cast<int>(axis_[i])];
  }
  // False where axes of `before` are joined.
  bool reshape(const Shape& before, const Shape& after) {
    Shape from = Shape::filled(before.rank(), 0);
    Axes to = Shape::filled(after.rank(), -1);
    Shape inner = Shape::filled(after.rank(), 0);
    int j = 0;
    for (int k = 0; k < before.rank(); ++k) {
      if (before[k] == 1) continue;
      int64_t left = before[k];
      while (left > 1) {
        if (j == after.rank() || left % after[j] != 0) return false;
        left /= after[j];
        if (after[j] != 1) to[j] = k, inner[j] = left;
        from[k] += from_[j] * left;
        ++j;
      }
    }
    for (int i = 0; i < axis_.rank(); ++i) {
      if (axis_[i] < 0) continue;
      const auto a = static_cast<int>(axis_[i]);
      step_[i] *= inner[a];
      axis_[i] = to[a];
    }
    from_ = from;
    return true;
  }
  Part in(ValueId v, const Shape& shape) const {
    const Shape dense = row_major_strides(shape);
    Part p{v, 0, step_};
    for (int j = 0; j < from_.rank(); ++j) p.offset += from_[j] * dense[j];
    for (int i = 0; i < axis_.rank(); ++i)
      p.steps[i] *= axis_[i] < 0 ? 0 : dense[static_cast<int>(axis_[i])];
    return p;
  }

 private:
  Shape from_;  // by axis of the array at hand: where the first element is
  Axes axis_;  // by axis of the array that is sought: along which it goes; -1 where that has size 1
  Shape step_;  // by the same: how far
};

class Heads {
 public:
  explicit Heads(const Graph& g)
      : g_(g), source_(g.avals.size()), users_(g.avals.size()), wanted_(g.avals.size(), 0) {
    for (const Equation& e : g.equations) {
      for (const ValueId v : e.outputs) source_[at(v)] = &e;
      for (const ValueId v : e.inputs) users_[at(v)].push_back(&e);
    }
    for (const ValueId v : g.outputs) wanted_[at(v)] = 1;
  }

  Graph run() {
    size_t n = 0;
    return rebuild(g_, [&](Graph& out, Equation e, std::vector<ValueId>& renamed) {
      const Equation& old = g_.equations[n++];
      if (dropped_.count(&old) != 0) return;
      if (const auto stacked = stacked_.find(&old); stacked != stacked_.end()) {
        e.primitive = &reshape_p;
        e.params = Params::make(ReshapeParams{g_.avals[at(old.outputs[0])].shape});
        e.inputs = {stacked->second};
      } else if (old.primitive == &transpose_p && moved_.count(old.inputs[0]) != 0) {
        const Moved& m = moved_.at(old.inputs[0]);
        if (old.params.get<TransposeParams>().perm == m.perm) {
          renamed[at(old.outputs[0])] = m.value;
          return;
        }
      } else if (old.primitive == &attention_lse_p && old.inputs.size() == 3) {
        if (forward(out, old, e, renamed)) return;
      } else if (old.primitive == &attention_grad_p && old.inputs.size() == 6) {
        if (backward(out, old, e, renamed)) return;
      } else if (has_bodies(old)) {
        e.params = map_graphs(e.params, fuse_attention_layout);
      }
      out.equations.push_back(std::move(e));
    });
  }

 private:
  // A result that is written in another order.
  struct Moved {
    ValueId value;
    Axes perm;
  };

  const Shape& shape(ValueId v) const { return g_.avals[at(v)].shape; }

  // v as part of the first array that it is taken from; of itself if its rows would not be dense.
  Part part(ValueId v, bool slices) const {
    const Shape& dense = shape(v);
    Coordinates c(dense);
    ValueId from = v;
    for (const Equation* e = source_[at(v)]; e != nullptr; e = source_[at(from)]) {
      if (e->primitive == &transpose_p)
        c.transpose(e->params.get<TransposeParams>().perm);
      else if (e->primitive == &slice_p && slices)
        c.slice(e->params.get<SliceParams>());
      else if (e->primitive != &reshape_p || !c.reshape(shape(e->inputs[0]), shape(from)))
        break;
      from = e->inputs[0];
    }
    Part p = c.in(from, shape(from));
    if (dense.back() == 1 || p.steps.back() == 1) return p;
    return Coordinates(dense).in(v, dense);
  }

  // The parts that operands are. Slices are read in place where most of the array is wanted: it
  // lives as long as they do.
  std::vector<Part> parts(const std::vector<ValueId>& operands) const {
    std::vector<Part> out;
    std::map<ValueId, int64_t> read;
    for (const ValueId v : operands) {
      out.push_back(part(v, true));
      read[out.back().of] += shape(v).numel();
    }
    for (size_t i = 0; i < out.size(); ++i) {
      if (read[out[i].of] < shape(out[i].of).numel()) out[i] = part(operands[i], false);
    }
    return out;
  }

  // The order in which v is wanted: that of a transpose of it, if rows stay.
  std::optional<Axes> order(ValueId v) const {
    for (const Equation* e : users_[at(v)]) {
      if (e->primitive != &transpose_p) continue;
      const Axes& perm = e->params.get<TransposeParams>().perm;
      if (perm.back() == perm.rank() - 1) return perm;
    }
    return {};
  }

  static Axes plain(int rank) {
    Axes out;
    for (int i = 0; i < rank; ++i) out.push_back(i);
    return out;
  }

  bool fits(const Equation& e) const {
    const Dtype dtype = g_.avals[at(e.inputs[0])].dtype;
    if (dtype != Dtype::kFloat32 && dtype != Dtype::kFloat64) return false;
    for (const ValueId v : e.inputs) {
      if (shape(v).numel() == 0) return false;
    }
    return true;
  }

  AttentionStridedParams params_of(const Equation& old, const std::vector<Part>& from,
                                   std::vector<ValueId>& inputs,
                                   const std::vector<ValueId>& renamed) const {
    const auto& dense = old.params.get<AttentionParams>();
    const Shape& v = shape(old.inputs[2]);
    AttentionStridedParams p{
        dense.scale, dense.causal, shape(old.inputs[0]), v[v.rank() - 2], v.back(), {}, {}, -1};
    for (const Part& x : from) {
      const ValueId of = x.moved ? x.of : renamed[at(x.of)];
      auto known = std::find(inputs.begin(), inputs.end(), of);
      if (known == inputs.end()) known = inputs.insert(known, of);
      p.views.push_back(known - inputs.begin());
      p.views.push_back(x.offset);
      for (int i = 0; i + 1 < x.steps.rank(); ++i) p.views.push_back(x.steps[i]);
    }
    return p;
  }

  // The value of the old graph: the moved one in the old order.
  void add_old(Graph& out, ValueId old, const Moved& m, const std::string& place) {
    Axes inverse = m.perm;
    for (int i = 0; i < inverse.rank(); ++i) inverse[static_cast<int>(m.perm[i])] = i;
    moved_[old] = m;
    out.equations.push_back(
        {&transpose_p, Params::make(TransposeParams{inverse}), {m.value}, {old}, place});
  }

  bool forward(Graph& out, const Equation& old, Equation& e, const std::vector<ValueId>& renamed) {
    if (!fits(old)) return false;
    const std::vector<Part> from = parts(old.inputs);
    const ValueId result = old.outputs[0];
    const std::optional<Axes> wanted = order(result);
    bool same = !wanted;
    for (size_t i = 0; i < from.size(); ++i) same = same && from[i].of == old.inputs[i];
    if (same) return false;
    e.primitive = &attention_lse_strided_p;
    e.inputs.clear();
    AttentionStridedParams p = params_of(old, from, e.inputs, renamed);
    p.perm = wanted.value_or(plain(p.query.rank()));
    Aval moved = g_.avals[at(result)];
    moved.shape = rules::strided_shape("heads", shape(result), p.perm, -1, 1);
    const Moved m{wanted ? out.add_value(moved) : result, p.perm};
    e.params = Params::make(std::move(p));
    e.outputs[0] = m.value;
    const std::string place = e.place;
    out.equations.push_back(std::move(e));
    if (wanted) add_old(out, result, m, place);
    return true;
  }

  // The concatenation of all three cotangents after their transposes, if that is all they are for,
  // and what lies between.
  const Equation* join(const Equation& old, const Axes& perm,
                       std::vector<const Equation*>& between) const {
    const Equation* join = nullptr;
    for (size_t i = 0; i < 3; ++i) {
      ValueId v = old.outputs[i];
      if (!(shape(v) == shape(old.outputs[0]))) return nullptr;
      const Equation* e = nullptr;
      for (const bool transposes : {true, false}) {
        if (wanted_[at(v)] != 0 || users_[at(v)].size() != 1) return nullptr;
        e = users_[at(v)][0];
        const bool fits = transposes ? e->primitive == &transpose_p &&
                                           e->params.get<TransposeParams>().perm == perm
                                     : e->primitive == &reshape_p;
        if (transposes && !fits) return nullptr;
        if (!fits) break;
        between.push_back(e);
        v = e->outputs[0];
        if (wanted_[at(v)] != 0 || users_[at(v)].size() != 1) return nullptr;
        e = users_[at(v)][0];
      }
      if (e->primitive != &concatenate_p || e->inputs.size() != 3 || e->inputs[i] != v ||
          (join != nullptr && join != e))
        return nullptr;
      join = e;
    }
    return join;
  }

  // The axis of the transposed cotangents in front of which they are stacked; -1 for none.
  int64_t stacking_axis(const Equation& join, const Shape& moved) const {
    const Shape& part = shape(join.inputs[0]);
    int64_t outer = 1, before = 1;
    for (int i = 0; i < join.params.get<ConcatenateParams>().axis; ++i) outer *= part[i];
    for (int i = 0; i < moved.rank(); before *= moved[i++]) {
      if (before == outer) return i;
    }
    return -1;
  }

  bool backward(Graph& out, const Equation& old, Equation& e, const std::vector<ValueId>& renamed) {
    if (!fits(old)) return false;
    const std::vector<ValueId>& in = old.inputs;
    std::vector<Part> from = parts({in[0], in[1], in[2]});
    from.push_back(part(in[3], false));
    from.push_back(part(in[5], false));
    if (const auto m = moved_.find(in[3]); m != moved_.end()) {
      const Shape stands = rules::strided_shape("heads", shape(in[3]), m->second.perm, -1, 1);
      from[3] = {m->second.value, 0,
                 rules::strided_result(shape(in[3]), m->second.perm, stands, -1, 0).steps, true};
    }
    std::optional<Axes> wanted = order(old.outputs[0]);
    for (size_t i = 1; i < 3; ++i) {
      if (order(old.outputs[i]) != wanted) wanted.reset();
    }
    bool same = !wanted && from[4].of == in[5];
    for (size_t i = 0; i < 4; ++i) same = same && from[i].of == in[i];
    if (same) return false;
    e.primitive = &attention_grad_strided_p;
    e.inputs.clear();
    AttentionStridedParams p = params_of(old, from, e.inputs, renamed);
    e.inputs.push_back(renamed[at(in[4])]);
    p.perm = wanted.value_or(plain(p.query.rank()));
    std::vector<const Equation*> between;
    const Equation* const joined = join(old, p.perm, between);
    if (joined != nullptr)
      p.joined = stacking_axis(*joined, rules::strided_shape("heads", p.query, p.perm, -1, 1));
    const bool stacks = p.joined >= 0;
    std::vector<Moved> moved;
    for (size_t i = 0; i < (stacks ? 1u : 3u); ++i) {
      Aval a = g_.avals[at(old.outputs[i])];
      a.shape = rules::strided_shape("heads", a.shape, p.perm, p.joined, 3);
      moved.push_back({stacks || wanted ? out.add_value(a) : old.outputs[i], p.perm});
    }
    e.params = Params::make(std::move(p));
    e.outputs.clear();
    for (const Moved& m : moved) e.outputs.push_back(m.value);
    const std::string place = e.place;
    out.equations.push_back(std::move(e));
    if (stacks) {
      dropped_.insert(between.begin(), between.end());
      stacked_[joined] = moved[0].value;
      return true;
    }
    for (size_t i = 0; wanted && i < 3; ++i) add_old(out, old.outputs[i], moved[i], place);
    return true;
  }

  const Graph& g_;
  std::vector<const Equation*> source_;
  std::vector<std::vector<const Equation*>> users_;
  std::vector<uint8_t> wanted_;                 // by value: an output
  std::map<ValueId, Moved> moved_;              // by the old value
  std::set<const Equation*> dropped_;           // what nobody needs any more
  std::map<const Equation*, ValueId> stacked_;  // concatenations that have been written as one
};

}  // namespace

Graph fuse_attention_layout(Graph graph) { return Heads(graph).run(); }

}  // namespace spruce::passes
