// SPDX-License-Identifier: Apache-2.0
// Makes programs: a walk that adds one operation after the other to what there is.
#pragma once

#include <random>

#include "tests/transforms/random_programs/program.h"

namespace spruce::random_programs {

constexpr double kMostBound = 20;  // of values; larger ones go through tanh
constexpr int64_t kMostElements = 200;
constexpr int kDeepest = 2;

class Generator {
 public:
  Generator(uint64_t seed, int depth) : random_(seed), depth_(depth) {}

  Program whole(int size);
  // A body that takes values of these shapes, may capture some of `outer`, and gives a value of
  // each of the shapes in `results` (any where there is none).
  std::shared_ptr<const Program> body(const std::vector<Shape>& in, const Program& outer,
                                      const std::vector<double>& outer_bounds,
                                      const std::vector<std::optional<Shape>>& results);
  bool smooth() const { return smooth_; }
  Shape result() const { return shape_; }

 private:
  int64_t draw(int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random_);
  }
  int count() const { return static_cast<int>(p_.nodes.size()); }
  const Node& at(int i) const { return p_.nodes[static_cast<size_t>(i)]; }
  double bound(int i) const { return bounds_[static_cast<size_t>(i)]; }
  int any();
  Shape shape();

  // Each gives the number of the node that it adds, or -1 where it would be too large.
  int add(Node n, double b);
  int input(const Shape& s, double b);
  int unary(int x, int which);
  // A value of that shape that depends on v.
  int shaped(int v, const Shape& s);
  // A number that depends on every value that nothing else uses.
  int all_unused();
  static Node node(Op op, std::vector<int> in, const Shape& s);

  void grow(int size);
  void step();
  void binary(int x);
  void reduce(int x);
  void move(int x);
  void dot(int x);
  void index(int x);
  void look_up(int x);
  void rows(int x);
  void convolve(int x);
  void pool(int x);
  void transform(int x);
  void loop(int x);

  Generator inner() {
    Generator g(random_(), depth_ + 1);
    g.p_.dtype = p_.dtype;
    return g;
  }
  std::shared_ptr<const Program> body(Generator& g, const std::vector<Shape>& in,
                                      const std::vector<std::optional<Shape>>& results);

  std::mt19937_64 random_;
  int depth_;
  Program p_;
  std::vector<double> bounds_;
  bool smooth_ = true;
  Shape shape_;
};

}  // namespace spruce::random_programs
