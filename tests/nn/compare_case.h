// SPDX-License-Identifier: Apache-2.0
// One case from outside, compared in each way that a user may run it.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "spruce/core/array.h"

namespace torch_cases {

/// A function of the inputs of a case.
using CaseFunction = std::function<spruce::Array(const std::vector<spruce::Array>& in)>;

/// Inputs, and what another program gives for them in f64: a list of numbers, or, after a #, the
/// sums of g[i] cos(k i + k) for k = 1..4 in place of the numbers g.
struct Case {
  std::string op, options;             ///< its name
  std::vector<spruce::Array> in;       ///< f64
  std::string y;                       ///< the result
  std::vector<std::string> gradients;  ///< of sum(y * cos(0, 1, ...)) to each input
  double tolerance = 1e-10;            ///< of y, relative to elements above 1
  double gradient_tolerance = 1e-9;    ///< of the gradients, likewise
};

/// sum(y * cos(0, 1, ...)), so that each element of a result has a part in the gradients.
spruce::Array weighted_sum(const spruce::Array& y);

/// Expects the numbers of a case, f64, each within `tolerance` times itself, or `tolerance` where
/// it is below 1.
void expect_numbers(const spruce::Array& actual, const std::string& expected,
                    const std::string& what, double tolerance = 2e-11);

/// Compares value and gradients:
/// - in f64 with those of the case,
/// - under jit, in one trace, with those of eager calls,
/// - under vmap, over the case and its inputs backwards, with those of a loop,
/// - in f32 with those of the case: at 1e-5 of the largest element, except where the list in
///   compare_case.cc has a reason.
void compare(const Case& c, const CaseFunction& f);

}  // namespace torch_cases
