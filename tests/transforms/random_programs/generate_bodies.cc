// SPDX-License-Identifier: Apache-2.0
// The bodies of transforms and loops.
#include "tests/transforms/random_programs/generator.h"

namespace spruce::random_programs {
std::shared_ptr<const Program> Generator::body(Generator& g, const std::vector<Shape>& in,
                                               const std::vector<std::optional<Shape>>& results) {
  auto made = g.body(in, p_, bounds_, results);
  p_.smooth = p_.smooth && g.smooth();
  return made;
}

void Generator::transform(int x) {
  const int y = any();
  Generator g = inner();
  Node n = node(Op::kJit, {x, y}, {});
  std::vector<Shape> shapes = {at(x).shape, at(y).shape};
  switch (draw(0, 4)) {
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
    case 3:
      n.op = Op::kCheckpoint;
      n.which = static_cast<int>(draw(0, 1));
      n.bodies = {body(g, shapes, {std::nullopt})};
      n.shape = g.result();
      break;
    default:
      n.bodies = {body(g, shapes, {std::nullopt})};
      n.shape = g.result();
  }
  add(n, kMostBound + 1);
}

void Generator::loop(int x) {
  const Shape s = at(x).shape;
  Generator g = inner();
  Node n = node(Op::kMap, {x}, s);
  switch (draw(0, 6)) {
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
      n.ints = {draw(0, 2) == 0 ? draw(2, 3) : 1, draw(0, 3) == 0 ? 1 : 0};
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
      n.which = draw(0, 3) == 0 ? 1 : 0;
      n.ints = {draw(1, 4)};
      n.bodies = {body(g, {s}, {s})};
      p_.smooth = false;
      break;
    case 4: {
      n.op = Op::kSwitch;
      for (int i = 0; i < 3; ++i) {
        Generator h = inner();
        n.bodies.push_back(body(h, {s}, {s}));
      }
      p_.smooth = false;
      break;
    }
    case 5:
      if (s.rank() == 0) return;
      n.op = Op::kAssociative;
      n.which = static_cast<int>(draw(0, 2));
      n.number = draw(0, 1) == 0 ? 1 : -1;
      p_.smooth = p_.smooth && n.which != 1;
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

}  // namespace spruce::random_programs
