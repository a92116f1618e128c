// SPDX-License-Identifier: Apache-2.0
// A physics-informed network (Raissi et al. 2019, https://doi.org/10.1016/j.jcp.2018.10.045): a
// network u(x, t) is fitted to the heat equation u_t = u_xx / pi^2 with u(x, 0) = sin(pi x) and
// u = 0 at both ends. Nothing but the equation is given; the derivatives are those of the network.
// L-BFGS finds the weights.
//
//   pinn --steps 400 --out pinn.svg
//
// Exits 0 if the network is near exp(-t) sin(pi x), the solution.
#include <spruce/data.h>
#include <spruce/spruce.h>

#include <cmath>
#include <cstdio>

#include "arguments.h"

namespace sp = spruce;
namespace nn = spruce::nn;
using sp::Array;

namespace {

constexpr float kPi = 3.14159265f;

struct Net {
  nn::Linear a, b, c;
  static Net init(const sp::Key& key) {
    const auto [k1, k2, k3] = sp::random::split<3>(key);
    return {nn::Linear::init(k1, 2, 24), nn::Linear::init(k2, 24, 24), nn::Linear::init(k3, 24, 1)};
  }
  // u at one place and time, both f[].
  Array operator()(const Array& x, const Array& t) const {
    return c(nn::tanh(b(nn::tanh(a(sp::stack({x, t}))))))[0];
  }
};

// How much the equation is violated at one point.
Array residual(const Net& u, const Array& x, const Array& t) {
  const auto along_x = [&](const Array& at) { return u(at, t); };
  const auto along_t = [&](const Array& at) { return u(x, at); };
  return sp::grad(along_t)(t) - sp::grad(sp::grad(along_x))(x) / (kPi * kPi);
}

Array mean_square(const Array& x) { return sp::mean(sp::square(x)); }

}  // namespace

int main(int argc, char** argv) {
  const int64_t steps = number_argument(argc, argv, "--steps", 400);
  const std::string out = text_argument(argc, argv, "--out", "pinn.svg");
  const auto [k1, k2, k3] = sp::random::split<3>(sp::Key(0));
  const Array x = sp::random::uniform(k1, {256}), t = sp::random::uniform(k2, {256});
  const Array edge = sp::linspace(0, 1, 32), zero = sp::zeros({32});
  const auto loss = [&](const Net& net) {
    const auto along = [&](const auto& f, const Array& a, const Array& b) {
      return sp::vmap([&](const Array& p, const Array& q) { return f(net, p, q); })(a, b);
    };
    const auto value = [](const Net& u, const Array& p, const Array& q) { return u(p, q); };
    return mean_square(along(residual, x, t)) +
           mean_square(along(value, edge, zero) - sp::sin(kPi * edge)) +
           mean_square(along(value, zero, edge)) + mean_square(along(value, zero + 1.0f, edge));
  };

  const Net start = Net::init(k3);
  std::printf("loss at the start %.4f\n", loss(start).item<float>());
  const auto found = sp::jit([&](const Net& net) {
    return sp::minimize(loss, net, {.max_steps = steps, .tolerance = 1e-6});
  })(start);
  std::printf("after %lld steps of L-BFGS %.7f\n",
              static_cast<long long>(found.steps.item<int32_t>()), found.value.item<float>());

  std::vector<sp::data::Curve> curves;
  float worst = 0;
  const Array places = sp::linspace(0, 1, 41);
  for (const float time : {0.0f, 0.5f, 1.0f}) {
    const auto of_place = [&](const Array& p) { return found.params(p, sp::array(time)); };
    const Array u = sp::vmap(of_place)(places), truth = std::exp(-time) * sp::sin(kPi * places);
    worst = std::max(worst, sp::max(sp::abs(u - truth)).item<float>());
    std::vector<double> y, at;
    for (const float v : u.data<float>()) y.push_back(v);
    for (const float v : places.data<float>()) at.push_back(v);
    curves.push_back({std::to_string(time).substr(0, 3) + " s", y, at});
  }
  const sp::data::CurvesOptions look{.title = "heat in a rod, cooled at both ends", .x_label = "x"};
  sp::data::save_text(out, sp::data::curves_svg(curves, look));
  std::printf("%s", sp::data::curves_text(curves, look).c_str());
  std::printf("furthest from the solution %.4f; the curves stand in %s\n", worst, out.c_str());
  return worst < 0.03f ? 0 : 1;
}
