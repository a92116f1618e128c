// SPDX-License-Identifier: Apache-2.0
// What each operation of a program means, in public operations.
#include <random>

#include "spruce/core/ops/ops.h"
#include "spruce/nn/nn.h"
#include "spruce/transforms/transforms.h"
#include "tests/transforms/random_programs/program.h"

namespace spruce::random_programs {
namespace {

Array numbers(uint64_t seed, const Shape& shape) {
  std::mt19937_64 random(seed);
  std::vector<double> values;
  for (int64_t i = 0; i < shape.numel(); ++i)
    values.push_back(static_cast<double>(random() >> 11) * 0x1p-52 - 1);
  return array(values, shape);
}

// Runs the nodes of one program.
class Run {
 public:
  Run(const Program& program, const Arrays& args, const Arrays& outer)
      : args_(args), outer_(outer) {
    for (const Node& n : program.nodes) values_.push_back(value(n));
    for (const int i : program.outputs) outputs_.push_back(values_[static_cast<size_t>(i)]);
  }
  const Arrays& outputs() const { return outputs_; }

 private:
  const Array& in(const Node& n, size_t i) const { return values_[static_cast<size_t>(n.in[i])]; }
  Arrays inputs(const Node& n) const {
    Arrays out;
    for (size_t i = 0; i < n.in.size(); ++i) out.push_back(in(n, i));
    return out;
  }
  // The first output of a body, as a function.
  auto body(const Node& n, size_t i = 0) const {
    return [p = n.bodies[i], env = values_](const Arrays& x) { return run(*p, x, env)[0]; };
  }

  Array value(const Node& n) {
    const auto which = static_cast<size_t>(n.which);
    const Axes ints(n.ints);
    switch (n.op) {
      case Op::kInput:
        return args_[next_++];
      case Op::kCapture:
        return outer_[static_cast<size_t>(n.ints[0])];
      case Op::kConstant:
        return numbers(static_cast<uint64_t>(n.ints[0]), n.shape);
      case Op::kUnary:
        return unaries()[which].apply(in(n, 0));
      case Op::kBinary:
        return binaries()[which].apply(in(n, 0), in(n, 1));
      case Op::kSelect:
        return where(in(n, 0) > in(n, 1) + 0.1, in(n, 2), in(n, 3));
      case Op::kScale:
        return in(n, 0) * n.number + 0.5;
      case Op::kReduce:
        return reduces()[which].apply(in(n, 0), ints);
      case Op::kCumulative:
        return n.which == 0 ? cumsum(in(n, 0), ints[0]) : cumlogsumexp(in(n, 0), ints[0]);
      case Op::kReshape:
        return reshape(in(n, 0), n.shape);
      case Op::kTranspose:
        return transpose(in(n, 0), ints);
      case Op::kBroadcast:
        return broadcast_to(in(n, 0), n.shape);
      case Op::kConcatenate:
        return concatenate(inputs(n), ints[0]);
      case Op::kFlip:
        return flip(in(n, 0), ints[0]);
      case Op::kDot:
        return dot_general(in(n, 0), in(n, 1), n.dot);
      case Op::kSoftmax:
        return n.which == 0 ? nn::softmax(in(n, 0)) : nn::log_softmax(in(n, 0));
      case Op::kSort:
        return sort(in(n, 0));
      case Op::kJit:
        return jit(body(n))(inputs(n));
      case Op::kMap:
      case Op::kScan:
      case Op::kFori:
      case Op::kWhile:
      case Op::kCond:
        return loop(n);
      default:
        return moved(n);
    }
  }

  Array moved(const Node& n) {
    const Array& x = in(n, 0);
    switch (n.op) {
      case Op::kSlice: {
        Array y = x;
        for (int axis = 0; axis < x.rank(); ++axis) {
          const auto at = static_cast<size_t>(3 * axis);
          y = moveaxis(moveaxis(y, axis, 0)[slice(n.ints[at], n.ints[at + 1], n.ints[at + 2])], 0,
                       axis);
        }
        return y;
      }
      case Op::kPad: {
        std::vector<std::pair<int64_t, int64_t>> widths;
        for (size_t i = 0; i < n.ints.size(); i += 2) widths.emplace_back(n.ints[i], n.ints[i + 1]);
        return pad(x, widths);
      }
      case Op::kTake:
        return take(x, array(std::vector<int64_t>(n.ints.begin() + 1, n.ints.end())), n.ints[0]);
      case Op::kTakeLargest:
        return take(x, remainder(argmax(in(n, 1)), x.shape(n.ints[0])), n.ints[0]);
      case Op::kScatter: {
        const auto place = x.at(array(n.ints));
        return n.which == 0 ? place.add(in(n, 1)) : place.set(in(n, 1));
      }
      case Op::kVmap: {
        // Inputs that are not mapped are captured.
        const Arrays all = inputs(n);
        Arrays mapped;
        for (size_t i = 0; i < all.size(); ++i) {
          if (n.ints[i] >= 0) mapped.push_back(moveaxis(all[i], n.ints[i], 0));
        }
        return vmap([&](const Arrays& one) {
          Arrays x_all = all;
          for (size_t i = 0, k = 0; i < all.size(); ++i) {
            if (n.ints[i] >= 0) x_all[i] = one[k++];
          }
          return body(n)(x_all);
        })(mapped);
      }
      case Op::kGrad: {
        const Arrays all = inputs(n);
        return grad([&](const Array& first) {
          Arrays x_all = all;
          x_all[0] = first;
          return sum(body(n)(x_all));
        })(x);
      }
      default: {
        const Arrays all = inputs(n);
        Arrays tangents;
        for (const Array& a : all) tangents.push_back(a * 0.5 + 0.1);
        return jvp(body(n), std::tuple<Arrays>(all), std::tuple<Arrays>(tangents)).second;
      }
    }
  }

  Array loop(const Node& n) {
    const Array& x = in(n, 0);
    switch (n.op) {
      case Op::kMap:
        return map([&](const Array& one) { return body(n)({one}); }, x);
      case Op::kScan: {
        const auto step = [&](const Array& carry, const Array& slice) {
          const Arrays out = run(*n.bodies[0], {carry, slice}, values_);
          return std::pair{out[0], out[1]};
        };
        const auto [carry, ys] = scan(step, x, in(n, 1), {.reverse = n.number < 0});
        return n.which == 0 ? carry : ys;
      }
      case Op::kFori:
        return fori_loop(
            0, n.ints[0], [&](const Array& i, const Array& c) { return body(n)({c + 0.1 * i}); },
            x);
      case Op::kWhile: {
        using State = std::pair<Array, Array>;
        const auto more = [&](const State& s) {
          return logical_and(s.first < n.ints[0], sum(s.second) < 2.0 + 0.01 * s.first);
        };
        const auto step = [&](const State& s) { return State{s.first + 1, body(n)({s.second})}; };
        return while_loop(more, step, State{array(int64_t{0}), x}, {.max_steps = n.ints[0]}).second;
      }
      default:
        return cond(
            sum(x) > n.number, [&](const Array& a) { return body(n, 0)({a}); },
            [&](const Array& a) { return body(n, 1)({a}); }, x);
    }
  }

  const Arrays &args_, &outer_;
  size_t next_ = 0;
  Arrays values_, outputs_;
};

}  // namespace

Arrays arguments(const Program& program, uint64_t seed) {
  Arrays out;
  for (const Node& n : program.nodes) {
    if (n.op == Op::kInput) out.push_back(numbers(seed + 1000 * out.size(), n.shape) * 1.5);
  }
  return out;
}

Arrays run(const Program& program, const Arrays& args, const Arrays& outer) {
  return Run(program, args, outer).outputs();
}

}  // namespace spruce::random_programs
