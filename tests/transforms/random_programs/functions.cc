// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "spruce/core/ops/ops.h"
#include "spruce/nn/nn.h"
#include "spruce/transforms/transforms.h"
#include "tests/transforms/random_programs/program.h"

namespace spruce::random_programs {
namespace {

double one(double) { return 1; }
double same(double b) { return b; }
double larger(double a, double b) { return std::max(a, b); }

// f of the numbers as integers of that dtype.
template <class F>
Array as_integers(const Array& x, const Array& y, Dtype dtype, const F& f) {
  const auto whole = [&](const Array& a) { return astype(astype(floor(a * 4), int32), dtype); };
  return astype(f(whole(x), whole(y)), x.dtype()) * 0.125;
}
template <class F>
Array as_integers(const Array& x, Dtype dtype, const F& f) {
  return as_integers(x, x, dtype, [&](const Array& a, const Array&) { return f(a); });
}

// 0, 1, 2 or 3 as y says, with the derivative of y.
Array whole(const Array& y) {
  return stop_gradient(remainder(floor(y), 4.0)) + (y - stop_gradient(y));
}

}  // namespace

const std::vector<Unary>& unaries() {
  static const std::vector<Unary> all = {
      {"sin", [](const Array& x) { return sin(x); }, one},
      {"cos", [](const Array& x) { return cos(x); }, one},
      {"tanh", [](const Array& x) { return tanh(x); }, one},
      {"logistic", [](const Array& x) { return logistic(x); }, one},
      {"erf", [](const Array& x) { return erf(x); }, one},
      {"neg", [](const Array& x) { return -x; }, same},
      {"square", [](const Array& x) { return square(x); }, [](double b) { return b * b; }},
      {"times_itself", [](const Array& x) { return x * x; }, [](double b) { return b * b; }},
      {"cube", [](const Array& x) { return power(x, 3); }, [](double b) { return b * b * b; }},
      {"exp_tanh", [](const Array& x) { return exp(tanh(x)); }, [](double) { return 3.0; }},
      {"root", [](const Array& x) { return sqrt(x * x + 1.0); }, [](double b) { return b + 1; }},
      {"log1p_square", [](const Array& x) { return log1p(x * x); }, same},
      {"inverse", [](const Array& x) { return 1.0 / (1.0 + x * x); }, one},
      {"silu", [](const Array& x) { return nn::silu(x); }, same},
      {"gelu", [](const Array& x) { return nn::gelu(x); }, same},
      {"zero_plus", [](const Array& x) { return 0.0 + (x - 0.0) * 1.0 / 1.0; }, same},
      {"half", [](const Array& x) { return x / 2.0; }, same},
      {"wide", [](const Array& x) { return astype(astype(x, float64) * 1.5, x.dtype()); },
       [](double b) { return 1.5 * b; }},
      {"copy", [](const Array& x) { return copy(x); }, same},
      {"relu", [](const Array& x) { return nn::relu(x); }, same, false},
      {"abs", [](const Array& x) { return abs(x); }, same, false},
      {"floor", [](const Array& x) { return floor(x); }, [](double b) { return b + 1; }, false},
      {"stopped", [](const Array& x) { return stop_gradient(x); }, same, false},
      {"clip", [](const Array& x) { return clip(x, -0.7, 0.9); }, one, false},
      {"sum_i32",
       [](const Array& x) {
         return as_integers(x, int32, [](const Array& a) {
           return a.size() > 0 && a.rank() > 0 ? cumsum(a, 0) - max(a) : a;
         });
       },
       [](double b) { return 40 * b; }, false},
      {"sort_i16",
       [](const Array& x) {
         return as_integers(x, int16, [](const Array& a) { return a.rank() > 0 ? sort(a) : a; });
       },
       same, false},
      {"dot_i32",
       [](const Array& x) {
         return as_integers(x, int32, [](const Array& a) {
           return a.rank() == 2 ? remainder(matmul(a, matmul(transpose(a), a)), 50) : a * a % 31;
         });
       },
       [](double) { return 7.0; }, false},
      {"bits_u8",
       [](const Array& x) {
         return as_integers(x, uint8, [](const Array& a) {
           return bitwise_xor(left_shift(a, Array(2)), right_shift(a, Array(1))) + a * a;
         });
       },
       [](double) { return 32.0; }, false},
  };
  return all;
}

const std::vector<Binary>& binaries() {
  static const std::vector<Binary> all = {
      {"add", [](const Array& x, const Array& y) { return x + y; },
       [](double a, double b) { return a + b; }},
      {"sub", [](const Array& x, const Array& y) { return x - y; },
       [](double a, double b) { return a + b; }},
      {"mul", [](const Array& x, const Array& y) { return x * y; },
       [](double a, double b) { return a * b; }},
      {"div", [](const Array& x, const Array& y) { return x / (1.0 + y * y); },
       [](double a, double) { return a; }},
      {"atan2", [](const Array& x, const Array& y) { return atan2(x, 2.0 + y * y); },
       [](double, double) { return 2.0; }},
      {"logaddexp", [](const Array& x, const Array& y) { return logaddexp(x, y); },
       [](double a, double b) { return std::max(a, b) + 1; }},
      {"whole_power", [](const Array& x, const Array& y) { return power(2.0 + tanh(x), whole(y)); },
       [](double, double) { return 27.0; }, false},
      {"maximum", [](const Array& x, const Array& y) { return maximum(x, y); }, larger, false},
      {"minimum", [](const Array& x, const Array& y) { return minimum(x, y + 0.3); },
       [](double a, double b) { return std::max(a, b) + 1; }, false},
      {"parts_i8",
       [](const Array& x, const Array& y) {
         return as_integers(x, y, int8, [](const Array& a, const Array& b) {
           return floor_divide(a, bitwise_or(b, Array(1))) * b - remainder(a, maximum(b, 3));
         });
       },
       [](double, double) { return 16.0; }, false},
      {"equal_i64",
       [](const Array& x, const Array& y) {
         return as_integers(x, y, int64, [](const Array& a, const Array& b) {
           return where((a == b) | (a > 3), a * b, a - b);
         });
       },
       [](double a, double b) { return 2 * (a + 1) * (b + 1); }, false},
      {"mask_u32",
       [](const Array& x, const Array& y) {
         return as_integers(x, y, uint32, [](const Array& a, const Array& b) {
           return remainder(bitwise_and(a, bitwise_not(b)) + minimum(a, b), 97u);
         });
       },
       [](double, double) { return 13.0; }, false},
  };
  return all;
}

const std::vector<Reduce>& reduces() {
  static const std::vector<Reduce> all = {
      {"sum", [](const Array& x, const Shape& axes) { return sum(x, AxisArg(axes)); },
       [](double b, double n) { return b * n; }},
      {"mean", [](const Array& x, const Shape& axes) { return mean(x, AxisArg(axes)); },
       [](double b, double) { return b; }},
      {"logsumexp", [](const Array& x, const Shape& axes) { return logsumexp(x, AxisArg(axes)); },
       [](double b, double n) { return b + n; }},
      {"var", [](const Array& x, const Shape& axes) { return var(x, AxisArg(axes)); },
       [](double b, double) { return 4 * b * b; }},
      {"prod", [](const Array& x, const Shape& axes) { return prod(x, AxisArg(axes)); },
       [](double b, double n) { return std::pow(b, n); }},
      {"max", [](const Array& x, const Shape& axes) { return max(x, AxisArg(axes)); },
       [](double b, double) { return b; }, false},
      {"min", [](const Array& x, const Shape& axes) { return min(x, AxisArg(axes)); },
       [](double b, double) { return b; }, false},
  };
  return all;
}

}  // namespace spruce::random_programs
