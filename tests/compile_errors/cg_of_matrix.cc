// SPDX-License-Identifier: Apache-2.0
// expect: spruce: the first argument of custom_root, custom_linear_solve and cg is a function that
// takes a tree of the type of the unknown, as `const Array&`, and returns one: of a matrix A write
// [&](const Array& x) { return matmul(A, x); }
#include <spruce/spruce.h>

namespace sp = spruce;
using spruce::Array;

auto f(const Array& A, const Array& b) { return sp::cg(A, b); }
