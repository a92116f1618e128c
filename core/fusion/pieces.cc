// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/fusion/pieces.h"

#include <algorithm>

#include "spruce/core/ceil_div.h"
#include "spruce/core/rules/shape.h"

namespace spruce::fusion {
namespace {

constexpr size_t kMostPieces = 24;
constexpr int64_t kFarthest = int64_t{1} << 60;  // of an offset: sums of two do not overflow

using internal::at;

Piece whole(ValueId of, const Shape& shape, const Shape& strides) {
  return {of,
          0,
          {strides.begin(), strides.end()},
          std::vector<int64_t>(static_cast<size_t>(shape.rank()), 0),
          {shape.begin(), shape.end()}};
}

class Mover {
 public:
  explicit Mover(const Graph& g) : g_(g), made_(g.avals.size()) {
    for (const ValueId v : g.inputs) add_array(v);
    for (const Graph::Constant& c : g.constants) add_array(c.id);
  }

  void move(const Equation& e) {
    for (const ValueId x : e.inputs) {
      if (of(x).empty()) return;
    }
    if (e.primitive == &slice_p)
      slice(e);
    else if (e.primitive == &concatenate_p)
      concatenate(e);
    else if (e.primitive == &pad_p)
      pad(e);
    else if (e.primitive == &rev_p)
      reverse(e);
    else if (e.primitive == &broadcast_in_dim_p)
      broadcast(e);
    else if (e.primitive == &reshape_p)
      reshape(e);
    Pieces& made = made_[at(e.outputs[0])];
    if (made.size() > kMostPieces || too_far_) made.clear();
    too_far_ = false;
  }

  std::vector<Pieces> result() { return std::move(made_); }

 private:
  const Shape& shape(ValueId v) const { return g_.avals[at(v)].shape; }
  const Pieces& of(ValueId v) const { return made_[at(v)]; }
  void add_array(ValueId v) {
    made_[at(v)].push_back(whole(v, shape(v), row_major_strides(shape(v))));
  }
  // 0 where it is no distance between elements; the equation then has no pieces.
  int64_t within_reach(bool overflow, int64_t distance) {
    if (!overflow && distance >= -kFarthest && distance <= kFarthest) return distance;
    too_far_ = true;
    return 0;
  }
  int64_t product(int64_t a, int64_t b) {
    int64_t out = 0;
    const bool overflow = __builtin_mul_overflow(a, b, &out);
    return within_reach(overflow, out);
  }
  void move_offset(Piece& p, int64_t indices, int64_t stride) {
    p.offset = within_reach(false, p.offset + product(indices, stride));
  }
  // Keeps what has elements.
  void add(ValueId y, Piece p) {
    for (size_t i = 0; i < p.begin.size(); ++i) {
      if (p.begin[i] >= p.end[i]) return;
    }
    made_[at(y)].push_back(std::move(p));
  }

  void slice(const Equation& e) {
    const auto& s = e.params.get<SliceParams>();
    const Shape& to = shape(e.outputs[0]);
    for (Piece p : of(e.inputs[0])) {
      for (int i = 0; i < to.rank(); ++i) {
        const auto k = static_cast<size_t>(i);
        const auto first = [&](int64_t x) {  // index of the slice at or behind index x
          return x <= s.start[i] ? 0 : std::min(to[i], ceil_div(x - s.start[i], s.stride[i]));
        };
        move_offset(p, s.start[i], p.strides[k]);
        // Along an axis of one index any stride does, and that of the slice may be any number.
        if (to[i] > 1) p.strides[k] = product(p.strides[k], s.stride[i]);
        p.begin[k] = first(p.begin[k]);
        p.end[k] = first(p.end[k]);
      }
      add(e.outputs[0], std::move(p));
    }
  }

  // The piece with its box moved along an axis, of which [0, size) is kept.
  void shift(Piece& p, size_t axis, int64_t by, int64_t size) {
    move_offset(p, by, -p.strides[axis]);
    p.begin[axis] = std::max<int64_t>(0, p.begin[axis] + by);
    p.end[axis] = std::min(size, p.end[axis] + by);
  }

  void concatenate(const Equation& e) {
    const auto axis = static_cast<int>(e.params.get<ConcatenateParams>().axis);
    const ValueId y = e.outputs[0];
    int64_t begin = 0;
    for (const ValueId x : e.inputs) {
      for (Piece p : of(x)) {
        shift(p, static_cast<size_t>(axis), begin, shape(y)[axis]);
        add(y, std::move(p));
      }
      begin += shape(x)[axis];
      if (of(y).size() > kMostPieces) return;
    }
  }

  void pad(const Equation& e) {
    const auto& s = e.params.get<PadParams>();
    const ValueId x = e.inputs[0], y = e.outputs[0];
    const Shape& to = shape(y);
    for (int i = 0; i < to.rank(); ++i) {
      if (s.interior[i] != 0) return;
    }
    for (Piece p : of(x)) {
      for (int i = 0; i < to.rank(); ++i) shift(p, static_cast<size_t>(i), s.low[i], to[i]);
      add(y, std::move(p));
    }
    // Along each axis what lies before and behind, within the inside along the axes before it.
    const Piece& number = of(e.inputs[1]).front();
    Piece rest = whole(number.of, to, Shape::filled(to.rank(), 0));
    rest.offset = number.offset;
    for (int i = 0; i < to.rank(); ++i) {
      const auto k = static_cast<size_t>(i);
      const int64_t begin = std::clamp<int64_t>(s.low[i], 0, to[i]),
                    end = std::clamp<int64_t>(s.low[i] + shape(x)[i], begin, to[i]);
      Piece low = rest, high = rest;
      low.end[k] = begin;
      high.begin[k] = end;
      add(y, std::move(low));
      add(y, std::move(high));
      rest.begin[k] = begin;
      rest.end[k] = end;
    }
  }

  void reverse(const Equation& e) {
    const ValueId y = e.outputs[0];
    for (Piece p : of(e.inputs[0])) {
      for (const int64_t axis : e.params.get<ReverseParams>().axes) {
        const auto k = static_cast<size_t>(axis);
        const int64_t n = shape(y)[static_cast<int>(axis)], begin = p.begin[k];
        move_offset(p, n - 1, p.strides[k]);
        p.strides[k] = -p.strides[k];
        p.begin[k] = n - p.end[k];
        p.end[k] = n - begin;
      }
      add(y, std::move(p));
    }
  }

  void broadcast(const Equation& e) {
    const Axes& dims = e.params.get<BroadcastInDimParams>().broadcast_dimensions;
    const ValueId x = e.inputs[0], y = e.outputs[0];
    for (const Piece& from : of(x)) {
      Piece p = whole(from.of, shape(y), Shape::filled(shape(y).rank(), 0));
      p.offset = from.offset;
      for (int i = 0; i < dims.rank(); ++i) {
        if (shape(x)[i] == 1) continue;
        const auto k = static_cast<size_t>(i), d = static_cast<size_t>(dims[i]);
        p.strides[d] = from.strides[k];
        p.begin[d] = from.begin[k];
        p.end[d] = from.end[k];
      }
      add(y, std::move(p));
    }
  }

  // One that moves axes of size 1 alone.
  void reshape(const Equation& e) {
    const ValueId x = e.inputs[0], y = e.outputs[0];
    for (const Piece& from : of(x)) {
      Piece p = whole(from.of, shape(y), Shape::filled(shape(y).rank(), 0));
      p.offset = from.offset;
      int i = 0;
      for (int j = 0; j < shape(y).rank(); ++j) {
        if (shape(y)[j] == 1) continue;
        while (shape(x)[i] == 1) ++i;
        const auto k = static_cast<size_t>(i++), d = static_cast<size_t>(j);
        p.strides[d] = from.strides[k];
        p.begin[d] = from.begin[k];
        p.end[d] = from.end[k];
      }
      add(y, std::move(p));
    }
  }

  const Graph& g_;
  std::vector<Pieces> made_;
  bool too_far_ = false;  // an offset in the equation at hand does not fit
};

bool is_view(const Equation& e) {
  return e.primitive == &broadcast_in_dim_p || e.primitive == &reshape_p;
}

}  // namespace

bool only_moves(const Primitive& p) {
  return &p == &slice_p || &p == &concatenate_p || &p == &pad_p || &p == &rev_p;
}

std::vector<bool> read_as_computed(const Graph& g) {
  std::vector<bool> read(g.avals.size(), false);
  for (const ValueId v : g.outputs) read[at(v)] = true;
  for (size_t n = g.equations.size(); n-- > 0;) {
    const Equation& e = g.equations[n];
    if (only_moves(*e.primitive)) continue;
    const bool view = is_view(e);
    if (!view) read[at(e.outputs[0])] = true;
    for (const ValueId x : e.inputs) read[at(x)] = read[at(x)] || !view || read[at(e.outputs[0])];
  }
  return read;
}

std::vector<Pieces> pieces_of(const Graph& g, const std::vector<bool>& read) {
  const bool any = std::any_of(g.equations.begin(), g.equations.end(),
                               [](const Equation& e) { return only_moves(*e.primitive); });
  if (!any) return std::vector<Pieces>(g.avals.size());
  Mover mover(g);
  for (const Equation& e : g.equations) {
    if (only_moves(*e.primitive) || (is_view(e) && !read[at(e.outputs[0])])) mover.move(e);
  }
  return mover.result();
}

}  // namespace spruce::fusion
