// SPDX-License-Identifier: Apache-2.0
// The time to compile long programs: `spruce_micro --benchmark_filter=compile`. Eight times the
// equations take 64 times as long where something is quadratic.
#include <benchmark/benchmark.h>

#include <string>

#include "benchmarks/long_programs.h"
#include "spruce/transforms/compile/plan.h"
#include "spruce/transforms/passes/pipeline.h"

namespace spruce::bench {
namespace {

void compile(benchmark::State& state, const LongProgram& program) {
  const Graph graph = program.make(static_cast<int>(state.range(0)));
  for (auto _ : state) {
    const internal::Plan plan(passes::optimize(graph));
    benchmark::DoNotOptimize(&plan);
  }
  state.SetComplexityN(static_cast<int64_t>(graph.equations.size()));
}

const bool registered = [] {
  for (const LongProgram& program : kLongPrograms) {
    benchmark::RegisterBenchmark((std::string("compile/") + program.name).c_str(),
                                 [&program](benchmark::State& state) { compile(state, program); })
        ->RangeMultiplier(8)
        ->Range(1500, 12000)
        ->Unit(benchmark::kMillisecond)
        ->Complexity();
  }
  return true;
}();

}  // namespace
}  // namespace spruce::bench
