// SPDX-License-Identifier: Apache-2.0
// The fused primitive: random bodies give what their equations give one by one.
#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <random>

#include "spruce/core/cpu/fusion/fused_kernel.h"
#include "spruce/core/fusion/schedule.h"
#include "spruce/core/ops/ops.h"
#include "spruce/core/parallel.h"
#include "spruce/core/random/random.h"
#include "spruce/core/rules/group.h"
#include "spruce/core/rules/shape.h"
#include "spruce/core/workspace.h"
#include "spruce/transforms/compile/jit.h"

namespace spruce {
namespace fused_test {

// A random function of random arguments made of what a body may hold.
class Program {
 public:
  // With `moves`, arguments are also rolled, turned round and padded before they are used.
  Program(uint64_t seed, Dtype dtype, bool moves = false)
      : seed_(seed), dtype_(dtype), moves_(moves), draw_(seed) {
    const int64_t sizes[] = {1, 2, 3, 5, 8, 17, 70, 130};
    for (int64_t rank = below(5); rank > 0; --rank)
      shape_.push_back(sizes[below(rank > 2 ? 5 : 8)]);
    if (below(12) == 0 && !shape_.empty()) shape_[static_cast<int>(below(shape_.rank()))] = 0;
    for (int64_t k = 1 + below(4); k > 0; --k) {
      const Shape shape = broadcast_part();
      SliceParams part{Shape::filled(shape.rank(), 0), shape, Shape::filled(shape.rank(), 1)};
      Shape around = shape;
      for (int i = 0; below(3) == 0 && i < shape.rank(); ++i) {
        if (below(2) == 0 || shape[i] == 0) continue;
        part.start[i] = below(4);
        part.stride[i] = 1 + below(5) / 4;
        part.limit[i] = part.start[i] + (shape[i] - 1) * part.stride[i] + 1;
        around[i] = part.limit[i] + below(3);
      }
      args_.push_back(numbers(around));
      parts_.push_back(part);
    }
  }

  const std::vector<Array>& args() const { return args_; }

  std::vector<Array> operator()(const std::vector<Array>& args) {
    draw_.seed(static_cast<uint32_t>(seed_ + 1));
    values_.clear();
    for (size_t i = 0; i < args.size(); ++i) {
      const SliceParams& p = parts_[i];
      values_.push_back(p.limit == args[i].shape()
                            ? args[i]
                            : rules::slice_all(args[i], p.start, p.limit, p.stride));
      if (below(8) == 0) values_.push_back(args[i]);
      for (int64_t k = moves_ ? below(3) : 0; k > 0; --k)
        values_.push_back(moved(values_.back(), values_.front()));
    }
    for (int64_t k = 1 + below(12); k > 0; --k) values_.push_back(operation());
    std::vector<Array> out = {values_.back()};
    for (int64_t k = below(3); k > 0; --k) out.push_back(pick());
    if (below(3) == 0) {
      out.push_back(joined());
      if (below(8) == 0) out.push_back(out.back());
      if (below(8) == 0) out.push_back(-out.back());
    }
    return out;
  }

 private:
  int64_t below(int64_t n) { return static_cast<int64_t>(draw_() % static_cast<uint64_t>(n)); }
  const Array& pick() { return values_[static_cast<size_t>(below(std::ssize(values_)))]; }

  // A shape that broadcasts to the program's.
  Shape broadcast_part() {
    Shape s;
    const bool whole = below(2) == 0;
    for (const int64_t d : shape_) {
      if (!whole && s.empty() && below(3) == 0) continue;
      s.push_back(!whole && below(3) == 0 ? 1 : d);
    }
    return s;
  }

  Array numbers(const Shape& s) {
    std::vector<double> values(static_cast<size_t>(s.numel()));
    for (double& v : values) v = static_cast<double>(below(4001)) / 1000 - 2;
    return astype(array(values).reshape(s), dtype_);
  }

  Array like(const Array& x) {
    for (int tries = 0; tries < 8; ++tries) {
      const Array& y = pick();
      if (broadcasts_to(y.shape(), x.shape()) || broadcasts_to(x.shape(), y.shape())) return y;
    }
    return x;
  }

  Array operation() {
    const Array x = pick();
    const bool real = is_floating(dtype_);
    switch (below(15)) {
      case 0:
        return x + like(x);
      case 1:
        return x * like(x);
      case 2:
        return x - like(x);
      case 3:
        return maximum(x, like(x));
      case 4:
        return real ? tanh(x) : abs(x);
      case 5:
        return -x;
      case 6: {
        const Array y = like(x);
        return where(x < y, x, y + x);
      }
      case 7: {
        Axes axes;
        for (int i = 0; i < x.rank(); ++i) {
          if (below(2) == 0) axes.push_back(i);
        }
        const bool keep = below(2) == 0;
        // Sums stay of the size of their terms.
        if (x.size() > 0 && below(3) == 0) return max(x, axes, {.keepdims = keep});
        if (!real) return sum(x, axes, {.keepdims = keep});
        return x.size() == 0 ? sum(x, axes, {.keepdims = keep}) : mean(x, axes, {.keepdims = keep});
      }
      case 8: {
        if (x.rank() == 0) return x + 1;
        const auto axis = static_cast<int>(below(x.rank()));
        return x + astype(places(x, axis), dtype_);
      }
      case 9:
        return broadcasts_to(x.shape(), shape_) ? broadcast_to(x, shape_) : x * x;
      case 10: {
        Shape s = x.shape();
        if (s.rank() > 5) return x + 2;
        s.insert(static_cast<int>(below(s.rank() + 1)), 1);
        return x.reshape(s);
      }
      case 11:
        return real ? exp(-abs(x)) : x * 3;
      case 12:
        return x * 0.5;
      case 13:
        return real ? astype(astype(x, float32), dtype_) : astype(astype(x, int8), dtype_);
      default:
        return real ? 1 / (2 + abs(x)) : minimum(x, like(x));
    }
  }

  // x with its elements at other places, or with some of `other` or a number among them; its shape
  // stays.
  Array moved(const Array& x, const Array& other) {
    if (x.rank() == 0 || x.size() == 0) return x;
    const auto axis = static_cast<int>(below(x.rank()));
    const int64_t n = x.shape()[axis], k = below(n + 1);
    const auto part = [&](const Array& of, int64_t begin, int64_t end, int64_t by = 1) {
      SliceParams p{Shape::filled(of.rank(), 0), of.shape(), Shape::filled(of.rank(), 1)};
      p.start[axis] = begin, p.limit[axis] = end, p.stride[axis] = by;
      return rules::slice_all(of, p.start, p.limit, p.stride);
    };
    const Array& y = other.shape() == x.shape() ? other : x;
    switch (below(5)) {
      case 0:
        return roll(x, k, axis);
      case 1:
        return flip(x, axis);
      case 2: {
        std::vector<std::pair<int64_t, int64_t>> widths(static_cast<size_t>(x.rank()));
        widths[static_cast<size_t>(axis)] = {k, 0};
        return pad(part(x, k, n), widths, {.value = number_});
      }
      case 3:
        return concatenate({part(x, 0, k), part(y, k, n)}, axis);
      default: {
        const int64_t few = (n + 2) / 3;
        return concatenate({part(x, 0, n, 3), part(y, few, n)}, axis);
      }
    }
  }

  // A few results side by side, which are read elsewhere as well or not.
  Array joined() {
    const Array x = pick();
    if (x.rank() == 0) return x - 1;
    std::vector<Array> parts;
    for (int64_t k = 1 + below(4); k > 0; --k) {
      const Array y = below(9) == 0 ? x : (x + like(x)) * astype(array(double(k)), dtype_);
      if (y.shape() == x.shape()) parts.push_back(y);
    }
    parts.push_back(-x);
    return concatenate(parts, below(x.rank()));
  }

  // Numbers along one axis.
  static Array places(const Array& x, int axis) {
    Shape s = Shape::filled(x.rank(), 1);
    s[axis] = x.shape()[axis];
    return astype(arange(static_cast<float>(s[axis])), float32).reshape(s) * 0.01f;
  }

  uint64_t seed_;
  Dtype dtype_;
  bool moves_;
  std::mt19937 draw_;
  Shape shape_;
  Array number_ = astype(array(0.5), dtype_);
  std::vector<Array> args_, values_;
  std::vector<SliceParams> parts_;  // of the arguments, which the program works on
};

void expect_near(const Array& got, const Array& want, double tolerance, const Graph& body) {
  ASSERT_EQ(to_string(got.aval()), to_string(want.aval())) << body;
  const Array a = astype(got, float64), b = astype(want, float64);
  if (a.size() == 0) return;
  const double error =
      max(where(logical_or(a == b, logical_and(a != a, b != b)), 0.0, abs(a - b) / (1.0 + abs(b))))
          .item<double>();
  ASSERT_LE(error, tolerance) << body << "\ngot " << got << "\nwant " << want;
}

void run_programs(Dtype dtype, uint64_t first, uint64_t count, double tolerance,
                  bool moves = false) {
  for (uint64_t seed = first; seed < first + count; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Program program(seed, dtype, moves);
    const Graph body =
        make_graph([&](const std::vector<Array>& x) { return program(x); })(program.args());
    const std::vector<Array> want = evaluate(body, program.args());
    const Params params = Params::make(GroupParams{.body = std::make_shared<const Graph>(body)});
    const std::vector<Array> got = bind_all(fused_p, program.args(), params);
    for (size_t k = 0; k < want.size(); ++k) expect_near(got[k], want[k], tolerance, body);
    if (testing::Test::HasFatalFailure()) return;
  }
}

// One run of the body's kernel. Where `in_place`, each output stands in the memory of an input that
// it may have.
std::vector<Array> run_kernel(const Graph& body, const std::vector<Array>& args, bool in_place) {
  const auto kernel = cpu::fused_kernel({.body = std::make_shared<const Graph>(body)});
  std::vector<Array> in, out;
  std::vector<View> in_views, out_views;
  for (const Array& a : args) {
    in.push_back(internal::make_array(a.aval()));
    if (a.nbytes() > 0)
      std::memcpy(internal::mutable_data(in.back()), internal::mutable_data(a),
                  static_cast<size_t>(a.nbytes()));
    in_views.push_back({internal::mutable_data(in.back()), &in.back().aval()});
  }
  std::vector<bool> taken(in.size(), false);
  for (size_t k = 0; k < body.outputs.size(); ++k) {
    out.push_back(internal::make_array(body.avals[static_cast<size_t>(body.outputs[k])]));
    void* data = internal::mutable_data(out.back());
    for (size_t i = 0; in_place && i < in.size(); ++i) {
      if (taken[i] || !kernel->in_place(i, k) || in[i].nbytes() != out.back().nbytes()) continue;
      taken[i] = true;
      data = in_views[i].data;
      break;
    }
    out_views.push_back({data, &out.back().aval()});
  }
  const cpu::Workspace workspace(kernel->workspace_bytes());
  kernel->run({in_views, out_views, Params(), workspace.data()});
  for (size_t k = 0; k < out.size(); ++k) {
    if (out_views[k].data != internal::mutable_data(out[k]) && out[k].nbytes() > 0)
      std::memcpy(internal::mutable_data(out[k]), out_views[k].data,
                  static_cast<size_t>(out[k].nbytes()));
  }
  return out;
}

bool same_bytes(const Array& a, const Array& b) {
  return a.nbytes() == b.nbytes() &&
         (a.nbytes() == 0 || std::memcmp(internal::mutable_data(a), internal::mutable_data(b),
                                         static_cast<size_t>(a.nbytes())) == 0);
}

TEST(Fused, InPlaceGivesTheSame) {
  const Dtype dtypes[] = {float32, int32, bfloat16, float16};
  for (uint64_t seed = 1; seed <= 600; ++seed) {
    Program program(seed, dtypes[seed % 4], seed > 400);
    const Graph body =
        make_graph([&](const std::vector<Array>& x) { return program(x); })(program.args());
    const std::vector<Array> want = run_kernel(body, program.args(), false),
                             got = run_kernel(body, program.args(), true);
    for (size_t k = 0; k < want.size(); ++k)
      ASSERT_TRUE(same_bytes(got[k], want[k])) << "seed " << seed << ", output " << k << body;
  }
}

// Rows below the slice need it after its own row has been computed.
TEST(Fused, AnInputOfWhichASliceIsReadKeepsItsMemory) {
  const auto f = [](const Array& x) { return x * x[slice(1, 2)]; };
  const std::vector<Array> x = {random::normal(Key(1), {4, 128})};
  const Graph body = make_graph(f)(x[0]);
  ASSERT_EQ(body.equations[0].primitive, &slice_p) << body;
  EXPECT_TRUE(same_bytes(run_kernel(body, x, true)[0], f(x[0])));
}

// Each operation rounds as it does by itself, whatever it is fused with.
TEST(Fused, HalvesHaveTheBitsOfOneOperationAfterTheOther) {
  const auto f = [](const Array& x, const Array& bias, const Array& column, const Array& scale) {
    const Array y = tanh(x * scale + bias), z = where(y > column, y / 3, exp(-y) * column);
    return std::tuple{z - x * 0.3, astype(z * y, float32) * 0.7f, astype(z, float16) + bias};
  };
  for (const Dtype dtype : {bfloat16, float16}) {
    for (const Shape& shape : {Shape{37}, Shape{50, 70}, Shape{200, 9}, Shape{6, 5, 131}}) {
      const int64_t columns = shape[shape.rank() - 1], rows = shape.numel() / columns;
      const Array x = astype(random::normal(Key(1), shape), dtype),
                  bias = astype(random::normal(Key(2), {columns}), dtype),
                  scale = astype(random::normal(Key(3), {}), dtype);
      Shape down = shape;
      down[shape.rank() - 1] = 1;
      const Array column = astype(random::normal(Key(4), {rows}).reshape(down), dtype);
      const Graph body = make_graph(f)(x, bias, column, scale);
      const std::vector<Array> args = {x, bias, column, scale}, want = evaluate(body, args),
                               got = run_kernel(body, args, false);
      for (size_t k = 0; k < want.size(); ++k) EXPECT_TRUE(same_bytes(got[k], want[k])) << body;
    }
  }
}

// Large enough for several threads and pieces, in each way to run.
TEST(Fused, ResultsDoNotDependOnTheNumberOfThreads) {
  const auto normalised = [](const Array& x) {
    const Array centred = x - mean(x, -1, {.keepdims = true});
    return centred / sqrt(mean(centred * centred, -1, {.keepdims = true}) + 1e-5);
  };
  const std::vector<std::function<std::vector<Array>(const Array&)>> functions = {
      [](const Array& x) {
        return std::vector<Array>{exp(x) * x, sum(x * x)};
      },
      [&](const Array& x) {
        const Array y = normalised(x);
        return std::vector<Array>{y, sum(y * x, 0), max(y - x)};
      },
      [](const Array& x) {
        return std::vector<Array>{sum(tanh(x), {0, 1}) * 2};
      }};
  for (const Shape& shape :
       {Shape{700000}, Shape{3000, 300}, Shape{60000, 7}, Shape{40, 60, 300}}) {
    const Array x = sin(arange(static_cast<float>(shape.numel()))).reshape(shape);
    for (const auto& f : functions) {
      if (shape.rank() < 2 && &f == &functions[2]) continue;
      const Graph body = make_graph(f)(x);
      set_threads(1);
      const std::vector<Array> want = run_kernel(body, {x}, false);
      set_threads(3);
      const std::vector<Array> got = run_kernel(body, {x}, false);
      set_threads(1);
      for (size_t k = 0; k < want.size(); ++k) EXPECT_TRUE(same_bytes(got[k], want[k])) << body;
    }
  }
}

// By rows, by blocks of short rows, and by tiles of the only row, with seams anywhere.
TEST(Fused, WhatIsRolledPaddedAndTurnedRoundHasTheBitsOfOneOperationAfterTheOther) {
  const auto lower = [](const Array& x, int64_t low, int64_t high, const Array& value) {
    std::vector<std::pair<int64_t, int64_t>> widths(static_cast<size_t>(x.rank()));
    widths[0] = {low, high};
    return pad(x, widths, {.value = value});
  };
  const auto f = [&](const Array& x, const Array& seven) {
    const int last = x.rank() - 1;
    const Array inner = roll(x, 1, last) + roll(x, -3, last), outer = roll(x, 2, 0) - x;
    const std::vector<Array> turned = {flip(x, last), flip(x, 0), roll(roll(x, 1, 0), -1, last)};
    const Array bordered = lower(x, 1, 2, seven)[{slice(2, x.shape()[0] + 2)}];
    return std::vector<Array>{inner * outer, turned[0] * 2 + turned[1] - turned[2],
                              x - lower(x[{slice(1, none)}], 1, 0, seven) * bordered};
  };
  for (const Dtype dtype : {float32, float64, bfloat16, int32}) {
    for (const Shape& shape :
         {Shape{20000}, Shape{64, 96}, Shape{6, 5}, Shape{300, 7}, Shape{40, 600}, Shape{7, 20, 90},
          Shape{5000, 3}, Shape{900, 8}, Shape{11, 300, 4}}) {
      const Array x = astype(10 * random::normal(Key(1), shape), dtype);
      const Array seven = astype(array(7), dtype);
      const Graph body = make_graph(f)(x, seven);
      ASSERT_TRUE(fusion::schedule_of(body)) << body;
      const std::vector<Array> args = {x, seven}, want = evaluate(body, args);
      for (const int threads : {1, 3}) {
        set_threads(threads);
        const std::vector<Array> got = run_kernel(body, args, false);
        set_threads(1);
        for (size_t k = 0; k < want.size(); ++k)
          ASSERT_TRUE(same_bytes(got[k], want[k])) << "output " << k << body;
      }
    }
  }
}

TEST(Fused, ASliceOfOneIndexMayHaveAnyStride) {
  constexpr int64_t kLargest = std::numeric_limits<int64_t>::max();
  const auto f = [](const Array& x) {
    const Array row = bind1(slice_p, {x}, Params::make(SliceParams{{2, 0}, {6, 4}, {kLargest, 1}}));
    const Array shifted =
        bind1(slice_p, {x}, Params::make(SliceParams{{1, 0}, {2, 4}, {kLargest - 1, 1}}));
    return std::vector<Array>{row * 2.0f + shifted};
  };
  const Array x = random::normal(Key(1), {6, 4});
  const Graph body = make_graph(f)(x);
  ASSERT_TRUE(fusion::schedule_of(body)) << body;
  const std::vector<Array> args = {x};
  EXPECT_TRUE(same_bytes(run_kernel(body, args, false)[0], evaluate(body, args)[0]));
}

// A sum of f32 is as exact as a sum in f64 that is rounded once.
TEST(Fused, LongSumsRoundLittle) {
  const Array x = full({1 << 16, 80}, 0.1f);
  const double square = static_cast<double>(0.1f * 0.1f);
  for (const Array& from : {x, x.reshape({(1 << 16) * 80}), x.reshape({80 << 12, 16})}) {
    const Graph body = make_graph([](const Array& x) {
      return std::pair{sum(x * x), sum(x * x, 0)};
    })(from);
    for (const Array& total : run_kernel(body, {from}, false)) {
      const Array each = astype(total, float64) * (static_cast<double>(total.size()) / (80 << 16));
      EXPECT_LE(max(abs(each / square - 1.0)).item<double>(), 1e-6) << body;
    }
  }
}

TEST(Fused, RandomBodiesInF64) { run_programs(float64, 1, 600, 1e-12); }
TEST(Fused, RandomBodiesInF32) { run_programs(float32, 2000, 300, 1e-5); }
TEST(Fused, RandomBodiesInBf16) { run_programs(bfloat16, 4000, 150, 0.05); }
TEST(Fused, RandomBodiesInF16) { run_programs(float16, 5000, 150, 0.01); }
TEST(Fused, RandomBodiesInI32) { run_programs(int32, 6000, 200, 0); }
TEST(Fused, RandomBodiesOfMovedArraysInF64) { run_programs(float64, 7000, 600, 1e-12, true); }
TEST(Fused, RandomBodiesOfMovedArraysInBf16) { run_programs(bfloat16, 8000, 150, 0.05, true); }
TEST(Fused, RandomBodiesOfMovedArraysInI32) { run_programs(int32, 9000, 200, 0, true); }

// What counts along rows is one number for each of them, not one for all.
TEST(Fused, CountersOfRowsAreNoConstants) {
  const Shape square{64, 64};
  const auto diagonal_of = [&](const Array& x) {
    return x * astype(equal(rules::iota(square, int32, 0), rules::iota(square, int32, 1)), float32);
  };
  EXPECT_TRUE(array_equal(jit(diagonal_of)(ones(square)), eye(64)));
  const auto before = [&](const Array& x) { return rules::iota(square, int32, 0) - x; };
  const Array x = astype(ones(square), int32);
  EXPECT_TRUE(array_equal(jit(before)(x), before(x)));
}

// Neither loops nor straight-line code: an equation with two outputs, a view, a constant.
TEST(Fused, WhatHasNoCodeRunsEquationByEquation) {
  const Graph body = parse_graph(R"(graph(a: f32[4]) {
  n: f32[] = constant {2}
  b: f32[2], c: i32[2] = top_k[k=2] a
  d: f32[2] = mul b n
  e: f32[2,1] = reshape[shape=[2,1]] d
  return e c a
})");
  check(body);
  const Array a = array({3.0f, 1.0f, 4.0f, 2.0f});
  for (const bool unrolled : {false, true}) {
    const Params params = Params::make(GroupParams{unrolled, std::make_shared<const Graph>(body)});
    const std::vector<Array> got = bind_all(fused_p, {a}, params);
    EXPECT_TRUE(array_equal(got[0], array({{8.0f}, {6.0f}}))) << got[0];
    EXPECT_TRUE(array_equal(got[1], array({2, 0}, int32))) << got[1];
    EXPECT_TRUE(array_equal(got[2], a)) << got[2];
  }
}

}  // namespace fused_test
}  // namespace spruce
