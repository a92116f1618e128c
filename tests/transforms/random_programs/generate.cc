// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <numeric>
#include <random>

#include "tests/transforms/random_programs/program.h"

namespace spruce::random_programs {
namespace {

constexpr double kMostBound = 20;  // of values; larger ones go through tanh
constexpr int64_t kMostElements = 200;
constexpr int kDeepest = 2;

class Generator {
 public:
  Generator(uint64_t seed, int depth) : random_(seed), depth_(depth) {}

  Program whole(int size) {
    const int inputs = static_cast<int>(draw(1, 3));
    for (int i = 0; i < inputs; ++i) input(shape(), 1.5);
    grow(size);
    p_.outputs = {count() - 1, all_unused()};
    return std::move(p_);
  }

  // A body that takes values of these shapes, may capture some of `outer`, and gives a value of
  // each of the shapes in `results` (any where there is none).
  std::shared_ptr<const Program> body(const std::vector<Shape>& in, const Program& outer,
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
  bool smooth() const { return smooth_; }
  Shape result() const { return shape_; }

 private:
  int64_t draw(int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random_);
  }
  int count() const { return static_cast<int>(p_.nodes.size()); }
  const Node& at(int i) const { return p_.nodes[static_cast<size_t>(i)]; }
  double bound(int i) const { return bounds_[static_cast<size_t>(i)]; }
  int any() {
    // Late values more often: programs get deep.
    const int n = count();
    return draw(0, 2) == 0 ? static_cast<int>(draw(0, n - 1))
                           : static_cast<int>(draw(std::max(0, n - 3), n - 1));
  }
  Shape shape() {
    Shape s;
    for (int64_t i = draw(0, 8) == 0 ? 0 : draw(1, 3); i > 0; --i)
      s.push_back(draw(0, 39) == 0 ? 0 : draw(1, 4));
    return s;
  }

  int add(Node n, double b) {
    if (n.shape.numel() > kMostElements) return -1;
    p_.nodes.push_back(std::move(n));
    bounds_.push_back(b);
    if (b > kMostBound) return unary(count() - 1, 2);
    return count() - 1;
  }
  int input(const Shape& s, double b) {
    Node n;
    n.shape = s;
    return add(n, b);
  }
  Node node(Op op, std::vector<int> in, const Shape& s) {
    Node n;
    n.op = op;
    n.in = std::move(in);
    n.shape = s;
    return n;
  }
  int unary(int x, int which) {
    Node n = node(Op::kUnary, {x}, at(x).shape);
    n.which = which;
    const Unary& u = unaries()[static_cast<size_t>(which)];
    p_.smooth = p_.smooth && u.smooth;
    return add(n, u.bound(bound(x)));
  }
  // A value of that shape that depends on v.
  int shaped(int v, const Shape& s) {
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

  // A number that depends on every value that nothing else uses.
  int all_unused() {
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

  void grow(int size) {
    const int until = count() + size;
    for (int tries = 0; count() < until && tries < 20 * size; ++tries) step();
  }

  void step() {
    const int x = any();
    const int64_t kind = draw(0, 26);
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
    } else if (kind < 20) {
      Node n = node(Op::kScale, {x}, at(x).shape);
      const double factors[] = {2, -1, 0.3, 1, -0.5};
      n.number = factors[draw(0, 4)];
      add(n, bound(x) * 2 + 0.5);
    } else if (kind < 22) {
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

  std::optional<Shape> broadcast(const Shape& a, const Shape& b) {
    Shape out;
    const int rank = std::max(a.rank(), b.rank());
    for (int i = rank; i > 0; --i) {
      const int64_t m = i <= a.rank() ? a[a.rank() - i] : 1,
                    n = i <= b.rank() ? b[b.rank() - i] : 1;
      if (m != n && m != 1 && n != 1) return std::nullopt;
      out.push_back(m == 1 ? n : m);
    }
    return out;
  }
  void binary(int x) {
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
  void reduce(int x) {
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
  void move(int x) {
    const Shape s = at(x).shape;
    const int rank = s.rank();
    Axes order;
    for (int i = 0; i < rank; ++i) order.push_back(i);
    std::shuffle(order.begin(), order.end(), random_);
    switch (draw(0, 7)) {
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
      default: {
        if (rank == 0) return;
        Node n = node(Op::kCumulative, {x}, s);
        n.ints = {order[0]};
        n.which = static_cast<int>(draw(0, 1));
        add(n, bound(x) * 5);
      }
    }
  }
  void dot(int x) {
    const int y = any();
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
  void index(int x) {
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
  void rows(int x) {
    const Shape s = at(x).shape;
    if (s.rank() == 0 || s.numel() == 0) return;
    const int64_t kind = draw(0, 2);
    Node n = node(kind == 2 ? Op::kSort : Op::kSoftmax, {x}, s);
    n.which = static_cast<int>(kind % 2);
    if (kind == 2) p_.smooth = false;
    add(n, kind == 1 ? 2 * bound(x) + 3 : kind == 0 ? 1 : bound(x));
  }

  Generator inner() { return Generator(random_(), depth_ + 1); }
  std::shared_ptr<const Program> body(Generator& g, const std::vector<Shape>& in,
                                      const std::vector<std::optional<Shape>>& results) {
    auto made = g.body(in, p_, bounds_, results);
    p_.smooth = p_.smooth && g.smooth();
    return made;
  }
  void transform(int x) {
    const int y = any();
    Generator g = inner();
    Node n = node(Op::kJit, {x, y}, {});
    std::vector<Shape> shapes = {at(x).shape, at(y).shape};
    switch (draw(0, 3)) {
      case 0: {
        if (shapes[0].rank() == 0) return;
        n.op = Op::kVmap;
        const int axis = static_cast<int>(draw(0, shapes[0].rank() - 1));
        const int64_t size = shapes[0][axis];
        n.ints = {axis, -1};
        shapes[0].erase(axis);
        for (int j = 0; j < shapes[1].rank(); ++j) {
          if (shapes[1][j] != size || draw(0, 1) == 0) continue;
          n.ints[1] = j;
          shapes[1].erase(j);
          break;
        }
        if (size == 0) return;
        n.bodies = {body(g, shapes, {std::nullopt})};
        n.shape = g.result();
        n.shape.insert(0, size);
        break;
      }
      case 1:
        n.op = Op::kGrad;
        n.bodies = {body(g, shapes, {std::nullopt})};
        n.shape = shapes[0];
        break;
      case 2:
        n.op = Op::kJvp;
        n.bodies = {body(g, shapes, {std::nullopt})};
        n.shape = g.result();
        break;
      default:
        n.bodies = {body(g, shapes, {std::nullopt})};
        n.shape = g.result();
    }
    add(n, kMostBound + 1);
  }
  void loop(int x) {
    const Shape s = at(x).shape;
    Generator g = inner();
    Node n = node(Op::kMap, {x}, s);
    switch (draw(0, 4)) {
      case 0: {
        if (s.rank() == 0 || s[0] == 0) return;
        Shape one = s;
        one.erase(0);
        n.bodies = {body(g, {one}, {std::nullopt})};
        n.shape = g.result();
        n.shape.insert(0, s[0]);
        break;
      }
      case 1: {
        const int y = any();
        Shape slice = at(y).shape;
        if (slice.rank() == 0) return;
        const int64_t length = slice[0];
        slice.erase(0);
        n.op = Op::kScan;
        n.in.push_back(y);
        n.which = static_cast<int>(draw(0, 1));
        n.number = draw(0, 1) == 0 ? 1 : -1;
        const Shape stacked = draw(0, 1) == 0 ? s : slice;
        n.bodies = {body(g, {s, slice}, {s, stacked})};
        if (n.which == 1) {
          n.shape = stacked;
          if (n.shape.rank() > 5) return;
          n.shape.insert(0, length);
        }
        break;
      }
      case 2:
        n.op = Op::kFori;
        n.ints = {draw(0, 3)};
        n.bodies = {body(g, {s}, {s})};
        break;
      case 3:
        n.op = Op::kWhile;
        n.ints = {draw(1, 4)};
        n.bodies = {body(g, {s}, {s})};
        p_.smooth = false;
        break;
      default: {
        Generator h = inner();
        n.op = Op::kCond;
        n.number = 0.3;
        n.bodies = {body(g, {s}, {s}), body(h, {s}, {s})};
        p_.smooth = false;
      }
    }
    add(n, kMostBound + 1);
  }

  std::mt19937_64 random_;
  int depth_;
  Program p_;
  std::vector<double> bounds_;
  bool smooth_ = true;
  Shape shape_;
};

}  // namespace

Program generate(uint64_t seed, int size) { return Generator(seed, 0).whole(size); }

}  // namespace spruce::random_programs
