// SPDX-License-Identifier: Apache-2.0
// Programs of any number of equations, for what has to stay near linear in it.
#pragma once

#include <functional>

#include "spruce/core/ops/ops.h"
#include "spruce/transforms/transforms.h"

namespace spruce::bench {

struct LongProgram {
  const char* name;
  std::function<Graph(int)> make;  // of about that many equations
};

inline Array lorenz(const Array& s) {
  const Array x = s[{slice(0, 1)}], y = s[{slice(1, 2)}], z = s[{slice(2, 3)}];
  return concatenate(
      std::vector<Array>{10.0f * (y - x), x * (28.0f - z) - y, x * y - (8.0f / 3) * z}, 0);
}

inline Array runge_kutta(Array s, int steps) {
  const float h = 0.01f;
  for (int i = 0; i < steps; ++i) {
    const Array k1 = lorenz(s), k2 = lorenz(s + 0.5f * h * k1), k3 = lorenz(s + 0.5f * h * k2),
                k4 = lorenz(s + h * k3);
    s = s + h / 6.0f * (k1 + 2.0f * k2 + 2.0f * k3 + k4);
  }
  return s;
}

inline Graph jacobian_of_steps(int n) {
  return make_graph(jacrev([&](const Array& s) { return runge_kutta(s, n / 165); }))(ones({3}));
}

// Products, reductions and broadcasts, and their derivatives.
inline Graph gradient_of_layers(int n) {
  const auto loss = [&](const Array& w) {
    Array y = w;
    for (int i = 0; i < n / 12; ++i) y = tanh(matmul(y, w) + sum(w, 0));
    return sum(y);
  };
  return make_graph(grad(loss))(ones({32, 32}));
}

inline Graph gradient_of_chain(int n) {
  const auto loss = [&](const Array& x) {
    Array y = x;
    for (int i = 0; i < n / 4; ++i) y = i % 3 != 0 ? tanh(y) : y * 1.01f + x;
    return sum(y);
  };
  return make_graph(grad(loss))(ones({64, 64}));
}

// Many results that differ in a constant alone.
inline Graph independent(int n) {
  return make_graph([&](const Array& x) {
    std::vector<Array> results;
    for (int i = 0; i < n / 3; ++i) results.push_back(exp(x * static_cast<float>(i)) + x);
    return results;
  })(ones({4}));
}

inline Graph rows_of_one_array(int n) {
  return make_graph([&](const Array& rows) {
    Array h = zeros({8});
    for (int i = 0; i < n / 4; ++i) h = tanh(h + rows[i]);
    return h;
  })(ones({n / 4, 8}));
}

inline Graph products(int n) {
  return make_graph([&](const Array& w) {
    Array y = w;
    for (int i = 0; i < n; ++i) y = matmul(y, w);
    return y;
  })(ones({32, 32}));
}

inline Graph updates(int n) {
  return make_graph([&](const Array& x) {
    Array y = x;
    for (int i = 0; i < n / 3; ++i) y = y.at(i % 64).add(sum(y, 0) * 0.1f);
    return y;
  })(ones({64, 64}));
}

inline Graph many_rows(int n) {
  const auto loss = [&](const Array& w) {
    Array y = full({4096, 64}, 0.5f);
    for (int i = 0; i < n / 12; ++i) y = tanh(matmul(y, w) + sum(w, 0));
    return sum(y);
  };
  return make_graph(grad(loss))(ones({64, 64}));
}

inline const LongProgram kLongPrograms[] = {
    {"jacobian_of_steps", jacobian_of_steps},
    {"gradient_of_layers", gradient_of_layers},
    {"gradient_of_chain", gradient_of_chain},
    {"independent", independent},
    {"rows_of_one_array", rows_of_one_array},
    {"products", products},
    {"updates", updates},
    {"many_rows", many_rows},
};

}  // namespace spruce::bench
