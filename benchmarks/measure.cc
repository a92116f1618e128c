// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/measure.h"

#ifdef SPRUCE_BENCH_CUDA
#include <spruce/cuda.h>
#endif

#include <fstream>
#include <stdexcept>

namespace bench {
namespace {

double mean_absolute(const std::vector<Array>& results) {
  double total = 0, count = 0;
  for (const Array& a : results) {
    total += sp::sum(sp::abs(sp::astype(a, sp::float64))).item<double>();
    count += static_cast<double>(a.size());
  }
  return total / count;
}

// A line of /proc/self/status in bytes; 0 where there is no such file.
int64_t resident(const std::string& field) {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    int64_t kilobytes = 0;
    if (word == field && status >> kilobytes) return kilobytes * 1024;
  }
  return 0;
}

// From now on VmHWM tells the highest resident set.
void forget_highest() { std::ofstream("/proc/self/clear_refs") << '5'; }

// Until what was enqueued on a device has run.
void wait() {
#ifdef SPRUCE_BENCH_CUDA
  sp::cuda::synchronize();
#endif
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<int64_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

double median_seconds(const Call& call, double seconds) {
  std::vector<double> times;
  const auto start = Clock::now();
  for (int inner = 1; times.size() < 5 || seconds_since(start) < seconds;) {
    const auto t = Clock::now();
    for (int i = 0; i < inner; ++i) call.run();
    wait();
    const double d = seconds_since(t);
    times.push_back(d / inner);
    if (d < 2e-3) inner *= 2;
  }
  times.erase(times.begin(), times.begin() + static_cast<int64_t>(times.size() / 3));
  return median(std::move(times));
}

}  // namespace

sp::Device& device_named(const std::string& name) {
  if (name == "cpu") return sp::cpu_device();
#ifdef SPRUCE_BENCH_CUDA
  if (name == "cuda:0") return sp::cuda::device(0);
#endif
  throw std::invalid_argument("there is no device '" + name + "' in this build");
}

Turns by_turns(const Row& first, const Row& second, const Settings& settings, double seconds) {
  const Call calls[] = {first.make(settings), second.make(settings)};
  for (int i = 0; i < 3; ++i) {
    for (const Call& call : calls) call.run();
  }
  std::vector<double> times[2], ratios;
  const auto start = Clock::now();
  for (size_t i = 0; ratios.size() < 5 || seconds_since(start) < seconds; ++i) {
    for (const size_t k : {i % 2, 1 - i % 2}) {
      const auto t = Clock::now();
      calls[k].run();
      wait();
      times[k].push_back(seconds_since(t));
    }
    ratios.push_back(times[0].back() / times[1].back());
  }
  return {median(times[0]), median(times[1]), median(ratios)};
}

double first_value(const Call& call) { return mean_absolute(call.run()); }

Measurement measure(const Row& row, const Settings& settings, double seconds) {
  Measurement m;
  forget_highest();
  const int64_t before = resident("VmRSS:");
  const Call call = row.make(settings);
  {
    const auto start = Clock::now();
    call.lower();
    m.lower_seconds = seconds_since(start);
    const std::vector<Array> results = call.run();
    wait();
    m.first_seconds = seconds_since(start);
    m.value = mean_absolute(results);
  }
  call.run();
  sp::memory::reset_peak();
  call.run();
  m.peak_bytes = sp::memory::peak_bytes();
  m.seconds = median_seconds(call, seconds);
  m.resident_bytes = resident("VmHWM:") - before;
  return m;
}

}  // namespace bench
