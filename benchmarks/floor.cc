// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/floor.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string_view>
#include <thread>

#include "benchmarks/measure.h"

namespace bench {
namespace {

double product_flops(const sp::Graph& graph, const sp::Equation& e) {
  const sp::Shape& a = graph.avals[static_cast<size_t>(e.inputs[0])].shape;
  double flops = 2;
  for (const int64_t n : graph.avals[static_cast<size_t>(e.outputs[0])].shape)
    flops *= static_cast<double>(n);
  for (const int axis : e.params.get<sp::DotParams>().lhs_contract)
    flops *= static_cast<double>(a[axis]);
  return flops;
}

double convolution_flops(const sp::Graph& graph, const sp::Equation& e) {
  const sp::Shape& out = graph.avals[static_cast<size_t>(e.outputs[0])].shape;
  const sp::Shape& weight = graph.avals[static_cast<size_t>(e.inputs[1])].shape;
  return 2 * static_cast<double>(out.numel()) * static_cast<double>(weight.numel()) /
         static_cast<double>(std::max<int64_t>(weight[0], 1));
}

double flops_of(const sp::Graph& graph) {
  double total = 0;
  for (const sp::Equation& e : graph.equations) {
    const std::string_view name = e.primitive->name;
    if (name == "dot_general") total += product_flops(graph, e);
    if (name == "conv_general") total += convolution_flops(graph, e);
    if (e.params.base() != nullptr)
      e.params.base()->visit_graphs([&](const sp::GraphPtr& g) { total += flops_of(*g); });
  }
  return total;
}

double bytes_of(const sp::Graph& graph, const std::vector<sp::ValueId>& values) {
  double total = 0;
  for (const sp::ValueId id : values) {
    const sp::Aval& aval = graph.avals[static_cast<size_t>(id)];
    total += static_cast<double>(aval.shape.numel()) * static_cast<double>(size_of(aval.dtype));
  }
  return total;
}

double best_seconds(int repeats, const std::function<void()>& f) {
  double best = 1e30;
  for (int i = 0; i < repeats; ++i) {
    const auto start = Clock::now();
    f();
    best = std::min(best, seconds_since(start));
  }
  return best;
}

double copy_rate(size_t bytes) {
  const size_t n = bytes < (size_t{1} << 20) ? 1 : static_cast<size_t>(sp::threads());
  std::vector<char> from(bytes, 1), to(bytes, 2);
  const int inner = static_cast<int>(std::max<size_t>(1, (size_t{8} << 20) / bytes));
  const auto copy = [&](size_t begin, size_t end) {
    for (int k = 0; k < inner; ++k)
      std::memcpy(to.data() + begin, from.data() + begin, end - begin);
  };
  const double seconds = best_seconds(8, [&] {
    std::vector<std::thread> threads;
    for (size_t i = 1; i < n; ++i) threads.emplace_back(copy, bytes * i / n, bytes * (i + 1) / n);
    copy(0, bytes / n);
    for (std::thread& t : threads) t.join();
  });
  return 2 * static_cast<double>(bytes) * inner / seconds;
}

}  // namespace

Work work_of(const sp::Graph& graph) {
  return {flops_of(graph), bytes_of(graph, graph.inputs) + bytes_of(graph, graph.outputs)};
}

double Machine::seconds(const Work& work) const {
  const auto distance = [&](const Copy& c) {
    return std::abs(std::log(c.bytes / std::max(work.bytes, 1.0)));
  };
  const Copy& nearest =
      *std::min_element(copies.begin(), copies.end(),
                        [&](const Copy& a, const Copy& b) { return distance(a) < distance(b); });
  return work.flops / flops + work.bytes / nearest.rate;
}

Machine measure_machine() {
  Machine machine;
  for (const int64_t n : {256, 512, 1024}) {
    const Array a = normals({n, n});
    const double seconds = best_seconds(20, [&] { sp::matmul(a, a); });
    machine.flops = std::max(machine.flops, 2 * static_cast<double>(n * n * n) / seconds);
  }
  for (const int shift : {13, 17, 20, 22, 24, 26}) {
    const size_t bytes = size_t{1} << shift;
    machine.copies.push_back({2 * static_cast<double>(bytes), copy_rate(bytes)});
  }
  return machine;
}

}  // namespace bench
