// SPDX-License-Identifier: Apache-2.0
// Tiny graphs as machine code against the same graphs, evaluated.
#include "spruce/core/fusion/tiny.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>

#include "spruce/core/ops/ops.h"
#include "spruce/core/rules/reduce.h"
#include "spruce/core/rules/shape.h"

namespace spruce::fusion {
namespace tiny_test {

class Random {
 public:
  explicit Random(unsigned seed) : engine_(seed) {}
  size_t below(size_t n) { return engine_() % n; }
  double number() { return std::uniform_real_distribution<double>(-2, 2)(engine_); }

  Array array(const Aval& aval) {
    const Array a = internal::make_array(aval);
    char* data = static_cast<char*>(internal::mutable_data(a));
    for (int64_t i = 0; i < aval.shape.numel(); ++i) {
      const auto put = [&](auto x) {
        std::memcpy(data + static_cast<size_t>(i) * sizeof x, &x, sizeof x);
      };
      if (aval.dtype == Dtype::kFloat32)
        put(static_cast<float>(number()));
      else if (aval.dtype == Dtype::kFloat64)
        put(number());
      else if (aval.dtype == Dtype::kBool)
        put(below(2) == 1);
      else
        put(static_cast<int32_t>(below(9)) - 4);
    }
    return a;
  }

 private:
  std::mt19937 engine_;
};

// Random equations over arrays of a few elements.
class Writer {
 public:
  Writer(Random& random, Dtype dtype, bool sums) : random_(random), dtype_(dtype), sums_(sums) {}

  Graph write(size_t inputs, size_t equations) {
    for (size_t i = 0; i < inputs; ++i) {
      const Dtype d = i > 1 && random_.below(5) == 0 ? Dtype::kBool : dtype_;
      graph_.inputs.push_back(graph_.add_value({d, false, shape()}));
    }
    for (size_t i = 0; i < 2; ++i) {
      const ValueId id = graph_.add_value({dtype_, false, shape()});
      graph_.constants.push_back({id, random_.array(graph_.avals[static_cast<size_t>(id)])});
    }
    while (graph_.equations.size() < equations) equation();
    return graph_;
  }

  Graph graph_;

  ValueId any(Dtype d) {
    std::vector<ValueId> all;
    for (size_t v = 0; v < graph_.avals.size(); ++v) {
      if (graph_.avals[v].dtype == d) all.push_back(static_cast<ValueId>(v));
    }
    return all.empty() ? -1 : all[random_.below(all.size())];
  }

 private:
  Shape shape() {
    static const Shape all[] = {{}, {3}, {3, 3}, {2, 3}, {8}, {5}, {13}, {4, 2, 3}, {1, 3}};
    return all[random_.below(std::size(all))];
  }
  const Shape& shape_of(ValueId v) const { return graph_.avals[static_cast<size_t>(v)].shape; }
  Dtype dtype_of(ValueId v) const { return graph_.avals[static_cast<size_t>(v)].dtype; }

  // Another value of that dtype that broadcasts with v.
  ValueId partner(ValueId v, Dtype d) {
    std::vector<ValueId> all;
    for (size_t w = 0; w < graph_.avals.size(); ++w) {
      const Shape& s = graph_.avals[w].shape;
      if (graph_.avals[w].dtype == d && (s == shape_of(v) || s.rank() == 0))
        all.push_back(static_cast<ValueId>(w));
    }
    return all.empty() ? -1 : all[random_.below(all.size())];
  }

  void add(const char* name, std::vector<ValueId> in, Params params = {}) {
    const Primitive* p = find_primitive(name);
    std::vector<const Aval*> avals;
    for (const ValueId v : in) {
      if (v < 0) return;
      avals.push_back(&graph_.avals[static_cast<size_t>(v)]);
    }
    const Aval out = output_avals(*p, avals, params)[0];
    if (out.shape.numel() > kTinyElements) return;
    graph_.equations.push_back({p, std::move(params), std::move(in), {graph_.add_value(out)}, ""});
  }

  void equation() {
    const ValueId v = any(dtype_);
    const Shape s = shape_of(v);
    const int rank = s.rank();
    static const char* const binary[] = {"add", "sub", "mul", "max"};
    static const char* const unary[] = {"neg", "abs", "logistic", "relu"};
    switch (random_.below(14)) {
      case 0:
      case 1:
      case 2:
        return add(binary[random_.below(4)], {v, partner(v, dtype_)});
      case 3:
        return add(binary[random_.below(4)], {partner(v, dtype_), v});
      case 4:
        return add(unary[random_.below(4)], {v});
      case 5:
        return add("lt", {v, partner(v, dtype_)});
      case 6: {
        const ValueId w = partner(v, dtype_), mask = partner(v, Dtype::kBool);
        return add("select", {mask, v, w});
      }
      case 7: {
        Shape to = s;
        Axes dims;
        to.insert(0, static_cast<int64_t>(2 + random_.below(2)));
        for (int i = 0; i < rank; ++i) dims.push_back(i + 1);
        return add("broadcast_in_dim", {v}, Params::make(BroadcastInDimParams{to, dims}));
      }
      case 8: {
        Axes perm;
        for (int i = rank; i-- > 0;) perm.push_back(i);
        return add("transpose", {v}, Params::make(TransposeParams{perm}));
      }
      case 9: {
        SliceParams p{Shape::filled(rank, 0), s, Shape::filled(rank, 1)};
        if (rank == 0) return;
        const int axis = static_cast<int>(random_.below(static_cast<size_t>(rank)));
        p.start[axis] = static_cast<int64_t>(random_.below(static_cast<size_t>(s[axis])));
        p.stride[axis] = 1 + static_cast<int64_t>(random_.below(2));
        return add("slice", {v}, Params::make(p));
      }
      case 10: {
        std::vector<ValueId> parts = {v, v};
        for (size_t w = 0; w < graph_.avals.size() && parts.size() < 4; ++w) {
          if (graph_.avals[w].dtype == dtype_ && shape_of(static_cast<ValueId>(w)) == s)
            parts.push_back(static_cast<ValueId>(w));
        }
        if (rank == 0) return;
        return add("concatenate", parts,
                   Params::make(ConcatenateParams{
                       static_cast<int64_t>(random_.below(static_cast<size_t>(rank)))}));
      }
      case 11: {
        if (rank == 0) return;
        PadParams p{Shape::filled(rank, 1), Shape::filled(rank, 0), Shape::filled(rank, 0)};
        p.interior[rank - 1] = 1;
        const ValueId zero = graph_.add_value({dtype_, false, Shape{}});
        const Array value = random_.array(graph_.avals[static_cast<size_t>(zero)]);
        graph_.constants.push_back({zero, value});
        return add("pad", {v, zero}, Params::make(p));
      }
      case 12: {
        if (!sums_ || rank == 0) return;
        static const char* const reductions[] = {"reduce_sum", "reduce_max", "reduce_min"};
        const int axis = static_cast<int>(random_.below(static_cast<size_t>(rank)));
        return add(reductions[random_.below(3)], {v}, Params::make(ReduceParams{Axes{axis}}));
      }
      default: {
        if (!sums_ || rank == 0) return;
        return add("dot_general", {v, v},
                   Params::make(DotParams{Axes{rank - 1}, Axes{rank - 1}, {}, {}}));
      }
    }
  }

  Random& random_;
  Dtype dtype_;
  bool sums_;
};

template <class T>
void expect_close(const T* got, const T* want, int64_t n, double tolerance,
                  const std::string& what) {
  for (int64_t i = 0; i < n; ++i) {
    const double g = static_cast<double>(got[i]), w = static_cast<double>(want[i]);
    if (g != g && w != w) continue;
    if (std::isinf(w) && g == w) continue;
    ASSERT_LE(std::abs(g - w), tolerance * std::max(1.0, std::abs(w))) << what << " at " << i;
  }
}

void expect_array(const Array& want, const void* got, double tolerance, const std::string& what) {
  const void* data = internal::mutable_data(want);
  const int64_t n = want.shape().numel();
  if (want.dtype() == Dtype::kFloat32)
    expect_close(static_cast<const float*>(got), static_cast<const float*>(data), n, tolerance,
                 what);
  else if (want.dtype() == Dtype::kFloat64)
    expect_close(static_cast<const double*>(got), static_cast<const double*>(data), n, tolerance,
                 what);
  else
    EXPECT_EQ(std::memcmp(got, data, static_cast<size_t>(want.aval().bytes())), 0) << what;
}

bool have_code() {
  return make_tiny(parse_graph("graph(a: f32[2]) {\n  b: f32[2] = neg a\n  return b\n}")) !=
         nullptr;
}

// Memory for a result between guards.
struct Result {
  explicit Result(int64_t bytes) : memory(static_cast<size_t>(bytes) + 64, 0x5a) {}
  char* data() { return memory.data() + 32; }
  bool intact() const {
    for (size_t i = 0; i < 32; ++i) {
      if (memory[i] != 0x5a || memory[memory.size() - 1 - i] != 0x5a) return false;
    }
    return true;
  }
  std::vector<char> memory;
};

// `in` and `out` have one pointer for each input and output.
void run(const PreparedKernel& kernel, const std::vector<void*>& in,
         const std::vector<void*>& out) {
  std::vector<View> from, to;
  for (void* p : in) from.push_back({p, nullptr});
  for (void* p : out) to.push_back({p, nullptr});
  std::vector<char> workspace(kernel.workspace_bytes());
  kernel.run({from, to, Params{}, workspace.data()});
}

// Each pair that may share memory gives the same results when it does.
void expect_in_place(const PreparedKernel& kernel, const Graph& graph,
                     const std::vector<Array>& args, std::vector<Result>& results) {
  for (size_t i = 0; i < args.size(); ++i) {
    for (size_t k = 0; k < results.size(); ++k) {
      const int64_t bytes = args[i].aval().bytes();
      if (!kernel.in_place(i, k) ||
          graph.avals[static_cast<size_t>(graph.outputs[k])].bytes() != bytes)
        continue;
      const size_t size = static_cast<size_t>(bytes);
      std::vector<char> shared(size + 1);
      std::memcpy(shared.data(), internal::mutable_data(args[i]), size);
      std::vector<Result> others(results);
      std::vector<void*> in;
      std::vector<void*> out;
      for (const Array& a : args) in.push_back(internal::mutable_data(a));
      for (Result& r : others) out.push_back(r.data());
      in[i] = out[k] = shared.data();
      run(kernel, in, out);
      std::memcpy(others[k].data(), shared.data(), size);
      for (size_t j = 0; j < results.size(); ++j)
        EXPECT_EQ(others[j].memory, results[j].memory) << i << " " << k << "\n" << graph.text();
    }
  }
}

TEST(Tiny, RunsRandomGraphs) {
  if (!have_code()) GTEST_SKIP() << "there is no code generator here";
  for (unsigned seed = 0; seed < 400; ++seed) {
    Random random(seed);
    const bool sums = seed % 2 == 1;
    const Dtype dtype = seed % 5 == 4 ? Dtype::kFloat64 : Dtype::kFloat32;
    Writer writer(random, dtype, sums);
    Graph graph = writer.write(1 + random.below(12), 4 + random.below(50));
    for (size_t k = 0; k < 6; ++k)
      graph.outputs.push_back(static_cast<ValueId>(random.below(graph.avals.size())));
    check(graph);
    const auto kernel = make_tiny(graph);
    ASSERT_NE(kernel, nullptr) << graph.text();
    std::vector<Array> args;
    std::vector<void*> in;
    for (const ValueId v : graph.inputs) {
      args.push_back(random.array(graph.avals[static_cast<size_t>(v)]));
      in.push_back(internal::mutable_data(args.back()));
    }
    std::vector<Result> results;
    std::vector<void*> out;
    for (const ValueId v : graph.outputs)
      results.emplace_back(graph.avals[static_cast<size_t>(v)].bytes());
    for (Result& r : results) out.push_back(r.data());
    run(*kernel, in, out);
    const std::vector<Array> want = evaluate(graph, args);
    expect_in_place(*kernel, graph, args, results);
    if (HasFailure()) return;
    for (size_t k = 0; k < want.size(); ++k) {
      const std::string what = "seed " + std::to_string(seed) + " output " + std::to_string(k);
      ASSERT_TRUE(results[k].intact()) << what << "\n" << graph.text();
      const double tolerance = !sums ? 0 : dtype == Dtype::kFloat64 ? 1e-9 : 1e-3;
      expect_array(want[k], results[k].data(), tolerance, what + "\n" + graph.text());
      if (HasFailure()) return;
    }
  }
}

TEST(Tiny, RunsLoopsWhoseCarryStaysInRegisters) {
  if (!have_code()) GTEST_SKIP() << "there is no code generator here";
  for (unsigned seed = 0; seed < 300; ++seed) {
    Random random(seed);
    const Dtype dtype = seed % 5 == 4 ? Dtype::kFloat64 : Dtype::kFloat32;
    Writer writer(random, dtype, false);
    Graph graph = writer.write(3 + random.below(10), 4 + random.below(40));
    TinyLoop loop;
    loop.reverse = random.below(2) == 0;
    loop.consts = static_cast<int64_t>(random.below(3));
    // Carry what has a result of its type; the rest are slices.
    for (size_t i = static_cast<size_t>(loop.consts); i < graph.inputs.size(); ++i) {
      const Aval type = graph.avals[static_cast<size_t>(graph.inputs[i])];
      std::vector<ValueId> same;
      for (size_t v = 0; v < graph.avals.size(); ++v) {
        if (graph.avals[v].shape == type.shape && graph.avals[v].dtype == type.dtype)
          same.push_back(static_cast<ValueId>(v));
      }
      if (random.below(3) == 0) break;
      graph.outputs.push_back(same[random.below(same.size())]);
      ++loop.carry;
    }
    for (size_t k = 0; k < 3; ++k)
      graph.outputs.push_back(static_cast<ValueId>(random.below(graph.avals.size())));
    check(graph);
    const int64_t length = loop.length = static_cast<int64_t>(random.below(6));
    const auto kernel = make_tiny_loop(graph, loop);
    ASSERT_NE(kernel, nullptr) << graph.text();
    const size_t first_slice = static_cast<size_t>(loop.consts + loop.carry);
    std::vector<Array> args;
    std::vector<void*> in;
    for (size_t i = 0; i < graph.inputs.size(); ++i) {
      Aval aval = graph.avals[static_cast<size_t>(graph.inputs[i])];
      if (i >= first_slice) aval.shape = rules::with_front(aval.shape, length);
      args.push_back(random.array(aval));
      in.push_back(internal::mutable_data(args.back()));
    }
    std::vector<Result> results;
    std::vector<void*> out;
    for (size_t k = 0; k < graph.outputs.size(); ++k) {
      const int64_t bytes = graph.avals[static_cast<size_t>(graph.outputs[k])].bytes();
      results.emplace_back(k < static_cast<size_t>(loop.carry) ? bytes : bytes * length);
    }
    for (Result& r : results) out.push_back(r.data());
    run(*kernel, in, out);

    std::vector<Array> now(args);
    const std::string what = "seed " + std::to_string(seed) + "\n" + graph.text();
    for (int64_t t = 0; t < length; ++t) {
      const int64_t step = loop.reverse ? length - 1 - t : t;
      for (size_t i = first_slice; i < args.size(); ++i) {
        const Shape& s = args[i].shape();
        now[i] = reshape(rules::slice_axis(args[i], 0, step, step + 1),
                         graph.avals[static_cast<size_t>(graph.inputs[i])].shape);
        ASSERT_EQ(s[0], length);
      }
      const std::vector<Array> after = evaluate(graph, now);
      for (size_t k = 0; k < after.size(); ++k) {
        if (k < static_cast<size_t>(loop.carry)) {
          now[static_cast<size_t>(loop.consts) + k] = after[k];
        } else {
          expect_array(after[k], results[k].data() + step * after[k].aval().bytes(), 0, what);
          if (HasFailure()) return;
        }
      }
    }
    for (size_t k = 0; k < results.size(); ++k) {
      ASSERT_TRUE(results[k].intact()) << what;
      if (k < static_cast<size_t>(loop.carry))
        expect_array(now[static_cast<size_t>(loop.consts) + k], results[k].data(), 0, what);
      if (HasFailure()) return;
    }
  }
}

}  // namespace tiny_test
}  // namespace spruce::fusion
