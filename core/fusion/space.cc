// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/fusion/space.h"

#include <algorithm>
#include <limits>

#include "spruce/core/rules/gather.h"
#include "spruce/core/rules/reduce.h"
#include "spruce/core/rules/shape.h"

namespace spruce::fusion {
namespace {

constexpr int64_t kMostJoined = 4096;  // elements of a row that may stand in several pieces

bool same_without_ones(const Shape& a, const Shape& b) {
  int j = 0;
  for (int i = 0; i < a.rank(); ++i) {
    if (a[i] == 1) continue;
    while (j < b.rank() && b[j] == 1) ++j;
    if (j == b.rank() || b[j] != a[i]) return false;
    ++j;
  }
  while (j < b.rank() && b[j] == 1) ++j;
  return j == b.rank();
}

// The axes of all values as sets of which those that meet are joined.
class Classes {
 public:
  explicit Classes(const Graph& g) : graph_(g) {
    for (const Aval& a : g.avals) {
      first_.push_back(parent_.size());
      for (int i = 0; i < a.shape.rank(); ++i) parent_.push_back(parent_.size());
    }
  }

  size_t find(ValueId v, int axis) {
    size_t n = first_[static_cast<size_t>(v)] + static_cast<size_t>(axis);
    while (parent_[n] != n) n = parent_[n] = parent_[parent_[n]];
    return n;
  }
  void join(ValueId v, int axis, ValueId w, int other) {
    if (size(v, axis) != 1 && size(w, other) != 1) parent_[find(v, axis)] = find(w, other);
  }
  int64_t size(ValueId v, int axis) const {
    return graph_.avals[static_cast<size_t>(v)].shape[axis];
  }
  int rank(ValueId v) const { return graph_.avals[static_cast<size_t>(v)].shape.rank(); }
  size_t count() const { return parent_.size(); }

  void join_all(const Equation& e) {
    const ValueId y = e.outputs[0];
    if (e.primitive->kind == PrimitiveKind::kElementwise) {
      for (const ValueId x : e.inputs) {
        for (int i = 1; i <= rank(x); ++i) join(x, rank(x) - i, y, rank(y) - i);
      }
    } else if (e.primitive == &broadcast_in_dim_p) {
      const Axes& dims = e.params.get<BroadcastInDimParams>().broadcast_dimensions;
      for (int i = 0; i < dims.rank(); ++i) join(e.inputs[0], i, y, static_cast<int>(dims[i]));
    } else if (e.primitive == &reshape_p) {
      const ValueId x = e.inputs[0];
      int i = 0, j = 0;
      while (true) {
        while (i < rank(x) && size(x, i) == 1) ++i;
        while (j < rank(y) && size(y, j) == 1) ++j;
        if (i == rank(x)) break;
        join(x, i++, y, j++);
      }
    } else if (e.primitive == &gather_p) {
      for (int i = 0; i < rank(y); ++i) join(e.inputs[1], i, y, i);
    } else if (e.primitive->kind == PrimitiveKind::kReduction) {
      const Axes& axes = e.params.get<ReduceParams>().axes;
      for (int i = 0, j = 0; i < rank(e.inputs[0]); ++i) {
        if (!axes.contains(i)) join(e.inputs[0], i, y, j++);
      }
    }
  }

 private:
  const Graph& graph_;
  std::vector<size_t> first_, parent_;
};

// An order of the classes that agrees with the axes of every value; empty where there is none.
std::vector<size_t> ordered(const std::vector<std::vector<size_t>>& axes, size_t classes) {
  std::vector<AxisSet> before(classes, 0);
  for (const auto& of_value : axes) {
    for (size_t i = 1; i < of_value.size(); ++i)
      before[of_value[i]] |= AxisSet{1} << of_value[i - 1];
  }
  std::vector<size_t> order;
  AxisSet done = 0;
  while (order.size() < classes) {
    const size_t was = order.size();
    // An axis that follows the last one comes first, so that neighbours stay together.
    for (const bool next : {true, false}) {
      for (size_t c = 0; c < classes && order.size() == was; ++c) {
        if ((done >> c & 1) != 0 || (before[c] & ~done) != 0) continue;
        if (next && (order.empty() || (before[c] >> order.back() & 1) == 0)) continue;
        order.push_back(c);
        done |= AxisSet{1} << c;
      }
    }
    if (order.size() == was) return {};
  }
  return order;
}

// Renames bit order[k] to bit k.
AxisSet permuted(AxisSet set, const std::vector<size_t>& order) {
  AxisSet out = 0;
  for (size_t k = 0; k < order.size(); ++k) out |= (set >> order[k] & 1) << k;
  return out;
}

// The place of `part` in `whole`, where it begins at `start`; `number` gives the bit of an axis of
// the part. None where its elements stand apart along every axis.
template <class Number>
std::optional<Space::Part> part_in(const Graph& g, ValueId whole, ValueId part, const Shape& start,
                                   const Number& number) {
  const Shape& shape = g.avals[static_cast<size_t>(part)].shape;
  const Shape strides = row_major_strides(g.avals[static_cast<size_t>(whole)].shape);
  Space::Part out{whole, 0, std::vector<int64_t>(kMostAxes, 0)};
  int64_t last = 1;
  for (int i = 0; i < shape.rank(); ++i) {
    out.offset += start[i] * strides[i];
    if (shape[i] == 1) continue;
    out.strides[static_cast<size_t>(number(part, i))] = last = strides[i];
  }
  if (last != 1) return std::nullopt;
  return out;
}

using Producers = std::vector<const Equation*>;  // by value; null for inputs and constants

// Where the elements of y stand that are read out of arrays: in place if it is one part of one
// array, whose elements stand side by side along some axis, else in pieces.
template <class Number>
void add_read(Space& s, const Graph& g, ValueId y, const Pieces& pieces, const Number& number) {
  const Shape& shape = g.avals[static_cast<size_t>(y)].shape;
  std::vector<Piece> by_class;
  int64_t last = 1;
  bool whole = pieces.size() == 1;
  for (const Piece& p : pieces) {
    Piece& out = by_class.emplace_back(Piece{p.of, p.offset, std::vector<int64_t>(kMostAxes, 0),
                                             std::vector<int64_t>(kMostAxes, 0), s.sizes});
    out.end.resize(kMostAxes, 0);
    for (int i = 0; i < shape.rank(); ++i) {
      if (shape[i] == 1) continue;
      const auto k = static_cast<size_t>(i), c = static_cast<size_t>(number(y, i));
      out.strides[c] = last = p.strides[k];
      out.begin[c] = p.begin[k];
      out.end[c] = p.end[k];
      whole = whole && p.strides[k] > 0 && p.spans(k, shape[i]);
    }
  }
  if (whole && last == 1)
    s.parts[y] = {by_class[0].of, by_class[0].offset, std::move(by_class[0].strides)};
  else
    s.pieces[y] = std::move(by_class);
}

template <class Number>
bool add_concatenation(Space& s, const Graph& g, const Equation& e, const Producers& producer,
                       const Number& number) {
  const auto times = [](const std::vector<ValueId>& in, ValueId v) {
    return std::count(in.begin(), in.end(), v);
  };
  const auto axis = static_cast<int>(e.params.get<ConcatenateParams>().axis);
  const ValueId y = e.outputs[0];
  const int rank = g.avals[static_cast<size_t>(y)].shape.rank();
  Shape start = Shape::filled(rank, 0);
  const bool read = std::any_of(g.equations.begin(), g.equations.end(),
                                [&](const Equation& other) { return times(other.inputs, y) != 0; });
  if (read || times(g.outputs, y) != 1) return false;
  for (const ValueId x : e.inputs) {
    const auto v = static_cast<size_t>(x);
    if (producer[v] == nullptr || producer[v]->primitive->kind != PrimitiveKind::kElementwise ||
        s.depends[v] != s.shape[v] || s.parts.count(x) != 0)
      return false;
    std::optional<Space::Part> part = part_in(g, y, x, start, number);
    if (!part) return false;
    s.parts[x] = std::move(*part);
    start[axis] += g.avals[v].shape[axis];
  }
  return true;
}

// True if the two axes of each part that has them are one in its memory.
bool joined_in_parts(const Space& s, size_t i, size_t j) {
  return std::all_of(s.parts.begin(), s.parts.end(), [&](const auto& part) {
    const std::vector<int64_t>& strides = part.second.strides;
    return strides[i] == strides[j] * s.sizes[j];
  });
}

// True if the two axes are one in each value that stands in pieces, and stay so short that a row
// that stands in several can be put together.
bool joined_in_pieces(const Space& s, size_t i, size_t j) {
  return std::all_of(s.pieces.begin(), s.pieces.end(), [&](const auto& of_value) {
    return std::all_of(of_value.second.begin(), of_value.second.end(), [&](const Piece& p) {
      return p.strides[i] == p.strides[j] * s.sizes[j] && p.spans(j, s.sizes[j]) &&
             (p.spans(i, s.sizes[i]) || s.sizes[i] * s.sizes[j] <= kMostJoined);
    });
  });
}

// By value: an array that gathers read. None where such a value is computed here, or read or given
// back as well.
std::optional<std::vector<bool>> gathered_arrays(const Graph& g) {
  std::vector<bool> gathered(g.avals.size(), false), other(g.avals.size(), false);
  for (const ValueId v : g.outputs) other[static_cast<size_t>(v)] = true;
  for (const Equation& e : g.equations) {
    for (size_t i = 0; i < e.inputs.size(); ++i)
      (e.primitive == &gather_p && i == 0 ? gathered : other)[static_cast<size_t>(e.inputs[i])] =
          true;
    other[static_cast<size_t>(e.outputs[0])] = true;
  }
  for (size_t v = 0; v < gathered.size(); ++v) {
    if (gathered[v] && other[v]) return std::nullopt;
  }
  return gathered;
}

void merge_neighbours(Space& s) {
  const auto together = [](const std::vector<AxisSet>& sets, size_t i, size_t j) {
    return std::all_of(sets.begin(), sets.end(),
                       [&](AxisSet a) { return (a >> i & 1) == (a >> j & 1); });
  };
  const auto drop = [](std::vector<AxisSet>& sets, size_t j) {
    const AxisSet low = (AxisSet{1} << j) - 1;
    for (AxisSet& a : sets) a = (a & low) | (a >> 1 & ~low);
  };
  for (size_t i = 0; i + 1 < s.sizes.size();) {
    if (!together(s.shape, i, i + 1) || !together(s.depends, i, i + 1) ||
        !together(s.reduced, i, i + 1) || !joined_in_parts(s, i, i + 1) ||
        !joined_in_pieces(s, i, i + 1)) {
      ++i;
      continue;
    }
    const auto without = [&](std::vector<int64_t>& of_axes, size_t axis) {
      of_axes.erase(of_axes.begin() + static_cast<std::ptrdiff_t>(axis));
    };
    for (auto& [v, pieces] : s.pieces) {
      for (Piece& p : pieces) {
        p.begin[i] *= s.sizes[i + 1];
        p.end[i] *= s.sizes[i + 1];
        without(p.begin, i + 1);
        without(p.end, i + 1);
        without(p.strides, i);
      }
    }
    s.sizes[i] *= s.sizes[i + 1];
    without(s.sizes, i + 1);
    for (auto* sets : {&s.shape, &s.depends, &s.reduced}) drop(*sets, i + 1);
    for (auto& [v, part] : s.parts) without(part.strides, i);
  }
}

}  // namespace

bool Space::has_parts(ValueId v) const {
  return std::any_of(parts.begin(), parts.end(),
                     [&](const auto& part) { return part.second.of == v; }) ||
         std::any_of(pieces.begin(), pieces.end(), [&](const auto& of_value) {
           return std::any_of(of_value.second.begin(), of_value.second.end(),
                              [&](const Piece& p) { return p.of == v; });
         });
}

bool Space::in_pieces_along(int axis, int64_t most) const {
  const auto a = static_cast<size_t>(axis);
  if (axis < 0 || sizes[a] <= most) return false;
  return std::any_of(pieces.begin(), pieces.end(), [&](const auto& of_value) {
    return (depends[static_cast<size_t>(of_value.first)] >> axis & 1) != 0 &&
           std::any_of(of_value.second.begin(), of_value.second.end(),
                       [&](const Piece& p) { return p.strides[a] != 1 || !p.spans(a, sizes[a]); });
  });
}

bool Space::has_gaps(int row, int inner) const {
  return std::any_of(parts.begin(), parts.end(), [&](const auto& part) {
    const int64_t along = stride(part.first, row);
    return along != 0 && stride(part.first, inner) != 0 &&
           along != sizes[static_cast<size_t>(inner)];
  });
}

bool reads_elements(const GatherParams& p, const Aval& x, const Aval& indices) {
  return x.shape.rank() == 1 && x.shape[0] > 0 &&
         x.shape[0] <= std::numeric_limits<int32_t>::max() && size_of(x.dtype) == 4 &&
         indices.dtype == Dtype::kInt32 && indices.shape.rank() > 0 &&
         indices.shape[indices.shape.rank() - 1] == 1 && p.clip && !p.wraps &&
         p.window == Shape{1} && p.offset_dims.empty() && p.collapsed_dims == Axes{0} &&
         p.start_index_map == Axes{0} && p.operand_batch_dims.empty();
}

bool fusible(const Primitive& p, const Params& params, Avals in, const Aval& out) {
  if (out.numel() == 0) return false;
  for (const Aval* a : in) {
    if (a->numel() == 0) return false;
  }
  if (p.kind == PrimitiveKind::kElementwise) return p.cpu != nullptr;
  if (&p == &broadcast_in_dim_p || &p == &iota_p || only_moves(p)) return true;
  if (&p == &reshape_p) return same_without_ones(in[0]->shape, out.shape);
  if (&p == &gather_p) return reads_elements(params.get<GatherParams>(), *in[0], *in[1]);
  switch (p.reduces_by()) {
    case Monoid::kSum:
    case Monoid::kMax:
    case Monoid::kMin:
      return true;
    case Monoid::kProduct:  // of floats: the kernel knows zeros among factors that overflow
      return !is_floating(out.dtype);
    case Monoid::kAnd:
    case Monoid::kOr:
      return is_bool(out.dtype);
    case Monoid::kNone:
      return false;
  }
  return false;
}

std::optional<Space> space_of(const Graph& g) {
  Classes classes(g);
  for (const Equation& e : g.equations) classes.join_all(e);

  // Classes that stand for an axis of a value, numbered as they come.
  std::vector<int> number(classes.count(), -1);
  std::vector<std::vector<size_t>> axes(g.avals.size());
  Space s;
  s.shape.resize(g.avals.size());
  std::vector<bool> takes_part = read_as_computed(g);
  std::optional<std::vector<bool>> gathered = gathered_arrays(g);
  if (!gathered) return std::nullopt;
  s.whole = std::move(*gathered);
  for (size_t v = 0; v < g.avals.size(); ++v) takes_part[v] = takes_part[v] && !s.whole[v];
  const std::vector<Pieces> pieces = pieces_of(g, takes_part);
  for (const Equation& e : g.equations) {
    const auto y = static_cast<size_t>(e.outputs[0]);
    if (e.primitive == &concatenate_p && pieces[y].empty()) takes_part[y] = false;
  }
  for (size_t v = 0; v < g.avals.size(); ++v) {
    if (!takes_part[v]) continue;
    const Shape& shape = g.avals[v].shape;
    for (int i = 0; i < shape.rank(); ++i) {
      if (shape[i] == 0) return std::nullopt;
      if (shape[i] == 1) continue;
      int& c = number[classes.find(static_cast<ValueId>(v), i)];
      if (c < 0) {
        c = static_cast<int>(s.sizes.size());
        s.sizes.push_back(shape[i]);
      }
      if (c >= kMostAxes || (s.shape[v] >> c & 1) != 0) return std::nullopt;
      s.shape[v] |= AxisSet{1} << c;
      axes[v].push_back(static_cast<size_t>(c));
    }
  }
  const auto number_of = [&](ValueId v, int axis) { return number[classes.find(v, axis)]; };
  const auto class_of = [&](ValueId v, int axis) { return AxisSet{1} << number_of(v, axis); };

  s.depends = s.shape;
  Producers producer(g.avals.size(), nullptr);
  for (const Equation& e : g.equations) {
    const ValueId y = e.outputs[0];
    producer[static_cast<size_t>(y)] = &e;
    AxisSet depends = 0, reduced = 0;
    if (only_moves(*e.primitive)) {
      const Pieces& of_result = pieces[static_cast<size_t>(y)];
      if (of_result.empty()) {
        if (e.primitive != &concatenate_p || !add_concatenation(s, g, e, producer, number_of))
          return std::nullopt;
      } else if (takes_part[static_cast<size_t>(y)]) {
        add_read(s, g, y, of_result, number_of);
      }
      s.reduced.push_back(0);
      continue;
    }
    for (const ValueId x : e.inputs) depends |= s.depends[static_cast<size_t>(x)];
    if (e.primitive == &iota_p) {
      const auto& p = e.params.get<IotaParams>();
      if (p.shape[static_cast<int>(p.axis)] != 1) depends = class_of(y, static_cast<int>(p.axis));
    } else if (e.primitive->kind == PrimitiveKind::kReduction) {
      for (const int64_t axis : e.params.get<ReduceParams>().axes) {
        const auto i = static_cast<int>(axis);
        if (classes.size(e.inputs[0], i) != 1) reduced |= class_of(e.inputs[0], i);
      }
      if ((reduced & ~depends) != 0) return std::nullopt;
    }
    s.depends[static_cast<size_t>(y)] = depends & ~reduced;
    s.reduced.push_back(reduced);
  }

  const std::vector<size_t> order = ordered(axes, s.sizes.size());
  if (order.size() != s.sizes.size()) return std::nullopt;
  const auto in_order = [&](std::vector<int64_t>& of_axes) {
    std::vector<int64_t> ordered;
    for (const size_t c : order) ordered.push_back(of_axes[c]);
    of_axes = std::move(ordered);
  };
  in_order(s.sizes);
  for (auto& [v, part] : s.parts) in_order(part.strides);
  for (auto& [v, of_value] : s.pieces) {
    for (Piece& p : of_value) {
      for (auto* of_axes : {&p.strides, &p.begin, &p.end}) in_order(*of_axes);
    }
  }
  for (auto* sets : {&s.shape, &s.depends, &s.reduced}) {
    for (AxisSet& a : *sets) a = permuted(a, order);
  }
  merge_neighbours(s);
  return s;
}

}  // namespace spruce::fusion
