// SPDX-License-Identifier: Apache-2.0
#include "tests/reference/compare.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <sstream>

namespace reference {
namespace {

namespace sp = spruce;

template <class To, class From>
sp::Array converted(const std::vector<From>& values, const sp::Shape& shape) {
  const auto copy = std::make_unique<To[]>(values.size());
  std::transform(values.begin(), values.end(), copy.get(),
                 [](From v) { return static_cast<To>(v); });
  return sp::array(std::span<const To>(copy.get(), values.size()), shape);
}

std::vector<double> elements(const sp::Array& x) {
  return sp::astype(x, sp::float64).to_vector<double>();
}

// 32 roundings in f32: the longest sums here have 125 terms, most functions a handful of
// operations. In f64 some 1000, for there the peers' own functions are rounded as well.
double tolerance(const std::string& dtype) { return dtype == "f32" ? 32 * 0x1p-24 : 2e-13; }

double scale(const std::vector<double>& values) {
  double largest = 0;
  for (const double v : values) {
    if (std::isfinite(v)) largest = std::max(largest, std::abs(v));
  }
  return std::min(largest, 1.0);
}

bool close(double got, double want, double allowed) {
  if (std::isnan(want)) return std::isnan(got);
  return got == want || std::abs(got - want) <= allowed;
}

}  // namespace

sp::Array to_array(const Value& value) {
  const sp::Shape shape(value.shape);
  if (value.dtype == "bool") return converted<bool>(value.integers, shape);
  if (value.dtype == "i32") return converted<int32_t>(value.integers, shape);
  if (value.dtype == "i64") return converted<int64_t>(value.integers, shape);
  if (value.dtype == "f32") return converted<float>(value.reals, shape);
  return converted<double>(value.reals, shape);
}

std::string difference(const sp::Array& got, const Value& want, Closeness closeness, double floor) {
  std::ostringstream out;
  out.precision(17);
  if (got.shape() != sp::Shape(want.shape)) {
    out << "shape " << sp::to_string(got.shape()) << ", expected "
        << sp::to_string(sp::Shape(want.shape));
    return out.str();
  }
  const bool kind = want.floating()        ? sp::short_name(got.dtype()) == want.dtype
                    : want.dtype == "bool" ? got.dtype() == sp::bool_
                                           : sp::is_integer(got.dtype());
  if (!kind) {
    out << "dtype " << sp::short_name(got.dtype()) << ", expected " << want.dtype;
    return out.str();
  }
  const std::vector<double> g = elements(got);
  const std::vector<double> w =
      want.floating() ? want.reals
                      : std::vector<double>(want.integers.begin(), want.integers.end());
  const double tol = want.floating() && closeness != Closeness::kExact ? tolerance(want.dtype) : 0;
  const double base = closeness == Closeness::kScaled ? scale(w) : 0;
  for (size_t i = 0; i < w.size(); ++i) {
    const double allowed = tol * (std::abs(w[i]) + base) + (want.dtype == "f32" ? floor : 0);
    if (!close(g[i], w[i], allowed)) {
      out << "element " << i << " of " << w.size() << " is " << g[i] << ", expected " << w[i]
          << ", off by " << std::abs(g[i] - w[i]) << ", allowed " << allowed;
      return out.str();
    }
  }
  return {};
}

}  // namespace reference
