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
      {"copy", [](const Array& x) { return copy(x); }, same},
      {"relu", [](const Array& x) { return nn::relu(x); }, same, false},
      {"abs", [](const Array& x) { return abs(x); }, same, false},
      {"floor", [](const Array& x) { return floor(x); }, [](double b) { return b + 1; }, false},
      {"stopped", [](const Array& x) { return stop_gradient(x); }, same, false},
      {"clip", [](const Array& x) { return clip(x, -0.7, 0.9); }, one, false},
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
      {"maximum", [](const Array& x, const Array& y) { return maximum(x, y); }, larger, false},
      {"minimum", [](const Array& x, const Array& y) { return minimum(x, y + 0.3); },
       [](double a, double b) { return std::max(a, b) + 1; }, false},
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
