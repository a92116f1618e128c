// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/measure.h"

#include <algorithm>

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

double median_seconds(const Call& call, double seconds) {
  std::vector<double> times;
  const auto start = Clock::now();
  for (int inner = 1; times.size() < 5 || seconds_since(start) < seconds;) {
    const auto t = Clock::now();
    for (int i = 0; i < inner; ++i) call.run();
    const double d = seconds_since(t);
    times.push_back(d / inner);
    if (d < 2e-3) inner *= 2;
  }
  times.erase(times.begin(), times.begin() + static_cast<int64_t>(times.size() / 3));
  const auto middle = times.begin() + static_cast<int64_t>(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  return *middle;
}

}  // namespace

double first_value(const Call& call) { return mean_absolute(call.run()); }

Measurement measure(const Call& call, double seconds) {
  Measurement m;
  {
    const auto start = Clock::now();
    const std::vector<Array> results = call.run();
    m.first_seconds = seconds_since(start);
    m.value = mean_absolute(results);
  }
  call.run();
  sp::memory::reset_peak();
  call.run();
  m.peak_bytes = sp::memory::peak_bytes();
  m.seconds = median_seconds(call, seconds);
  return m;
}

}  // namespace bench
