// SPDX-License-Identifier: Apache-2.0
// Rows of the benchmark: each is one call to be timed, made when it is asked for.
#pragma once

#include <spruce/spruce.h>

#include <functional>
#include <string>
#include <vector>

namespace bench {

namespace sp = spruce;
namespace nn = spruce::nn;
using sp::Array;

/// How a row is to run.
struct Settings {
  bool eager = false;  ///< without jit
};

/// The work of a row, ready to be done any number of times.
struct Call {
  std::function<std::vector<Array>()> run;  ///< all result arrays (a training step: the loss)
  std::function<sp::Graph()> graph;         ///< the same work as a graph, to count what it needs
};

struct Row {
  std::string name;
  std::function<Call(const Settings&)> make;
};

/// Rows by theme; rows() joins them.
std::vector<Row> function_rows();
std::vector<Row> network_rows();
std::vector<Row> higher_order_rows();
std::vector<Row> rows();

/// Arrays from JAX's key(9), as the peers have them.
Array normals(const sp::Shape& shape);
Array integers(int64_t high, const sp::Shape& shape);

/// f as it is, or under jit.
template <class F>
auto maybe_jit(const Settings& settings, F f) {
  return [eager = settings.eager, plain = f, compiled = sp::jit(f)](auto&&... args) {
    return eager ? plain(std::as_const(args)...) : compiled(std::forward<decltype(args)>(args)...);
  };
}

/// A call that applies a function to fixed arguments.
template <class F, class... Args>
Call call_of(const Settings& settings, F f, Args... args) {
  return {[run = maybe_jit(settings, f), ... args = args] {
            const auto out = run(args...);
            return sp::tree::leaves(out);
          },
          [f, ... args = args] { return sp::make_graph(f)(args...); }};
}

/// One training step: value and gradient of loss(params, data...), an optimizer, donated parameters
/// and state.
template <class Loss, class Optimizer, class Params, class... Data>
Call training_step(const Settings& settings, Loss loss, Optimizer optimizer, Params params,
                   Data... data) {
  const auto plain = [loss, optimizer](const Params& p, const auto& state, const Data&... d) {
    const auto [value, grads] = sp::value_and_grad(loss)(p, d...);
    const auto [updates, next] = optimizer.update(grads, state, p);
    return std::tuple{sp::optim::apply_updates(p, updates), next, value};
  };
  auto carry = std::make_shared<std::pair<Params, decltype(optimizer.init(params))>>(
      params, optimizer.init(params));
  return {[step = maybe_jit(settings, plain), carry, ... data = data] {
            auto [p, s, value] = step(std::move(carry->first), std::move(carry->second), data...);
            carry->first = std::move(p);
            carry->second = std::move(s);
            return std::vector<Array>{value};
          },
          [plain, carry, ... data = data] {
            return sp::make_graph(plain)(carry->first, carry->second, data...);
          }};
}

}  // namespace bench
