// SPDX-License-Identifier: Apache-2.0
// matmul against oneDNN called directly, on the same memory: its sgemm and its matmul primitive.
// Interleave the runs, since machines drift:
//   OMP_NUM_THREADS=1 taskset -c 0 spruce_micro --benchmark_enable_random_interleaving=true
//   --benchmark_repetitions=15
//     --benchmark_report_aggregates_only=true --benchmark_min_time=0.05 --benchmark_filter=64x64x64
#include <benchmark/benchmark.h>
#include <spruce/spruce.h>

#include <array>
#include <dnnl.hpp>
#include <string>
#include <unordered_map>
#include <vector>

namespace {

namespace sp = spruce;

struct Product {
  int64_t m, k, n;
  bool transposed;  // the right operand is [n, k], as the weight of a layer

  std::string name() const {
    return std::to_string(m) + "x" + std::to_string(k) + "x" + std::to_string(n) +
           (transposed ? "t" : "");
  }
  double flops() const {
    return 2.0 * static_cast<double>(m) * static_cast<double>(k) * static_cast<double>(n);
  }
};

struct Operands {
  sp::Array a, b;

  explicit Operands(const Product& p)
      : a(sp::random::normal(sp::Key(1), {p.m, p.k})),
        b(sp::random::normal(sp::Key(2),
                             p.transposed ? sp::Shape{p.n, p.k} : sp::Shape{p.k, p.n})) {}
};

void report(benchmark::State& state, const Product& p) {
  state.counters["flop/s"] =
      benchmark::Counter(p.flops(), benchmark::Counter::kIsIterationInvariantRate);
}

void run_spruce(benchmark::State& state, const Product& p) {
  const Operands in(p);
  const sp::DotParams axes{{1}, {p.transposed ? 1 : 0}, {}, {}};
  for (auto _ : state) {
    const sp::Array y = sp::dot_general(in.a, in.b, axes);
    benchmark::DoNotOptimize(y.data<float>().data());
  }
  report(state, p);
}

void run_sgemm(benchmark::State& state, const Product& p) {
  const Operands in(p);
  std::vector<float> y(static_cast<size_t>(p.m * p.n));
  const float *a = in.a.data<float>().data(), *b = in.b.data<float>().data();
  for (auto _ : state) {
    dnnl_sgemm('N', p.transposed ? 'T' : 'N', p.m, p.n, p.k, 1.0f, a, p.k, b,
               p.transposed ? p.k : p.n, 0.0f, y.data(), p.n);
    benchmark::DoNotOptimize(y.data());
  }
  report(state, p);
}

void run_primitive(benchmark::State& state, const Product& p) {
  using dnnl::memory;
  const Operands in(p);
  const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  dnnl::stream stream(engine);
  const auto f32 = memory::data_type::f32;
  const memory::desc a({p.m, p.k}, f32, memory::dims{p.k, 1}),
      c({p.m, p.n}, f32, memory::dims{p.n, 1});
  const memory::desc b({p.k, p.n}, f32, p.transposed ? memory::dims{1, p.k} : memory::dims{p.n, 1});
#if DNNL_VERSION_MAJOR >= 3
  const dnnl::matmul matmul(dnnl::matmul::primitive_desc(engine, a, b, c));
#else
  const dnnl::matmul matmul(dnnl::matmul::primitive_desc(dnnl::matmul::desc(a, b, c), engine));
#endif
  std::vector<float> y(static_cast<size_t>(p.m * p.n));
  const auto at = [](const sp::Array& x) { return const_cast<float*>(x.data<float>().data()); };
  const std::unordered_map<int, memory> args{{DNNL_ARG_SRC, memory(a, engine, at(in.a))},
                                             {DNNL_ARG_WEIGHTS, memory(b, engine, at(in.b))},
                                             {DNNL_ARG_DST, memory(c, engine, y.data())}};
  for (auto _ : state) {
    matmul.execute(stream, args);
    benchmark::DoNotOptimize(y.data());
  }
  report(state, p);
}

// Google Benchmark wants them before main().
const bool registered = [] {
  for (const bool transposed : {false, true}) {
    for (const auto& [m, k, n] : {std::array<int64_t, 3>{100, 2, 32},
                                  {100, 32, 32},
                                  {64, 64, 64},
                                  {128, 784, 512},
                                  {1024, 1024, 1024}}) {
      const Product p{m, k, n, transposed};
      benchmark::RegisterBenchmark((p.name() + "/spruce").c_str(), run_spruce, p);
      benchmark::RegisterBenchmark((p.name() + "/sgemm").c_str(), run_sgemm, p);
      benchmark::RegisterBenchmark((p.name() + "/primitive").c_str(), run_primitive, p);
    }
  }
  return true;
}();

}  // namespace
