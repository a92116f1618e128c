// SPDX-License-Identifier: Apache-2.0
// Prints one JSON line a row: {"row", "peer", "us", "compile_ms", "value"}.
//   us: median time of one call after warm-up;  compile_ms: the first call beyond that;
//   value: mean of |x| over all results of the first call: the peers print the same for the same
//   work.
// usage: spruce_bench [row ...] [--eager] [--threads n] [--json]
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <iterator>

#include "benchmarks/bench.h"

namespace bench {

Array normals(const sp::Shape& shape) { return sp::random::normal(sp::Key(9), shape); }
Array integers(int64_t high, const sp::Shape& shape) {
  return sp::random::randint(sp::Key(9), shape, 0, high);
}

std::vector<Row> rows() {
  std::vector<Row> all;
  for (auto make : {network_rows, higher_order_rows, function_rows}) {
    std::vector<Row> some = make();
    std::move(some.begin(), some.end(), std::back_inserter(all));
  }
  return all;
}

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

double mean_absolute(const std::vector<Array>& results) {
  double total = 0, count = 0;
  for (const Array& a : results) {
    total += sp::sum(sp::abs(sp::astype(a, sp::float64))).item<double>();
    count += static_cast<double>(a.size());
  }
  return total / count;
}

void run(const Row& row, const Settings& settings) {
  const Call call = row.make(settings);
  const auto first_start = Clock::now();
  const std::vector<Array> results = call();
  const double first = seconds_since(first_start), value = mean_absolute(results);
  std::vector<double> times;
  const auto start = Clock::now();
  for (int inner = 1; times.size() < 5 || seconds_since(start) < 1.5;) {
    const auto t = Clock::now();
    for (int i = 0; i < inner; ++i) call();
    const double d = seconds_since(t);
    times.push_back(d / inner);
    if (d < 2e-3) inner *= 2;
  }
  times.erase(times.begin(), times.begin() + static_cast<int64_t>(times.size() / 3));
  std::nth_element(times.begin(), times.begin() + static_cast<int64_t>(times.size() / 2),
                   times.end());
  const double median = times[times.size() / 2];
  std::printf(
      "{\"row\": \"%s\", \"peer\": \"%s\", \"us\": %.2f, \"compile_ms\": %.1f, \"value\": %.7g}\n",
      row.name.c_str(), settings.eager ? "spruce-eager" : "spruce", median * 1e6,
      std::max(0.0, first - median) * 1e3, value);
  std::fflush(stdout);
}

int main(int argc, char** argv) {
  Settings settings;
  std::vector<std::string> wanted;
  for (int i = 1; i < argc; ++i) {
    const std::string arg = argv[i];
    if (arg == "--eager")
      settings.eager = true;
    else if (arg == "--threads" && i + 1 < argc)
      sp::set_threads(std::stoi(argv[++i]));
    else if (arg == "--json")
      continue;
    else
      wanted.push_back(arg);
  }
  const std::vector<Row> all = rows();
  for (const std::string& name : wanted) {
    if (std::none_of(all.begin(), all.end(), [&](const Row& r) { return r.name == name; })) {
      std::fprintf(stderr, "spruce_bench: there is no row '%s'; there are:", name.c_str());
      for (const Row& r : all) std::fprintf(stderr, " %s", r.name.c_str());
      std::fprintf(stderr, "\n");
      return 2;
    }
  }
  for (const Row& row : all) {
    if (wanted.empty() || std::find(wanted.begin(), wanted.end(), row.name) != wanted.end())
      run(row, settings);
  }
  return 0;
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) { return bench::main(argc, argv); }
