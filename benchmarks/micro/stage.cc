// SPDX-License-Identifier: Apache-2.0
// A stage as machine code, as a tape and as the loop that one would write by hand for this
// processor, over elements that stay in the first-level cache and over a million. Interleave the
// runs, since machines drift:
//   taskset -c 0 spruce_micro --benchmark_filter=stage/
//     --benchmark_enable_random_interleaving=true --benchmark_repetitions=9
//     --benchmark_report_aggregates_only=true --benchmark_min_time=0.05
#include "spruce/core/cpu/fusion/stage.h"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "spruce/core/math/math.h"

namespace {

namespace cpu = spruce::cpu;
namespace math = spruce::math;
using cpu::Stage;
using Isa = math::Isa<true>;

constexpr spruce::Dtype kF = spruce::Dtype::kFloat32;

// Four arrays in, three out: what all loops here get.
struct Arrays {
  explicit Arrays(int64_t n) : memory(static_cast<size_t>(7 * n)), count(n) {
    for (size_t i = 0; i < memory.size(); ++i)
      memory[i] = 0.25f + static_cast<float>(i % 1000) * 0.003f;
  }
  const float* in(int i) const { return memory.data() + i * count; }
  float* out(int i) { return memory.data() + (4 + i) * count; }
  std::vector<float> memory;
  int64_t count;
};

constexpr float kBeta1 = 0.9f, kRest1 = 0.1f, kBeta2 = 0.999f, kRest2 = 0.001f, kRate = 1e-3f,
                kEps = 1e-8f;

SPRUCE_TARGET_V4 void adam_by_hand(Arrays& a) {
  const float *p = a.in(0), *g = a.in(1), *m = a.in(2), *v = a.in(3);
  float *p2 = a.out(0), *m2 = a.out(1), *v2 = a.out(2);
  SPRUCE_INDEPENDENT
  for (int64_t i = 0; i < a.count; ++i) {
    const float mu = kBeta1 * m[i] + kRest1 * g[i], nu = kBeta2 * v[i] + kRest2 * (g[i] * g[i]);
    m2[i] = mu;
    v2[i] = nu;
    p2[i] = p[i] - kRate * (mu / (__builtin_sqrtf(nu) + kEps));
  }
}

SPRUCE_TARGET_V4 void exp_by_hand(Arrays& a) {
  const float* x = a.in(0);
  float* y = a.out(0);
  SPRUCE_INDEPENDENT
  for (int64_t i = 0; i < a.count; ++i) y[i] = math::exp<Isa>(x[i]);
}

SPRUCE_TARGET_V4 void tanh_by_hand(Arrays& a) {
  const float* x = a.in(0);
  float* y = a.out(0);
  SPRUCE_INDEPENDENT
  for (int64_t i = 0; i < a.count; ++i) y[i] = math::tanh<Isa>(x[i]);
}

SPRUCE_TARGET_V4 void silu_by_hand(Arrays& a) {
  const float *x = a.in(0), *w = a.in(1);
  float* y = a.out(0);
  SPRUCE_INDEPENDENT
  for (int64_t i = 0; i < a.count; ++i) y[i] = x[i] * math::logistic<Isa>(x[i]) * w[i] + w[i];
}

struct Writer {
  Stage stage;
  int op(const char* name, std::vector<int> in) {
    stage.ops.push_back({spruce::find_primitive(name), {}, std::move(in), kF});
    return static_cast<int>(stage.inputs.size() + stage.ops.size()) - 1;
  }
};

Stage adam() {
  Writer w;
  w.stage.inputs = {{kF}, {kF}, {kF}, {kF}};
  for (int i = 0; i < 6; ++i) w.stage.inputs.push_back({kF, true});
  const int mu = w.op("add", {w.op("mul", {4, 2}), w.op("mul", {5, 1})});
  const int nu = w.op("add", {w.op("mul", {6, 3}), w.op("mul", {7, w.op("mul", {1, 1})})});
  const int step = w.op("div", {mu, w.op("add", {w.op("sqrt", {nu}), 9})});
  const int next = w.op("sub", {0, w.op("mul", {8, step})});
  w.stage.outputs = {{next}, {mu}, {nu}};
  return w.stage;
}

Stage unary(const char* name) {
  Writer w;
  w.stage.inputs = {{kF}};
  w.stage.outputs = {{w.op(name, {0})}};
  return w.stage;
}

Stage silu() {
  Writer w;
  w.stage.inputs = {{kF}, {kF}};
  const int s = w.op("mul", {0, w.op("logistic", {0})});
  w.stage.outputs = {{w.op("add", {w.op("mul", {s, 1}), 1})}};
  return w.stage;
}

Stage sum_of_exp() {
  Writer w;
  w.stage.inputs = {{kF}, {kF, true}};
  w.stage.reductions = {{w.op("exp", {w.op("sub", {0, 1})}), Stage::Kind::kSum}};
  return w.stage;
}

void run_stage(benchmark::State& state, const cpu::StageKernel* kernel, size_t inputs) {
  if (kernel == nullptr) return state.SkipWithError("there is no such kernel here");
  Arrays a(state.range(0));
  static const float scalars[] = {kBeta1, kRest1, kBeta2, kRest2, kRate, kEps};
  std::vector<const void*> in;
  for (int i = 0; i < static_cast<int>(inputs); ++i) in.push_back(a.in(i));
  for (const float& s : scalars) in.push_back(&s);
  void* out[] = {a.out(0), a.out(1), a.out(2)};
  double sum = 0;
  void* acc[] = {&sum};
  std::vector<double> workspace(kernel->workspace_bytes() / 8 + 16);
  const size_t address = reinterpret_cast<size_t>(workspace.data());
  void* aligned = reinterpret_cast<void*>((address + 63) / 64 * 64);
  for (auto _ : state) {
    kernel->run(in.data(), out, acc, a.count, aligned);
    benchmark::ClobberMemory();
  }
}

void run_by_hand(benchmark::State& state, void (*loop)(Arrays&)) {
  if (cpu::isa_level() != cpu::IsaLevel::kV4) return state.SkipWithError("no AVX-512");
  Arrays a(state.range(0));
  for (auto _ : state) {
    loop(a);
    benchmark::ClobberMemory();
  }
}

struct Row {
  const char* name;
  Stage (*stage)();
  size_t inputs;
  void (*by_hand)(Arrays&);
};

const bool registered = [] {
  const Row rows[] = {{"adam", adam, 4, adam_by_hand},
                      {"exp", [] { return unary("exp"); }, 1, exp_by_hand},
                      {"tanh", [] { return unary("tanh"); }, 1, tanh_by_hand},
                      {"silu", silu, 2, silu_by_hand},
                      {"sum_of_exp", sum_of_exp, 1, nullptr}};
  for (const Row& row : rows) {
    const std::string name = std::string("stage/") + row.name;
    const std::shared_ptr<const cpu::StageKernel> code = cpu::make_stage_x64(row.stage());
    const size_t inputs = row.inputs;
    const auto sizes = [](benchmark::internal::Benchmark* b) {
      b->Arg(64)->Arg(1024)->Arg(1 << 20);
    };
    sizes(benchmark::RegisterBenchmark((name + "/code").c_str(), [=](benchmark::State& state) {
      run_stage(state, code.get(), inputs);
    }));
    const std::shared_ptr<const cpu::StageKernel> tape = cpu::make_stage_tape(row.stage());
    sizes(benchmark::RegisterBenchmark((name + "/tape").c_str(), [=](benchmark::State& state) {
      run_stage(state, tape.get(), inputs);
    }));
    if (row.by_hand != nullptr) {
      const auto loop = row.by_hand;
      sizes(benchmark::RegisterBenchmark(
          (name + "/hand").c_str(), [=](benchmark::State& state) { run_by_hand(state, loop); }));
    }
  }
  const Stage stage = adam();
  benchmark::RegisterBenchmark("stage/compile_adam", [=](benchmark::State& state) {
    for (auto _ : state) benchmark::DoNotOptimize(cpu::make_stage_x64(stage));
  });
  return true;
}();

}  // namespace
