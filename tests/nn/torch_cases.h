// SPDX-License-Identifier: Apache-2.0
// Values and gradients that PyTorch computed (make_torch_cases.py), and how to compare with them.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "spruce/spruce.h"
#include "tests/nn/compare_case.h"

namespace torch_cases {

namespace sp = spruce;
namespace nn = spruce::nn;
using sp::Array;

struct Text {
  const char *op, *options, *shape, *x, *y, *gradient;
};

inline constexpr Text kCases[] = {
#include "tests/nn/torch_cases.inc"
};

inline std::vector<double> numbers(const std::string& text) {
  std::vector<double> out;
  std::istringstream in(text);
  for (std::string item; std::getline(in, item, ',');) out.push_back(std::stod(item));
  return out;
}

/// The options of a case: "k=3,reduction=mean".
class Options {
 public:
  explicit Options(const std::string& text) {
    std::istringstream in(text);
    for (std::string item; std::getline(in, item, ',');) {
      const size_t at = item.find('=');
      values_[item.substr(0, at)] = item.substr(at + 1);
    }
  }
  bool has(const std::string& name) const { return values_.count(name) != 0; }
  const std::string& text(const std::string& name) const { return values_.at(name); }
  double number(const std::string& name) const { return std::stod(values_.at(name)); }
  int64_t integer(const std::string& name) const { return std::stoll(values_.at(name)); }
  bool flag(const std::string& name) const { return integer(name) != 0; }
  nn::Reduction reduction() const {
    const std::string& r = text("reduction");
    return r == "mean"        ? nn::Reduction::kMean
           : r == "sum"       ? nn::Reduction::kSum
           : r == "batchmean" ? nn::Reduction::kBatchMean
                              : nn::Reduction::kNone;
  }

 private:
  std::map<std::string, std::string> values_;
};

/// The numbers of make_torch_cases.py's wave().
inline Array wave(const sp::Shape& shape, double step) {
  std::vector<double> out(static_cast<size_t>(shape.numel()));
  for (size_t i = 0; i < out.size(); ++i) {
    out[i] = std::nearbyint(std::sin(static_cast<double>(i) * step + 0.3) * 4e4) / 1e4;
  }
  return sp::array(out, shape);
}

using Function = std::function<Array(const Array& x, const Options& options)>;

/// Compares all cases of an operation in every way of compare(); at least `least` of them must
/// exist.
inline void check(const std::string& op, size_t least, const Function& f) {
  size_t count = 0;
  for (const Text& c : kCases) {
    if (op != c.op) continue;
    ++count;
    const Options options(c.options);
    sp::Shape shape;
    for (const double n : numbers(c.shape)) shape.push_back(static_cast<int64_t>(n));
    compare({.op = op,
             .options = c.options,
             .in = {sp::array(numbers(c.x), shape)},
             .y = c.y,
             .gradients = {c.gradient},
             .tolerance = 2e-11,
             .gradient_tolerance = 2e-11},
            [&](const std::vector<Array>& in) { return f(in[0], options); });
  }
  EXPECT_GE(count, least) << op;
}

}  // namespace torch_cases
