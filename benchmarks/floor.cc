// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/floor.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string_view>
#include <thread>

#include "benchmarks/measure.h"
#include "spruce/core/graph/build.h"
#include "spruce/transforms/rules/control_primitives.h"

namespace bench {
namespace {

// Of products, convolutions and attention; the body of a scan as often as it runs.
double flops_of(const sp::Graph& graph) {
  double total = 0;
  for (const sp::Equation& e : graph.equations) {
    const sp::Primitive& p = *e.primitive;
    const std::string_view name = p.name;
    if (name.starts_with("dot_") || name.starts_with("attention") || name == "conv_general")
      total += p.flops({types_of(graph, e.inputs), types_of(graph, e.outputs), e.params});
    if (e.params.base() == nullptr) continue;
    const double times =
        name == "scan" ? static_cast<double>(e.params.get<sp::ScanParams>().length) : 1;
    e.params.base()->visit_graphs([&](const sp::GraphPtr& g) {
      if (g != nullptr) total += times * flops_of(*g);
    });
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

// Bytes read and written a second in blocks of this size: copied, or changed in place, whichever is
// faster.
double move_rate(size_t bytes) {
  const size_t n = bytes < (size_t{1} << 20) ? 1 : static_cast<size_t>(sp::threads());
  const size_t size = bytes / sizeof(float);
  std::vector<float> from(size, 1), to(size, 2);
  const int inner = static_cast<int>(std::max<size_t>(1, (size_t{8} << 20) / bytes));
  const auto seconds = [&](const std::function<void(size_t, size_t)>& move) {
    const auto part = [&](size_t begin, size_t end) {
      for (int k = 0; k < inner; ++k) move(begin, end);
    };
    return best_seconds(8, [&] {
      std::vector<std::thread> threads;
      for (size_t i = 1; i < n; ++i) threads.emplace_back(part, size * i / n, size * (i + 1) / n);
      part(0, size / n);
      for (std::thread& t : threads) t.join();
    });
  };
  const double copy = seconds([&](size_t begin, size_t end) {
    std::memcpy(to.data() + begin, from.data() + begin, (end - begin) * sizeof(float));
  });
  const double change = seconds([&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) to[i] = 1 - to[i];
  });
  return 2 * static_cast<double>(bytes) * inner / std::min(copy, change);
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
    machine.copies.push_back({2 * static_cast<double>(bytes), move_rate(bytes)});
  }
  return machine;
}

}  // namespace bench
