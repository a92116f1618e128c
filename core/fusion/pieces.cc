// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/fusion/pieces.h"

#include <algorithm>

#include "spruce/core/ceil_div.h"
#include "spruce/core/rules/index_maps.h"

namespace spruce::fusion {
namespace {

constexpr size_t kMostPieces = 24;
constexpr int64_t kFarthest = int64_t{1} << 60;  // of an offset: sums of two do not overflow

using internal::at;

class Mover {
 public:
  explicit Mover(const Graph& g) : g_(g), made_(g.avals.size()) {
    for (const ValueId v : g.inputs) add_array(v);
    for (const Graph::Constant& c : g.constants) add_array(c.id);
  }

  void move(const Equation& e) {
    for (const ValueId x : e.inputs) {
      if (made_[at(x)].empty()) return;
    }
    const std::vector<IndexMap> all = rules::index_maps_of(g_, e);
    if (all.size() > kMostPieces) return;
    const auto maps = rules::disjoint(all);
    if (!maps) return;
    Pieces& made = made_[at(e.outputs[0])];
    for (const IndexMap& m : *maps) {
      for (const Piece& p : made_[at(e.inputs[m.input])]) {
        if (made.size() <= kMostPieces) add(m, p, made);
      }
    }
    if (made.size() > kMostPieces || too_far_) made.clear();
    too_far_ = false;
  }

  std::vector<Pieces> result() { return std::move(made_); }

 private:
  void add_array(ValueId v) {
    const Shape &shape = g_.avals[at(v)].shape, strides = row_major_strides(shape);
    made_[at(v)].push_back({v,
                            0,
                            {strides.begin(), strides.end()},
                            std::vector<int64_t>(shape.size(), 0),
                            {shape.begin(), shape.end()}});
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

  // What the map shows of a piece of its input, if that has elements.
  void add(const IndexMap& m, const Piece& from, Pieces& to) {
    Piece p{from.of, from.offset, {}, {}, {}};
    const auto move_by = [&](int64_t indices, int64_t stride) {
      p.offset = within_reach(false, p.offset + product(indices, stride));
    };
    for (int k = 0; k < m.from.rank(); ++k)
      move_by(m.from[k], from.strides[static_cast<size_t>(k)]);
    for (int i = 0; i < m.axis.rank(); ++i) {
      int64_t stride = 0, first = 0, end = m.count[i];
      if (m.axis[i] >= 0) {
        const auto k = static_cast<size_t>(m.axis[i]);
        const int64_t s = m.stride[i], start = m.from[m.axis[i]];
        stride = product(from.strides[k], s);
        // The first index of the map that is at or behind an element of the input.
        const auto index_of = [&](int64_t element) {
          const int64_t elements = s > 0 ? element - start : start - element;
          return ceil_div(std::max<int64_t>(0, elements), std::abs(s));
        };
        const int64_t low = index_of(s > 0 ? from.begin[k] : from.end[k] - 1),
                      high = index_of(s > 0 ? from.end[k] : from.begin[k] - 1);
        first = std::clamp<int64_t>(low, 0, end);
        end = std::clamp<int64_t>(high, first, end);
      }
      if (first >= end) return;
      move_by(m.begin[i], -stride);
      p.strides.push_back(stride);
      p.begin.push_back(m.begin[i] + first);
      p.end.push_back(m.begin[i] + end);
    }
    to.push_back(std::move(p));
  }

  const Graph& g_;
  std::vector<Pieces> made_;
  bool too_far_ = false;  // an offset in the equation at hand does not fit
};

// What has the elements of its input, along other axes too.
bool shows(const Equation& e) {
  return e.primitive->index_maps != nullptr && e.primitive->kind != PrimitiveKind::kMove;
}

}  // namespace

bool only_moves(const Primitive& p) { return p.kind == PrimitiveKind::kMove; }

std::vector<bool> read_as_computed(const Graph& g) {
  std::vector<bool> read(g.avals.size(), false);
  for (const ValueId v : g.outputs) read[at(v)] = true;
  for (size_t n = g.equations.size(); n-- > 0;) {
    const Equation& e = g.equations[n];
    if (only_moves(*e.primitive)) continue;
    const bool view = shows(e);
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
    if (only_moves(*e.primitive) || (shows(e) && !read[at(e.outputs[0])])) mover.move(e);
  }
  return mover.result();
}

}  // namespace spruce::fusion
