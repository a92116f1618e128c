// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "tests/transforms/random_programs/generator.h"

namespace spruce::random_programs {
namespace {

std::optional<Shape> broadcast(const Shape& a, const Shape& b) {
  Shape out;
  const int rank = std::max(a.rank(), b.rank());
  for (int i = rank; i > 0; --i) {
    const int64_t m = i <= a.rank() ? a[a.rank() - i] : 1, n = i <= b.rank() ? b[b.rank() - i] : 1;
    if (m != n && m != 1 && n != 1) return std::nullopt;
    out.push_back(m == 1 ? n : m);
  }
  return out;
}

}  // namespace

Program Generator::whole(int size) {
  // f64 has the most properties.
  const int64_t kind = draw(0, 15);
  p_.dtype = kind < 9 ? float64 : kind < 14 ? float32 : kind < 15 ? bfloat16 : float16;
  const int inputs = static_cast<int>(draw(1, 3));
  for (int i = 0; i < inputs; ++i) input(shape(), 1.5);
  grow(size);
  p_.outputs = {count() - 1, all_unused()};
  return std::move(p_);
}

std::shared_ptr<const Program> Generator::body(const std::vector<Shape>& in, const Program& outer,
                                               const std::vector<double>& outer_bounds,
                                               const std::vector<std::optional<Shape>>& results) {
  for (const Shape& s : in) input(s, kMostBound);
  if (draw(0, 1) == 1) {
    const int i = static_cast<int>(draw(0, static_cast<int64_t>(outer.nodes.size()) - 1));
    Node n;
    n.op = Op::kCapture;
    n.ints = {i};
    n.shape = outer.nodes[static_cast<size_t>(i)].shape;
    add(n, outer_bounds[static_cast<size_t>(i)]);
  }
  grow(static_cast<int>(draw(1, 4)));
  for (const auto& want : results) {
    int v = count() - 1 - static_cast<int>(draw(0, std::min(1, count() - 1)));
    if (want) v = shaped(v, *want);
    p_.outputs.push_back(v);
  }
  smooth_ = p_.smooth;
  shape_ = at(p_.outputs[0]).shape;
  return std::make_shared<const Program>(std::move(p_));
}

int Generator::any() {
  // Late values more often: programs get deep.
  const int n = count();
  return draw(0, 2) == 0 ? static_cast<int>(draw(0, n - 1))
                         : static_cast<int>(draw(std::max(0, n - 3), n - 1));
}

Shape Generator::shape() {
  Shape s;
  for (int64_t i = draw(0, 8) == 0 ? 0 : draw(1, 3); i > 0; --i)
    s.push_back(draw(0, 39) == 0 ? 0 : draw(1, 4));
  if (s.rank() == 1 && draw(0, 5) == 0) s[0] = draw(5, 35);  // more than a vector register
  return s;
}

int Generator::add(Node n, double b) {
  if (n.shape.numel() > kMostElements) return -1;
  p_.nodes.push_back(std::move(n));
  bounds_.push_back(b);
  if (b > kMostBound) return unary(count() - 1, 2);
  return count() - 1;
}

int Generator::input(const Shape& s, double b) {
  Node n;
  n.shape = s;
  return add(n, b);
}

Node Generator::node(Op op, std::vector<int> in, const Shape& s) {
  Node n;
  n.op = op;
  n.in = std::move(in);
  n.shape = s;
  return n;
}

int Generator::unary(int x, int which) {
  Node n = node(Op::kUnary, {x}, at(x).shape);
  n.which = which;
  const Unary& u = unaries()[static_cast<size_t>(which)];
  p_.smooth = p_.smooth && u.smooth;
  return add(n, u.bound(bound(x)));
}

int Generator::shaped(int v, const Shape& s) {
  if (at(v).shape == s) return unary(v, 2);
  Axes all;
  for (int i = 0; i < at(v).shape.rank(); ++i) all.push_back(i);
  Node total = node(Op::kReduce, {v}, {});
  total.which = 1;  // mean
  total.ints.assign(all.begin(), all.end());
  if (at(v).shape.numel() == 0) total.which = 0;
  const int t = add(total, bound(v));
  return add(node(Op::kBroadcast, {t}, s), bound(t));
}

int Generator::all_unused() {
  std::vector<uint8_t> used(p_.nodes.size(), 0);
  for (const Node& n : p_.nodes) {
    for (const int k : n.in) used[static_cast<size_t>(k)] = 1;
  }
  int total = -1;
  for (int i = 0; i < static_cast<int>(used.size()); ++i) {
    if (used[static_cast<size_t>(i)] != 0) continue;
    const int one = shaped(i, {});
    if (total < 0) {
      total = one;
      continue;
    }
    Node sum = node(Op::kBinary, {total, one}, {});
    total = add(sum, bound(total) + bound(one));
  }
  return total;
}

void Generator::grow(int size) {
  const int until = count() + size;
  for (int tries = 0; count() < until && tries < 20 * size; ++tries) step();
}

void Generator::step() {
  const int x = any();
  const int64_t kind = draw(0, 30);
  if (kind < 4) {
    unary(x, static_cast<int>(draw(0, static_cast<int64_t>(unaries().size()) - 1)));
  } else if (kind < 8) {
    binary(x);
  } else if (kind < 10) {
    reduce(x);
  } else if (kind < 13) {
    move(x);
  } else if (kind < 15) {
    dot(x);
  } else if (kind < 17) {
    index(x);
  } else if (kind < 18) {
    rows(x);
  } else if (kind < 19) {
    look_up(x);
  } else if (kind < 20) {
    convolve(x);
  } else if (kind < 21) {
    pool(x);
  } else if (kind < 23) {
    Node n = node(Op::kScale, {x}, at(x).shape);
    const double factors[] = {2, -1, 0.3, 1, -0.5};
    n.number = factors[draw(0, 4)];
    add(n, bound(x) * 2 + 0.5);
  } else if (kind < 25) {
    Node n = node(Op::kConstant, {}, at(x).shape);
    n.ints = {draw(1, 1000)};
    add(n, 1);
  } else if (depth_ < kDeepest) {
    if (draw(0, 1) == 0)
      transform(x);
    else
      loop(x);
  }
}

void Generator::binary(int x) {
  int y = any();
  if (!broadcast(at(x).shape, at(y).shape)) y = x;
  const Shape s = *broadcast(at(x).shape, at(y).shape);
  if (draw(0, 5) == 0) {
    Node n = node(Op::kSelect, {x, y, y, x}, s);
    p_.smooth = false;
    add(n, std::max(bound(x), bound(y)));
    return;
  }
  Node n = node(Op::kBinary, {x, y}, s);
  n.which = static_cast<int>(draw(0, static_cast<int64_t>(binaries().size()) - 1));
  const Binary& b = binaries()[static_cast<size_t>(n.which)];
  p_.smooth = p_.smooth && b.smooth;
  add(n, b.bound(bound(x), bound(y)));
}

void Generator::reduce(int x) {
  const Shape s = at(x).shape;
  Node n = node(Op::kReduce, {x}, {});
  double each = 1;
  for (int i = 0; i < s.rank(); ++i) {
    if (draw(0, 1) == 1) {
      n.ints.push_back(i);
      each *= static_cast<double>(s[i]);
    } else {
      n.shape.push_back(s[i]);
    }
  }
  n.which = each == 0 ? 0 : static_cast<int>(draw(0, static_cast<int64_t>(reduces().size()) - 1));
  const Reduce& r = reduces()[static_cast<size_t>(n.which)];
  p_.smooth = p_.smooth && r.smooth;
  add(n, r.bound(bound(x), each));
}

void Generator::rows(int x) {
  const Shape s = at(x).shape;
  if (s.rank() == 0 || s.numel() == 0) return;
  const int64_t kind = draw(0, 3);
  if (kind < 2) {
    Node n = node(Op::kSoftmax, {x}, s);
    n.which = static_cast<int>(kind);
    add(n, kind == 1 ? 2 * bound(x) + 3 : 1);
    return;
  }
  Node n = node(Op::kSort, {x}, s);
  n.ints = {draw(0, s.rank() - 1)};
  n.which = static_cast<int>(draw(0, 2));
  if (n.which == 2) n.in.push_back(shaped(any(), s));
  p_.smooth = false;
  if (n.in.back() >= 0) add(n, bound(x));
}

Program generate(uint64_t seed, int size) { return Generator(seed, 0).whole(size); }

}  // namespace spruce::random_programs
