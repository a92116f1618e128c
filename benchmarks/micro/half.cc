// SPDX-License-Identifier: Apache-2.0
// What 16-bit floats cost beside f32: a chain of elementwise operations as a stage, compiled and
// not, and training steps in mixed precision.
//   taskset -c 0 spruce_micro --benchmark_filter=half/
//     --benchmark_enable_random_interleaving=true --benchmark_repetitions=9
//     --benchmark_report_aggregates_only=true --benchmark_min_time=0.05
#include <benchmark/benchmark.h>

#include <string>
#include <vector>

#include "benchmarks/nets.h"
#include "spruce/core/cpu/fusion/stage.h"
#include "spruce/core/rules/gelu.h"

namespace {

namespace cpu = spruce::cpu;
using cpu::Stage;
using spruce::Array;
using spruce::Dtype;

// residual + gelu(x + bias), as a stage and as a user writes it.
Stage chain_stage(Dtype d) {
  const auto gelu = spruce::Params::make(spruce::GeluParams{true});
  Stage s;
  s.inputs = {{d}, {d}, {d}};
  s.ops = {{spruce::find_primitive("add"), {}, {0, 1}, d},
           {spruce::find_primitive("gelu"), gelu, {3}, d},
           {spruce::find_primitive("add"), {}, {2, 4}, d}};
  s.outputs = {{5}};
  return s;
}

Array chain(const Array& x, const Array& bias, const Array& residual) {
  return residual +
         spruce::nn::gelu(x + bias, {.approximate = spruce::nn::GeluApproximation::kTanh});
}

void run_stage(benchmark::State& state, const cpu::StageKernel* kernel, Dtype dtype) {
  if (kernel == nullptr) return state.SkipWithError("there is no such kernel here");
  const int64_t n = state.range(0);
  std::vector<Array> arrays;
  for (int64_t i = 0; i < 4; ++i)
    arrays.push_back(spruce::random::normal(spruce::Key(i), {n}).astype(dtype));
  std::vector<const void*> in;
  for (size_t i = 0; i < 3; ++i) in.push_back(spruce::internal::mutable_data(arrays[i]));
  std::vector<char> result(static_cast<size_t>(arrays[3].nbytes()));
  void* out[] = {result.data()};
  std::vector<double> workspace(kernel->workspace_bytes() / 8 + 16);
  const size_t address = reinterpret_cast<size_t>(workspace.data());
  void* aligned = reinterpret_cast<void*>((address + 63) / 64 * 64);
  for (auto _ : state) {
    kernel->run(in.data(), out, nullptr, n, aligned);
    benchmark::ClobberMemory();
  }
}

template <class F>
void run_chain(benchmark::State& state, const F& f, Dtype dtype) {
  const Array x = spruce::random::normal(spruce::Key(0), {1024, 1024}).astype(dtype),
              bias = spruce::random::normal(spruce::Key(1), {1024}).astype(dtype),
              residual = spruce::random::normal(spruce::Key(2), {1024, 1024}).astype(dtype);
  for (auto _ : state) benchmark::DoNotOptimize(f(x, bias, residual));
}

// Adam on a loss that is computed in `compute`, with parameters in f32.
template <class Loss, class Net, class... Data>
void run_step(benchmark::State& state, Loss loss, Dtype compute, const Net& net,
              const Data&... data) {
  const spruce::nn::Precision precision{.compute = compute};
  const auto optimizer = spruce::optim::adam({.learning_rate = 1e-3f});
  const auto step = spruce::jit([=](const Net& p, const auto& s, const Data&... d) {
    const auto [value, grads] = spruce::value_and_grad(spruce::nn::mixed(loss, precision))(p, d...);
    const auto [updates, next] = optimizer.update(grads, s, p);
    return std::tuple{spruce::optim::apply_updates(p, updates), next, value};
  });
  Net p = net;
  auto s = optimizer.init(p);
  for (auto _ : state) {
    auto [new_p, new_s, value] = step(std::move(p), std::move(s), data...);
    p = std::move(new_p);
    s = std::move(new_s);
    benchmark::DoNotOptimize(value);
  }
}

const bool registered = [] {
  for (const Dtype d : {Dtype::kFloat32, Dtype::kBfloat16, Dtype::kFloat16}) {
    const auto add = [&](const std::string& what, auto f) {
      const std::string row = "half/" + what + "/" + std::string(spruce::name(d));
      return benchmark::RegisterBenchmark(row.c_str(), f);
    };
    const auto stage = [&](const std::string& how, std::shared_ptr<const cpu::StageKernel> kernel) {
      add("chain_" + how, [=](benchmark::State& state) { run_stage(state, kernel.get(), d); })
          ->Arg(64)
          ->Arg(1024)
          ->Arg(1 << 20);
    };
    stage("code", cpu::make_stage_x64(chain_stage(d)));
    stage("tape", cpu::make_stage_tape(chain_stage(d)));
    add("jit", [=](benchmark::State& state) { run_chain(state, spruce::jit(chain), d); });
    add("eager", [=](benchmark::State& state) { run_chain(state, chain, d); });
    add("mlp_step", [=](benchmark::State& state) {
      const auto loss = [](const bench::Mlp& p, const Array& x, const Array& y) {
        return spruce::nn::cross_entropy(p(x, [](const Array& h) { return spruce::nn::gelu(h); }),
                                         y);
      };
      run_step(state, loss, d, bench::Mlp::init({784, 512, 512, 10}),
               spruce::random::normal(spruce::Key(9), {128, 784}),
               spruce::random::randint(spruce::Key(9), {128}, 0, 10));
    });
    add("block_step", [=](benchmark::State& state) {
      const auto loss = [](const bench::Block& p, const Array& x) {
        return spruce::mean(spruce::square(p(x, 8)));
      };
      run_step(state, loss, d, bench::Block::init(spruce::Key(0), 256),
               spruce::random::normal(spruce::Key(9), {8, 128, 256}));
    });
  }
  return true;
}();

}  // namespace
