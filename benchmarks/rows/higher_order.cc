// SPDX-License-Identifier: Apache-2.0
// Rows that need transforms of transforms.
#include "benchmarks/nets.h"

namespace bench {
namespace {

Array mse(const Array& a, const Array& b) { return sp::mean(sp::square(a - b)); }

Call maml(const Settings& s) {
  const auto loss = [](const Mlp& p, const Array& x, const Array& y) {
    return mse(p(x, nn::relu), y);
  };
  const auto adapted = [loss](Mlp p, const Array& x, const Array& y, const Array& xt,
                              const Array& yt) {
    for (int i = 0; i < 5; ++i) {
      const Mlp g = sp::grad(loss)(p, x, y);
      p = sp::tree::map([](const Array& a, const Array& d) { return a - 0.01f * d; }, p, g);
    }
    return loss(p, xt, yt);
  };
  const auto mean_loss = [adapted](const Mlp& p, const Array& x, const Array& y, const Array& xt,
                                   const Array& yt) {
    return sp::mean(sp::vmap(adapted, {.in_axes = {sp::none, 0, 0, 0, 0}})(p, x, y, xt, yt));
  };
  const Array data = normals({25, 10, 1});
  return training_step(s, mean_loss, sp::optim::adam({.learning_rate = 1e-3f}),
                       Mlp::init({1, 40, 40, 1}), data, data, data, data);
}

Call per_example(const Settings& s) {
  const auto loss = [](const LeNet& p, const Array& x, const Array& y) {
    return nn::cross_entropy(p(sp::expand_dims(x, 0)), sp::expand_dims(y, 0));
  };
  return call_of(s, sp::vmap(sp::grad(loss), {.in_axes = {sp::none, 0, 0}}), LeNet::init(),
                 normals({64, 1, 28, 28}), integers(10, {64}));
}

Call hessian(const Settings& s) {
  const auto net = sp::tree::ravel(Mlp::init({4, 16, 16, 1}));
  const auto f = [net](const Array& v, const Array& x, const Array& y) {
    return mse(net.unravel(v)(x, nn::tanh), y);
  };
  return call_of(s, sp::hessian(f), net.flat, normals({32, 4}), normals({32, 1}));
}

Call pinn(const Settings& s) {
  const auto loss = [](const Mlp& p, const Array& points) {
    const auto laplacian = [](const Mlp& net, const Array& x) {
      const auto u = [&net](const Array& z) { return net(z, nn::tanh)[0]; };
      return sp::trace(sp::hessian(u)(x));
    };
    return sp::mean(sp::square(sp::vmap(laplacian, {.in_axes = {sp::none, 0}})(p, points)));
  };
  return training_step(s, loss, sp::optim::adam({.learning_rate = 1e-3f}),
                       Mlp::init({2, 64, 64, 64, 1}), normals({256, 2}));
}

Call ensemble(const Settings& s) {
  std::vector<Mlp> nets;
  for (int64_t i = 0; i < 10; ++i) nets.push_back(Mlp::init({20, 64, 64, 5}, i));
  Mlp stacked = nets[0];
  std::vector<std::vector<Array>> leaves(sp::tree::leaves(stacked).size());
  for (const Mlp& net : nets) {
    const std::vector<Array> all = sp::tree::leaves(net);
    for (size_t k = 0; k < all.size(); ++k) leaves[k].push_back(all[k]);
  }
  std::vector<Array> joined;
  for (const auto& l : leaves) joined.push_back(sp::stack(l));
  stacked = sp::tree::unflatten(stacked, joined);
  const auto loss = [](const Mlp& ps, const Array& x, const Array& y) {
    const auto one = [](const Mlp& p, const Array& xx, const Array& yy) {
      return nn::cross_entropy(p(xx, nn::relu), yy);
    };
    return sp::sum(sp::vmap(one, {.in_axes = {0, sp::none, sp::none}})(ps, x, y));
  };
  return training_step(s, loss, sp::optim::adam({.learning_rate = 1e-3f}), stacked,
                       normals({128, 20}), integers(5, {128}));
}

// The jacobian of sixty Runge-Kutta steps in the three constants of Lorenz' equations.
Call lorenz_jac(const Settings& s) {
  const auto final_state = [](const Array& constants) {
    const auto slope = [&constants](const Array& p) {
      const Array x = p[0], y = p[1], z = p[2];
      return sp::stack(
          {constants[0] * (y - x), x * (constants[1] - z) - y, x * y - constants[2] * z});
    };
    const auto step = [slope](const Array& p) {
      const float h = 0.005f;
      const Array a = slope(p), b = slope(p + h / 2 * a), c = slope(p + h / 2 * b);
      const Array d = slope(p + h * c);
      return std::pair{p + h / 6 * (a + 2 * b + 2 * c + d), sp::none};
    };
    return sp::scan(step, sp::ones({3}), {.length = 60}).first;
  };
  return call_of(s, sp::jacfwd(final_state), sp::array({10.0f, 28.0f, 8.0f / 3.0f}));
}

}  // namespace

std::vector<Row> higher_order_rows() {
  return {{"maml", maml}, {"per_example", per_example}, {"hessian", hessian},
          {"pinn", pinn}, {"ensemble", ensemble},       {"lorenz_jac", lorenz_jac}};
}

}  // namespace bench
