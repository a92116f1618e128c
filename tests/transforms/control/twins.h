// SPDX-License-Identifier: Apache-2.0
// A function with a loop or branch in it, and the same function written in C++: every transform
// must give the same of both.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "spruce/core/ops/ops.h"
#include "spruce/transforms/transforms.h"

namespace spruce::control {

using Arrays = std::vector<Array>;
using Function = std::function<Array(const Arrays&)>;

struct Twins {
  std::string name;
  Function loop;
  Function plain;
  Arrays at;  // f64 inputs
  bool reverse_mode = true;
};

/// Values, jvp along and vmap over each subset of the inputs, grad, Hessian-vector products, each
/// at once and compiled.
void expect_twins(const Twins& t);

/// Equal types, elements within `tol` of the largest one or of 1.
void expect_close(const Array& got, const Array& want, const std::string& what, double tol = 1e-9);

/// Numbers in [-1, 1], f64, the same each time.
Array numbers(const Shape& shape, int seed);

}  // namespace spruce::control
