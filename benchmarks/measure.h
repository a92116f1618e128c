// SPDX-License-Identifier: Apache-2.0
// Times, values and memory of one row.
#pragma once

#include <algorithm>
#include <chrono>

#include "benchmarks/bench.h"

namespace bench {

using Clock = std::chrono::steady_clock;

inline double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// What one row gave.
struct Measurement {
  double value = 0;            ///< mean of |x| over all results of the first call
  double lower_seconds = 0;    ///< staging and compiling, before the first call
  double first_seconds = 0;    ///< that and the first call
  double seconds = 0;          ///< median of the later calls
  int64_t peak_bytes = 0;      ///< most array memory at once in later calls, arguments included
  int64_t resident_bytes = 0;  ///< growth of the resident set from before the row was made

  double compile_seconds() const { return std::max(0.0, first_seconds - seconds); }
};

/// "cpu", or "cuda:0" where this program was built for CUDA. Throws std::invalid_argument for
/// another name, DeviceError where the machine has no such device.
sp::Device& device_named(const std::string& name);

/// Median seconds of a call of two rows, and the median of first / second over the pairs of calls.
struct Turns {
  double first, second, ratio;
};
/// Calls both by turns, each pair in the other order than the one before.
Turns by_turns(const Row& first, const Row& second, const Settings& settings, double seconds);

/// The first call and nothing else.
double first_value(const Call& call);

/// Calls the row for at least `seconds`, in batches of about 2 ms; the first third is warm-up.
Measurement measure(const Row& row, const Settings& settings, double seconds);

}  // namespace bench
