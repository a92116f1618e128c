// SPDX-License-Identifier: Apache-2.0
// Single functions over a million floats, matrix products, and what a call costs.
#include "benchmarks/bench.h"

namespace bench {

std::vector<Row> function_rows() {
  std::vector<Row> out;
  const auto add = [&](const std::string& name, auto f) {
    out.push_back({name + "_1m", [f](const Settings& s) {
                     return call_of(s, f, normals({1024, 1024}));
                   }});
  };
  add("exp", [](const Array& x) { return sp::exp(x); });
  add("tanh", [](const Array& x) { return sp::tanh(x); });
  add("erf", [](const Array& x) { return sp::erf(x); });
  add("gelu",
      [](const Array& x) { return nn::gelu(x, {.approximate = nn::GeluApproximation::kTanh}); });
  add("softmax", [](const Array& x) { return nn::softmax(x); });
  add("sum", [](const Array& x) { return sp::sum(x); });
  add("layer_norm", [](const Array& x) { return nn::layer_norm(x, {1024}); });
  add("transpose", [](const Array& x) { return sp::transpose(x); });

  for (const auto& [m, k, n] :
       {std::array<int64_t, 3>{64, 64, 64}, {128, 784, 512}, {1024, 1024, 1024}}) {
    const std::string name =
        "matmul_" + std::to_string(m) + "x" + std::to_string(k) + "x" + std::to_string(n);
    const sp::Shape a{m, k}, b{k, n};
    out.push_back({name, [a, b](const Settings& s) {
                     return call_of(
                         s, [](const Array& x, const Array& y) { return sp::matmul(x, y); },
                         normals(a), normals(b));
                   }});
  }
  out.push_back({"eager_add10", [](const Settings&) {
                   return call_of(
                       {.eager = true}, [](const Array& x, const Array& y) { return x + y; },
                       normals({10}), normals({10}));
                 }});
  out.push_back({"call10", [](const Settings& s) {
                   const std::vector<Array> ten(10, normals({16}));
                   return call_of(
                       s,
                       [](const std::vector<Array>& t) {
                         return sp::tree::map([](const Array& a) { return a + 1.0f; }, t);
                       },
                       ten);
                 }});
  return out;
}

}  // namespace bench
