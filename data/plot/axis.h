// SPDX-License-Identifier: Apache-2.0
// The axis of a drawing of curves.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace spruce::data::internal {

/// What is shown of an axis, and where its marks are.
struct Axis {
  double low = std::numeric_limits<double>::infinity(), high = -low;
  bool log = false;

  double scaled(double v) const {
    if (!log) return v;
    return v > 0 ? std::log10(v) : std::numeric_limits<double>::quiet_NaN();
  }
  void add(double v) {
    const double s = scaled(v);
    if (!std::isfinite(s)) return;
    low = std::min(low, s);
    high = std::max(high, s);
  }
  // One that holds nothing, a single value, or values that are all but equal gets a width.
  void finish() {
    if (low > high) low = 0, high = 1;
    const double size = std::max(std::abs(low), std::abs(high));
    if (high - low > 1e-9 * size) return;
    const double more = size > 0 ? 0.05 * size : 0.5;
    low -= more;
    high += more;
  }
  /// From 0 to 1; NaN for what the axis does not show.
  double share(double v) const { return (scaled(v) - low) / (high - low); }
  // Multiples of 1, 2 or 5 times a power of ten, about five of them.
  std::vector<double> marks() const {
    const double rough = (high - low) / 5;
    const double power = std::pow(10, std::floor(std::log10(rough)));
    double step = 10 * power;
    for (const double m : {5.0, 2.0, 1.0})
      if (m * power >= rough) step = m * power;
    if (log) step = std::max(1.0, std::round(step));
    std::vector<double> out;
    for (double k = std::ceil(low / step); k * step <= high * (1 + 1e-12) + 1e-300; ++k)
      out.push_back(log ? std::pow(10, k * step) : k * step);
    return out;
  }
};

}  // namespace spruce::data::internal
