// SPDX-License-Identifier: Apache-2.0
// L-BFGS (Liu and Nocedal 1989, https://doi.org/10.1007/BF01589116) beside Adam: logistic
// regression on all digits at once, a convex problem without noise, for which it is made.
//
//   lbfgs --steps 200 --out lbfgs.png
//
// Both begin with zeros. A step of L-BFGS takes one direction and a line search along it, in about
// the time of three steps of Adam, of which there are three times as many, with a small and a large
// rate. Exits 0 if L-BFGS comes nearer to the least loss than both.
#include <spruce/data.h>
#include <spruce/spruce.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "arguments.h"
#include "digits.h"
#include "seconds.h"

namespace sp = spruce;
namespace nn = spruce::nn;
using sp::Array;

namespace {

struct Run {
  std::string name;
  nn::Linear model;
  std::vector<double> loss, time;  // after each step, seconds from the first on
};

// Repeats step(model) -> loss before it, and notes both.
template <class Step>
Run run(const std::string& name, const nn::Linear& start, int64_t steps, const Step& step) {
  Run out{name, start, {}, {}};
  const double begin = seconds();
  for (int64_t i = 0; i < steps; ++i) {
    out.loss.push_back(step(out.model).template item<double>());
    out.time.push_back(seconds() - begin);
  }
  return out;
}

double right(const nn::Linear& model, const Digits& d) {
  return nn::accuracy(model(d.images.reshape({-1, 64})), d.labels).item<float>();
}

}  // namespace

int main(int argc, char** argv) {
  const int64_t steps = number_argument(argc, argv, "--steps", 200);
  const std::string out = text_argument(argc, argv, "--out", "lbfgs.png");
  const auto [train, unseen] = load_digits();
  const Array x = train.images.reshape({-1, 64}).astype(sp::float64), y = train.labels;
  const auto loss = [&](const nn::Linear& m) {
    return nn::cross_entropy(m(x), y) + 1e-4 * sp::sum(sp::square(m.weight));
  };
  const nn::Linear start{sp::zeros({10, 64}, sp::float64), sp::zeros({10}, sp::float64)};

  // Where the loss is least, to more digits than are shown.
  const auto least = sp::jit([&](const nn::Linear& m) {
    return sp::minimize(loss, m, {.max_steps = 2000, .tolerance = 1e-9});
  })(start);
  std::printf("least loss %.9f, gradient %.1e after %lld steps of minimize()\n",
              least.value.item<double>(), least.gradient.item<double>(),
              static_cast<long long>(least.steps.item<int32_t>()));

  std::vector<Run> runs;
  {
    const auto optimizer = sp::optim::lbfgs();
    auto state = optimizer.init(start);
    const auto step = sp::jit([&](const nn::Linear& m, const sp::optim::LbfgsState& s) {
      const auto [value, grads] = sp::value_and_grad(loss)(m);
      const auto [updates, next] = optimizer.update(grads, s, m, loss);
      return std::tuple{sp::optim::apply_updates(m, updates), next, value};
    });
    step(start, state);  // compiles
    runs.push_back(run("L-BFGS", start, steps, [&](nn::Linear& m) {
      Array value;
      std::tie(m, state, value) = step(m, state);
      return value;
    }));
  }
  for (const auto& [name, rate] :
       {std::pair{"adam 0.01", 1e-2f}, std::pair{"big adam 0.1", 1e-1f}}) {
    const auto optimizer = sp::optim::adam({.learning_rate = rate});
    auto state = optimizer.init(start);
    const auto step = sp::jit([&](const nn::Linear& m, const auto& s) {
      const auto [value, grads] = sp::value_and_grad(loss)(m);
      const auto [updates, next] = optimizer.update(grads, s, m);
      return std::tuple{sp::optim::apply_updates(m, updates), next, value};
    });
    step(start, state);
    runs.push_back(run(name, start, 3 * steps, [&](nn::Linear& m) {
      Array value;
      std::tie(m, state, value) = step(m, state);
      return value;
    }));
  }

  std::printf("%-12s %6s %9s %12s %8s\n", "", "steps", "seconds", "above least", "unseen");
  std::vector<sp::data::Curve> curves;
  std::vector<double> above;
  for (const Run& r : runs) {
    sp::data::Curve curve{r.name, {}, {}};
    for (size_t i = 0; i < r.loss.size(); ++i) {
      curve.y.push_back(std::max(r.loss[i] - least.value.item<double>(), 1e-12));
      curve.x.push_back(static_cast<double>(i));
    }
    above.push_back(curve.y.back());
    std::printf("%-12s %6zu %9.3f %12.1e %8.3f\n", r.name.c_str(), r.loss.size(), r.time.back(),
                curve.y.back(), right(r.model, unseen));
    curves.push_back(std::move(curve));
  }
  const sp::data::CurvesOptions look{
      .title = "loss above the least", .x_label = "steps", .log_y = true};
  sp::data::save_png(out, sp::data::curves_image(curves, look));
  std::printf("%s", sp::data::curves_text(curves, look).c_str());
  std::printf("%s: the same as a picture\n", out.c_str());
  return above[0] < above[1] && above[0] < above[2] ? 0 : 1;
}
