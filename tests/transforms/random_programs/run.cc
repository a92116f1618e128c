// SPDX-License-Identifier: Apache-2.0
// What each operation of a program means, in public operations.
#include <random>

#include "spruce/core/ops/ops.h"
#include "spruce/nn/nn.h"
#include "spruce/transforms/transforms.h"
#include "tests/transforms/random_programs/program.h"

namespace spruce::random_programs {
namespace {

// Places among n, as the numbers of y say.
Array places(const Array& y, int64_t n) {
  return remainder(astype(floor(y * 3), int32), array(static_cast<int32_t>(n)));
}

// Runs the nodes of one program.
class Run {
 public:
  Run(const Program& program, const Arrays& args, const Arrays& outer)
      : args_(args), outer_(outer), dtype_(program.dtype) {
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
    switch (n.op) {
      case Op::kInput:
        return args_[next_++];
      case Op::kCapture:
        return outer_[static_cast<size_t>(n.ints[0])];
      case Op::kConstant:
        return numbers(static_cast<uint64_t>(n.ints[0]), n.shape, dtype_);
      case Op::kUnary:
        return unaries()[which].apply(in(n, 0));
      case Op::kBinary:
        return binaries()[which].apply(in(n, 0), in(n, 1));
      case Op::kSelect:
        return where(in(n, 0) > in(n, 1) + 0.1, in(n, 2), in(n, 3));
      case Op::kScale:
        return in(n, 0) * n.number + 0.5;
      case Op::kReduce:
        return reduces()[which].apply(in(n, 0), Axes(n.ints));
      case Op::kCumulative:
        return cumulative(n);
      case Op::kReshape:
        return reshape(in(n, 0), n.shape);
      case Op::kTranspose:
        return transpose(in(n, 0), Axes(n.ints));
      case Op::kBroadcast:
        return broadcast_to(in(n, 0), n.shape);
      case Op::kConcatenate:
        return concatenate(inputs(n), n.ints[0]);
      case Op::kFlip:
        return flip(in(n, 0), n.ints[0]);
      case Op::kRoll:
        return roll(in(n, 0), n.ints[1], n.ints[0]);
      case Op::kDot:
        return dot_general(in(n, 0), in(n, 1), n.dot);
      case Op::kSoftmax:
        return n.which == 0 ? nn::softmax(in(n, 0)) : nn::log_softmax(in(n, 0));
      case Op::kSort:
        if (n.which == 2) return take_along_axis(in(n, 0), argsort(in(n, 1), n.ints[0]), n.ints[0]);
        return sort(in(n, 0), n.ints[0], {.descending = n.which == 1});
      case Op::kConv:
        return conv_general(in(n, 0), in(n, 1), n.conv);
      case Op::kWindow:
        return n.which == 0   ? reduce_window_sum(in(n, 0), n.window)
               : n.which == 1 ? reduce_window_max(in(n, 0), n.window)
                              : reduce_window_min(in(n, 0), n.window);
      case Op::kGather:
      case Op::kScatterAt:
        return looked_up(n);
      case Op::kJit:
        return jit(body(n))(inputs(n));
      case Op::kCheckpoint:
        return checkpoint(body(n), {.save_matmuls = n.which == 1})(inputs(n));
      case Op::kSwitch:
      case Op::kAssociative:
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

  Array cumulative(const Node& n) {
    const Array& x = in(n, 0);
    const CumulativeOptions options{.reverse = n.number < 0};
    switch (n.which) {
      case 0:
        return cumsum(x, n.ints[0], options);
      case 1:
        return cumlogsumexp(x, n.ints[0], options);
      case 2:
        return cummax(x, n.ints[0], options);
      default:
        return cumprod(tanh(x), n.ints[0], options);
    }
  }

  Array looked_up(const Node& n) {
    const Array& x = in(n, 0);
    if (n.op == Op::kScatterAt) {
      const auto place = x.at(places(in(n, 2), x.shape(0)));
      return n.which == 0   ? place.add(in(n, 1))
             : n.which == 1 ? place.max(in(n, 1))
                            : place.min(in(n, 1));
    }
    const int64_t axis = n.ints[0];
    const Array at = places(in(n, 1), x.shape(axis));
    if (n.which == 0) return take(x, at, axis);
    if (n.which == 1) return take_along_axis(x, at, axis);
    const Array start = at.size() > 0 ? max(at) : array(0);
    return dynamic_slice_in_dim(x, start, n.shape[static_cast<int>(axis)], axis);
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
        const auto [carry, ys] =
            scan(step, x, in(n, 1),
                 {.reverse = n.number<0, .unroll = n.ints[0], .checkpoint = n.ints[1]> 0});
        return n.which == 0 ? carry : ys;
      }
      case Op::kFori:
        return fori_loop(
            0, n.ints[0],
            [&](const Array& i, const Array& c) { return body(n)({c + astype(0.1 * i, dtype_)}); },
            x);
      case Op::kWhile: {
        using State = std::pair<Array, Array>;
        const auto more = [&](const State& s) {
          return logical_and(s.first < n.ints[0], sum(s.second) < 2.0 + 0.01 * s.first);
        };
        const auto step = [&](const State& s) { return State{s.first + 1, body(n)({s.second})}; };
        return while_loop(more, step, State{array(int64_t{0}), x},
                          {.max_steps = n.ints[0], .checkpoint = n.which == 1})
            .second;
      }
      case Op::kSwitch: {
        const auto branch = [&](size_t i) {
          return [&, i](const Array& a) { return body(n, i)({a}); };
        };
        return switch_(astype(floor(sum(x) * 2), int32),
                       std::tuple{branch(0), branch(1), branch(2)}, x);
      }
      case Op::kAssociative: {
        const auto join = [&](const Array& a, const Array& b) {
          return n.which == 0 ? a + b : n.which == 1 ? maximum(a, b) : a * b;
        };
        return associative_scan(join, n.which == 2 ? tanh(x) : x, {.reverse = n.number < 0});
      }
      default:
        return cond(
            sum(x) > n.number, [&](const Array& a) { return body(n, 0)({a}); },
            [&](const Array& a) { return body(n, 1)({a}); }, x);
    }
  }

  const Arrays &args_, &outer_;
  const Dtype dtype_;
  size_t next_ = 0;
  Arrays values_, outputs_;
};

}  // namespace

Array numbers(uint64_t seed, const Shape& shape, Dtype dtype) {
  std::mt19937_64 random(seed);
  std::vector<double> values;
  for (int64_t i = 0; i < shape.numel(); ++i)
    values.push_back(static_cast<double>(random() >> 11) * 0x1p-52 - 1);
  return astype(array(values, shape), dtype);
}

Arrays arguments(const Program& program, uint64_t seed) {
  Arrays out;
  for (const Node& n : program.nodes) {
    if (n.op == Op::kInput)
      out.push_back(numbers(seed + 1000 * out.size(), n.shape, program.dtype) * 1.5);
  }
  return out;
}

Program converted(const Program& program, Dtype dtype) {
  Program out = program;
  out.dtype = dtype;
  for (Node& n : out.nodes) {
    for (auto& body : n.bodies) body = std::make_shared<const Program>(converted(*body, dtype));
  }
  return out;
}

Arrays run(const Program& program, const Arrays& args, const Arrays& outer) {
  return Run(program, args, outer).outputs();
}

}  // namespace spruce::random_programs
