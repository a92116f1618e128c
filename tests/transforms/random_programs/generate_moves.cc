// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <numeric>

#include "tests/transforms/random_programs/generator.h"

namespace spruce::random_programs {
void Generator::move(int x) {
  const Shape s = at(x).shape;
  const int rank = s.rank();
  Axes order;
  for (int i = 0; i < rank; ++i) order.push_back(i);
  std::shuffle(order.begin(), order.end(), random_);
  switch (draw(0, 8)) {
    case 0: {
      Node n = node(Op::kTranspose, {x}, {});
      for (const int64_t i : order) {
        n.ints.push_back(i);
        n.shape.push_back(s[static_cast<int>(i)]);
      }
      add(n, bound(x));
      return;
    }
    case 1: {  // an axis of size 1 in or out, or all in one
      Shape to = s;
      if (draw(0, 2) == 0)
        to = {s.numel()};
      else if (rank > 0 && s[0] == 1)
        to.erase(0);
      else
        to.insert(static_cast<int>(draw(0, rank)), 1);
      add(node(Op::kReshape, {x}, to), bound(x));
      return;
    }
    case 2: {
      Shape to = s;
      for (int64_t& n : to) n = n == 1 ? draw(1, 3) : n;
      to.insert(0, draw(1, 3));
      add(node(Op::kBroadcast, {x}, to), bound(x));
      return;
    }
    case 3: {
      Node n = node(Op::kSlice, {x}, {});
      for (const int64_t size : s) {
        const int64_t start = draw(0, std::max<int64_t>(0, size - 1)), stop = draw(start, size),
                      by = draw(1, 2);
        for (const int64_t v : {start, stop, by}) n.ints.push_back(v);
        n.shape.push_back((stop - start + by - 1) / by);
      }
      add(n, bound(x));
      return;
    }
    case 4: {
      Node n = node(Op::kPad, {x}, {});
      for (const int64_t size : s) {
        const int64_t low = draw(0, 2), high = draw(0, 1);
        n.ints.push_back(low);
        n.ints.push_back(high);
        n.shape.push_back(size + low + high);
      }
      add(n, bound(x));
      return;
    }
    case 5: {
      if (rank == 0) return;
      const int axis = static_cast<int>(order[0]);
      Node n = node(Op::kConcatenate, {x, x}, s);
      for (int i = 0; i < count(); ++i) {
        Shape other = at(i).shape;
        if (other.rank() != rank || draw(0, 2) == 0) continue;
        other[axis] = s[axis];
        if (other == s) n.in[1] = i;
      }
      n.ints = {axis};
      n.shape[axis] += at(n.in[1]).shape[axis];
      add(n, std::max(bound(n.in[0]), bound(n.in[1])));
      return;
    }
    case 6: {
      if (rank == 0) return;
      Node n = node(Op::kFlip, {x}, s);
      n.ints = {order[0]};
      add(n, bound(x));
      return;
    }
    case 7: {
      if (rank == 0) return;
      Node n = node(Op::kRoll, {x}, s);
      n.ints = {order[0], draw(-4, 4)};
      add(n, bound(x));
      return;
    }
    default: {
      if (rank == 0) return;
      Node n = node(Op::kCumulative, {x}, s);
      n.ints = {order[0]};
      n.which = static_cast<int>(draw(0, 3));
      n.number = draw(0, 2) == 0 ? -1 : 1;
      p_.smooth = p_.smooth && n.which != 2;
      add(n, bound(x) * 5);
    }
  }
}

void Generator::dot(int x) {
  int y = any();
  if (at(y).shape.rank() > 1 && draw(0, 1) == 1) {  // which a product reads as it lies
    Node turned = node(Op::kTranspose, {y}, {});
    for (int64_t i = at(y).shape.rank(); i-- > 0;) turned.ints.push_back(i);
    std::shuffle(turned.ints.begin(), turned.ints.end(), random_);
    for (const int64_t i : turned.ints) turned.shape.push_back(at(y).shape[static_cast<int>(i)]);
    y = add(turned, bound(y));
  }
  const Shape a = at(x).shape, b = at(y).shape;
  Node n = node(Op::kDot, {x, y}, {});
  double each = 1;
  for (int i = 0; i < a.rank(); ++i) {
    for (int j = 0; j < b.rank(); ++j) {
      const bool taken = n.dot.lhs_contract.contains(i) || n.dot.lhs_batch.contains(i) ||
                         n.dot.rhs_contract.contains(j) || n.dot.rhs_batch.contains(j);
      if (taken || a[i] != b[j]) continue;
      const int64_t use = draw(0, 3);
      if (use < 2) {
        n.dot.lhs_contract.push_back(i), n.dot.rhs_contract.push_back(j);
        each *= static_cast<double>(a[i]);
      } else if (use == 2) {
        n.dot.lhs_batch.push_back(i), n.dot.rhs_batch.push_back(j);
      }
    }
  }
  for (const int64_t i : n.dot.lhs_batch) n.shape.push_back(a[static_cast<int>(i)]);
  for (int i = 0; i < a.rank(); ++i) {
    if (!n.dot.lhs_contract.contains(i) && !n.dot.lhs_batch.contains(i)) n.shape.push_back(a[i]);
  }
  for (int i = 0; i < b.rank(); ++i) {
    if (!n.dot.rhs_contract.contains(i) && !n.dot.rhs_batch.contains(i)) n.shape.push_back(b[i]);
  }
  if (n.shape.rank() > 5) return;
  add(n, each * bound(x) * bound(y));
}

void Generator::index(int x) {
  const Shape s = at(x).shape;
  if (s.rank() == 0 || s.numel() == 0) return;
  const int axis = static_cast<int>(draw(0, s.rank() - 1));
  const int64_t some = draw(1, 3);
  switch (draw(0, 2)) {
    case 0: {
      Node n = node(Op::kTake, {x}, s);
      n.ints = {axis};
      for (int64_t i = 0; i < some; ++i) n.ints.push_back(draw(-s[axis], s[axis] - 1));
      n.shape[axis] = some;
      add(n, bound(x));
      return;
    }
    case 1: {
      const int y = any();
      if (at(y).shape.numel() == 0) return;
      Node n = node(Op::kTakeLargest, {x, y}, s);
      n.ints = {axis};
      n.shape.erase(axis);
      p_.smooth = false;
      add(n, bound(x));
      return;
    }
    default: {
      Shape part = s;
      part[0] = some;
      if (part.numel() > kMostElements) return;
      Node n = node(Op::kScatter, {x, shaped(any(), part)}, s);
      // Which of several values set at one place wins is nobody's promise.
      n.which = some <= s[0] ? static_cast<int>(draw(0, 1)) : 0;
      std::vector<int64_t> places(static_cast<size_t>(s[0]));
      std::iota(places.begin(), places.end(), 0);
      std::shuffle(places.begin(), places.end(), random_);
      for (int64_t i = 0; i < some; ++i)
        n.ints.push_back(n.which == 0 ? draw(0, s[0] - 1) : places[static_cast<size_t>(i)]);
      add(n, bound(x) + 3 * kMostBound);
    }
  }
}

void Generator::look_up(int x) {
  const Shape s = at(x).shape;
  if (s.rank() == 0 || s.numel() == 0) return;
  const int y = any();
  const Shape of = at(y).shape;
  const int axis = static_cast<int>(draw(0, s.rank() - 1));
  p_.smooth = false;
  const int64_t kind = draw(0, 3);
  if (kind == 3) {  // x.at(places).add(...)
    if (of.rank() != 1) return;
    Shape part = s;
    part[0] = of[0];
    if (part.numel() > kMostElements) return;
    Node n = node(Op::kScatterAt, {x, shaped(any(), part), y}, s);
    n.which = static_cast<int>(draw(0, 2));
    if (n.in[1] >= 0) add(n, bound(x) + 40 * kMostBound);
    return;
  }
  Node n = node(Op::kGather, {x, y}, s);
  n.ints = {axis};
  n.which = static_cast<int>(kind);
  if (kind == 0) {
    if (s.rank() + of.rank() > 6) return;
    n.shape.erase(axis);
    for (int i = 0; i < of.rank(); ++i) n.shape.insert(axis + i, of[i]);
  } else if (kind == 1) {
    n.in[1] = shaped(y, s);
    if (n.in[1] < 0) return;
  } else {
    n.shape[axis] = draw(1, s[axis]);
  }
  add(n, bound(x));
}

}  // namespace spruce::random_programs
