// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/rules/layouts.h"

#include <algorithm>
#include <map>

#include "spruce/core/graph/build.h"
#include "spruce/core/rules/index_maps.h"
#include "spruce/core/rules/shape.h"

namespace spruce::rules {
namespace {

using spruce::internal::at, spruce::internal::is_view;

constexpr int64_t kAlign = 64;  // bytes to which an operand without strides has to be aligned
constexpr int kMostMoves = 32;  // that are followed, so that long chains take linear time

bool has_strides(const Shape& shape, const Shape& strides) {
  const Shape dense = row_major_strides(shape);
  for (int i = 0; i < shape.rank(); ++i) {
    if (shape[i] != 1 && strides[i] != dense[i]) return true;
  }
  return false;
}

// The coordinates of the elements of an array in those that it is made from.
class Coordinates {
 public:
  explicit Coordinates(const Shape& shape) : from_(Shape::filled(shape.rank(), 0)), step_(from_) {
    for (int i = 0; i < shape.rank(); ++i) axis_.push_back(i), step_[i] = 1;
  }

  // The array at hand is made as the map says of the one in which coordinates are sought next.
  void compose(const IndexMap& m) {
    Shape from = m.from;
    for (int j = 0; j < from_.rank(); ++j) {
      if (m.axis[j] >= 0) from[m.axis[j]] += from_[j] * m.stride[j];
    }
    from_ = from;
    for (int i = 0; i < axis_.rank(); ++i) {
      if (axis_[i] < 0) continue;
      step_[i] *= m.stride[axis_[i]];
      axis_[i] = m.axis[axis_[i]];
    }
  }

  // In memory where the array at hand has these strides.
  StridedPlace in(ValueId base, int64_t offset, const Shape& strides) const {
    StridedPlace p{base, offset, step_};
    for (int j = 0; j < from_.rank(); ++j) p.offset += from_[j] * strides[j];
    for (int i = 0; i < axis_.rank(); ++i)
      p.strides[i] *= axis_[i] < 0 ? 0 : strides[static_cast<int>(axis_[i])];
    return p;
  }

 private:
  Shape from_;  // by axis of the array at hand: where the first element is
  Axes axis_;  // by axis of the array that is sought: along which it goes; -1 where that has size 1
  Shape step_;  // by the same: how far
};

}  // namespace

class Layouts::Finder {
 public:
  Finder(const Graph& g, Takers takers, Layouts& out)
      : g_(g),
        takers_(takers),
        out_(out),
        lives_(g.avals.size(), 0),
        source_(g.avals.size(), -1),
        users_(g.avals.size()),
        wanted_(g.avals.size(), 0),
        written_(g.equations.size()) {
    map_of_.assign(g.equations.size(), -1);
    for (size_t n = 0; n < g.equations.size(); ++n) {
      find_map(n);
      for (const ValueId v : g.equations[n].outputs) source_[at(v)] = static_cast<int64_t>(n);
      for (const ValueId v : g.equations[n].inputs) users_[at(v)].push_back(n);
    }
    for (const ValueId v : g.outputs) wanted_[at(v)] = 1;
    for (const ValueId v : g.inputs) lives_[at(v)] = 1;
    for (const Graph::Constant& c : g.constants) lives_[at(c.id)] = 1;
    out_.results_.resize(g.avals.size());
    out_.inputs_.resize(g.equations.size());
    out_.skipped_.assign(g.equations.size(), 0);
  }

  void find() {
    for (size_t n = 0; n < g_.equations.size(); ++n) {
      if (g_.equations[n].primitive == &concatenate_p) write_to_parts(n);
    }
    for (size_t n = 0; n < g_.equations.size(); ++n) {
      const Equation& e = g_.equations[n];
      // A move before a transpose copies by itself: until the transpose writes, the memory of its
      // result holds other values, and without that a Hessian takes an eighth more.
      if (!may_take(e) || only_moves(e)) continue;
      for (size_t k = 0; k < e.outputs.size(); ++k) write_transposed(n, k);
    }
    for (size_t n = 0; n < g_.equations.size(); ++n) {
      const Equation& e = g_.equations[n];
      const bool moved = std::any_of(e.inputs.begin(), e.inputs.end(), [&](ValueId v) {
        return out_.results_[at(v)] || moves(source_[at(v)]);
      });
      if (moved && may_read(e)) out_.inputs_[n] = inputs_of(n);
    }
    skip();
    const auto& placed = out_.results_;
    if (std::none_of(placed.begin(), placed.end(), [](const auto& p) { return p.has_value(); }))
      out_.results_.clear();
  }

 private:
  // A result in the place where what is made of it would stand.
  struct Placed {
    ValueId v;
    StridedPlace place;
  };

  const Shape& shape(ValueId v) const { return g_.avals[at(v)].shape; }
  const Equation* source(ValueId v) const {
    return source_[at(v)] < 0 ? nullptr : &g_.equations[static_cast<size_t>(source_[at(v)])];
  }
  // What place_of() sees through: the whole of a result out of one array, forwards.
  void find_map(size_t n) {
    const Equation& e = g_.equations[n];
    std::vector<IndexMap> maps = index_maps_of(g_, e);
    std::erase_if(maps, [](const IndexMap& m) { return m.count.numel() == 0; });
    const bool forwards =
        maps.size() == 1 && covers(maps[0], shape(e.outputs[0])) &&
        std::all_of(maps[0].stride.begin(), maps[0].stride.end(), [](int64_t s) { return s > 0; });
    if (!forwards) return;
    map_of_[n] = static_cast<int32_t>(maps_.size());
    maps_.push_back(maps[0]);
  }
  // That map of an equation; null without one, and for -1.
  const IndexMap* map(int64_t n) const {
    const int32_t at = n < 0 ? -1 : map_of_[static_cast<size_t>(n)];
    return at < 0 ? nullptr : &maps_[static_cast<size_t>(at)];
  }
  // An equation that need not run if nobody needs its elements where it puts them.
  bool moves(int64_t n) const {
    return map(n) != nullptr ||
           (n >= 0 && g_.equations[static_cast<size_t>(n)].primitive == &reshape_p);
  }
  // Whether it is in memory to the end, so that reading parts of it late costs no memory.
  bool stays(ValueId v) const {
    const auto& r = out_.results_[at(v)];
    return lives_[at(v)] != 0 || (r && wanted_[at(r->base)] != 0);
  }
  bool used_once(ValueId v) const { return wanted_[at(v)] == 0 && users_[at(v)].size() == 1; }

  bool may_take(const Equation& e) const {
    return e.primitive->takes_strides != nullptr && (takers_ == Takers::kAll || !only_moves(e));
  }
  // Whether the kernels of an equation may take an operand that stands elsewhere.
  bool may_read(const Equation& e) const {
    return may_take(e) || (takers_ == Takers::kAll && !is_view(e));
  }
  // Whether equation n takes that operand there; says in the place whether it is dense.
  bool takes(size_t n, bool output, size_t i, StridedPlace& p) const {
    const Equation& e = g_.equations[n];
    const Aval& aval = g_.avals[at((output ? e.outputs : e.inputs)[i])];
    p.dense = !has_strides(aval.shape, p.strides);
    if (p.dense && takers_ == Takers::kAll && !is_view(e) &&
        p.offset * size_of(aval.dtype) % kAlign == 0)
      return true;
    return may_take(e) &&
           e.primitive->takes_strides(
               {types_of(g_, e.inputs), types_of(g_, e.outputs), e.params, output, i, p.strides});
  }

  // Whose memory v has: that of what a view shows, which may stand elsewhere.
  ValueId shown_by(ValueId v) const {
    for (const Equation* e = source(v); e != nullptr && is_view(*e); e = source(v))
      v = e->inputs[0];
    return v;
  }

  // v as part of the first array that it is taken from, and that array, whose elements may stand
  // elsewhere themselves. No base where they do, with strides that v has not.
  StridedPlace place_of(ValueId v, bool slices, ValueId& from) const {
    Coordinates c(shape(v));
    from = v;
    int left = kMostMoves;
    for (int64_t n = source_[at(v)]; map(n) != nullptr && !out_.results_[at(from)] && left-- > 0;
         n = source_[at(from)]) {
      const ValueId before = g_.equations[static_cast<size_t>(n)].inputs[map(n)->input];
      if (!slices && reads_part(*map(n), shape(before))) break;
      c.compose(*map(n));
      from = before;
    }
    const ValueId shown = shown_by(from);
    const auto& r = out_.results_[at(shown)];
    if (!r) return c.in(from, 0, row_major_strides(shape(from)));
    if (shown == from) return c.in(r->base, r->offset, r->strides);
    if (r->dense) return c.in(r->base, r->offset, row_major_strides(shape(from)));
    return {};
  }

  std::vector<std::optional<StridedPlace>> inputs_of(size_t n) const {
    const Equation& e = g_.equations[n];
    std::vector<std::optional<StridedPlace>> out(e.inputs.size());
    std::map<ValueId, int64_t> read;
    std::vector<ValueId> from(e.inputs.size());
    for (size_t i = 0; i < e.inputs.size(); ++i) {
      if (shape(e.inputs[i]).numel() == 0) continue;
      place_of(e.inputs[i], true, from[i]);
      read[from[i]] += shape(e.inputs[i]).numel();
    }
    for (size_t i = 0; i < e.inputs.size(); ++i) {
      const ValueId v = e.inputs[i];
      if (shape(v).numel() == 0) continue;
      const bool most = stays(from[i]) || read[from[i]] >= shape(from[i]).numel();
      StridedPlace p = place_of(v, most, from[i]);
      if (p.base < 0) continue;
      const bool itself = p.base == v || (p.offset == 0 && !has_strides(shape(v), p.strides) &&
                                          shape(p.base).numel() == shape(v).numel());
      if (!itself && takes(n, false, i, p)) out[i] = p;
    }
    return out;
  }

  // True if everything that reads v, but for equation `but`, takes it with the strides that it has
  // now, perhaps through further moves.
  bool readers_take(ValueId v, size_t but) const {
    std::vector<ValueId> open = {v};
    while (!open.empty()) {
      const ValueId x = open.back();
      open.pop_back();
      if (wanted_[at(x)] != 0) return false;
      for (const size_t n : users_[at(x)]) {
        if (n == but) continue;
        const Equation& e = g_.equations[n];
        std::vector<std::optional<StridedPlace>> in(e.inputs.size());
        if (may_read(e)) in = inputs_of(n);
        bool all = true;
        for (size_t i = 0; i < in.size(); ++i) all = all && (e.inputs[i] != x || in[i]);
        if (all) continue;
        // What stands elsewhere has to be written there.
        if (!moves(static_cast<int64_t>(n)) || out_.results_[at(e.outputs[0])]) return false;
        open.push_back(e.outputs[0]);
      }
    }
    return true;
  }

  // True if equation n takes each operand that stands elsewhere. One that only moves elements may
  // have been left out of readers_take().
  bool reads_all(size_t n) const {
    const Equation& e = g_.equations[n];
    const std::vector<std::optional<StridedPlace>> in = inputs_of(n);
    for (size_t i = 0; i < in.size(); ++i) {
      if (!in[i] && out_.results_[at(shown_by(e.inputs[i]))]) return false;
    }
    return true;
  }

  // The results get their places if all that read them take these; equation n then need not run.
  void place(const std::vector<Placed>& results, const std::vector<size_t>& but, size_t n) {
    for (const Placed& p : results) out_.results_[at(p.v)] = p.place;
    for (size_t i = 0; i < results.size(); ++i) {
      if (readers_take(results[i].v, but[i]) &&
          reads_all(static_cast<size_t>(source_[at(results[i].v)])))
        continue;
      for (const Placed& p : results) out_.results_[at(p.v)].reset();
      return;
    }
    for (const Placed& p : results) written_[n].push_back(p.v);
  }

  // A concatenation of results that are for nothing else, perhaps transposed and in another shape.
  // Where all are only moved, it reads each where it comes from, which is one copy already.
  void write_to_parts(size_t n) {
    const Equation& e = g_.equations[n];
    if (std::all_of(e.inputs.begin(), e.inputs.end(),
                    [&](ValueId v) { return map(source_[at(v)]) != nullptr; }))
      return;
    const ValueId whole = e.outputs[0];
    const auto axis = static_cast<int>(e.params.get<ConcatenateParams>().axis);
    std::vector<Placed> parts;
    std::vector<size_t> but;
    int64_t begin = 0;
    for (const ValueId part : e.inputs) {
      // From the part to the result, then back with the coordinates.
      std::vector<const Equation*> chain;
      ValueId v = part;
      const Equation* s = source(v);
      for (; s != nullptr && (s->primitive == &transpose_p || s->primitive == &reshape_p);
           s = source(v)) {
        if (!used_once(v)) return;
        chain.push_back(s);
        v = s->inputs[0];
      }
      if (s == nullptr || shape(v).numel() == 0 || out_.results_[at(v)] ||
          !written_[static_cast<size_t>(source_[at(v)])].empty() ||
          std::any_of(parts.begin(), parts.end(), [&](const Placed& p) { return p.v == v; }))
        return;
      Coordinates c(shape(v));
      for (size_t i = chain.size(); i-- > 0;) {
        const Equation& m = *chain[i];
        const Shape &before = shape(m.inputs[0]), &after = shape(m.outputs[0]);
        std::optional<IndexMap> back = reshape_map(after, before);
        if (m.primitive == &transpose_p)
          back = transpose_map(inverse_axes(m.params.get<TransposeParams>().perm), before);
        if (!back) return;
        c.compose(*back);
      }
      Shape start = Shape::filled(shape(part).rank(), 0);
      start[axis] = begin;
      begin += shape(part)[axis];
      c.compose(slice_map(start, Shape::filled(start.rank(), 1), shape(part)));
      StridedPlace p = c.in(whole, 0, row_major_strides(shape(whole)));
      const auto k = std::find(s->outputs.begin(), s->outputs.end(), v) - s->outputs.begin();
      if (!takes(static_cast<size_t>(source_[at(v)]), true, static_cast<size_t>(k), p)) return;
      parts.push_back({v, p});
      but.push_back(chain.empty() ? n : static_cast<size_t>(source_[at(chain.back()->outputs[0])]));
    }
    if (!parts.empty()) place(parts, but, n);
  }

  // A result that is transposed.
  void write_transposed(size_t n, size_t k) {
    const ValueId v = g_.equations[n].outputs[k];
    if (out_.results_[at(v)] || !written_[n].empty() || wanted_[at(v)] != 0 ||
        shape(v).numel() == 0)
      return;
    for (const size_t t : users_[at(v)]) {
      const Equation& e = g_.equations[t];
      if (e.primitive != &transpose_p) continue;
      const Axes& perm = e.params.get<TransposeParams>().perm;
      StridedPlace p{e.outputs[0], 0, strides_in_transpose(shape(v), perm)};
      if (takes(n, true, k, p)) return place({{v, p}}, {t}, t);
    }
  }

  // What moves elements for nobody does not run.
  void skip() {
    std::vector<uint8_t> needed = wanted_;
    for (size_t n = g_.equations.size(); n-- > 0;) {
      const Equation& e = g_.equations[n];
      const bool read = std::any_of(e.outputs.begin(), e.outputs.end(),
                                    [&](ValueId v) { return needed[at(v)] != 0; });
      if (!written_[n].empty() || (moves(static_cast<int64_t>(n)) && !read)) {
        for (const ValueId v : written_[n]) needed[at(v)] |= static_cast<uint8_t>(read);
        out_.skipped_[n] = 1;
        continue;
      }
      for (size_t i = 0; i < e.inputs.size(); ++i) needed[at(out_.input_base(e, n, i))] = 1;
    }
  }

  const Graph& g_;
  const Takers takers_;
  Layouts& out_;
  std::vector<uint8_t> lives_;  // by value: in memory at all times
  std::vector<IndexMap> maps_;
  std::vector<int32_t> map_of_;                // by equation: which, or -1
  std::vector<int64_t> source_;                // by value: the equation that makes it, or -1
  std::vector<std::vector<size_t>> users_;     // by value: equations that read it
  std::vector<uint8_t> wanted_;                // by value: an output
  std::vector<std::vector<ValueId>> written_;  // by equation: the results that stand in its own
};

Layouts::Layouts(const Graph& graph, Takers takers) {
  if (std::any_of(graph.equations.begin(), graph.equations.end(), only_moves))
    Finder(graph, takers, *this).find();
}

const StridedPlace* Layouts::input(size_t equation, size_t i) const {
  if (inputs_.empty() || inputs_[equation].empty() || !inputs_[equation][i]) return nullptr;
  return &*inputs_[equation][i];
}

ValueId Layouts::input_base(const Equation& e, size_t equation, size_t i) const {
  const StridedPlace* p = input(equation, i);
  return p != nullptr ? p->base : e.inputs[i];
}

const StridedPlace* Layouts::result(ValueId v) const {
  return results_.empty() || !results_[at(v)] ? nullptr : &*results_[at(v)];
}

std::vector<const Shape*> Layouts::input_strides(size_t equation) const {
  std::vector<const Shape*> out;
  if (inputs_.empty()) return out;
  for (const auto& place : inputs_[equation])
    out.push_back(place && !place->dense ? &place->strides : nullptr);
  return out;
}

std::vector<const Shape*> Layouts::output_strides(const Equation& equation) const {
  std::vector<const Shape*> out;
  if (results_.empty()) return out;
  for (const ValueId v : equation.outputs) {
    const StridedPlace* p = result(v);
    out.push_back(p == nullptr || p->dense ? nullptr : &p->strides);
  }
  return out;
}

}  // namespace spruce::rules
