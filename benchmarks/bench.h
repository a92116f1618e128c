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
  std::function<void()> lower;              ///< gets the compiled function ready for `run`
};

struct Row {
  std::string name;
  std::function<Call(const Settings&)> make;
};

/// Rows by theme; rows() joins them.
std::vector<Row> function_rows();
std::vector<Row> network_rows();
std::vector<Row> by_hand_rows();
std::vector<Row> bridge_rows();
std::vector<Row> higher_order_rows();
std::vector<Row> gather_rows();
std::vector<Row> join_rows();
std::vector<Row> filter_rows();
std::vector<Row> layer_rows();
std::vector<Row> optimizer_rows();
std::vector<Row> rows();

/// Arrays from JAX's key(9), as the peers have them.
Array normals(const sp::Shape& shape);
Array integers(int64_t high, const sp::Shape& shape);

/// f as it is, or under jit.
template <class F>
class MaybeJit {
 public:
  MaybeJit(const Settings& settings, F f) : eager_(settings.eager), plain_(f), compiled_(f) {}

  template <class... Args>
  auto operator()(Args&&... args) const {
    return eager_ ? plain_(std::as_const(args)...) : compiled_(std::forward<Args>(args)...);
  }
  template <class... Args>
  void lower(const Args&... args) const {
    if (!eager_) (void)compiled_.lower(args...).memory();
  }

 private:
  bool eager_;
  F plain_;
  decltype(sp::jit(std::declval<F>())) compiled_;
};

/// A call that applies a function to fixed arguments.
template <class F, class... Args>
Call call_of(const Settings& settings, F f, Args... args) {
  const MaybeJit<F> run(settings, f);
  return {[run, ... args = args] {
            const auto out = run(args...);
            return sp::tree::leaves(out);
          },
          [f, ... args = args] { return sp::make_graph(f)(args...); },
          [run, ... args = args] { run.lower(args...); }};
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
  const MaybeJit<std::remove_const_t<decltype(plain)>> step(settings, plain);
  return {[step, carry, ... data = data] {
            auto [p, s, value] = step(std::move(carry->first), std::move(carry->second), data...);
            carry->first = std::move(p);
            carry->second = std::move(s);
            return std::vector<Array>{value};
          },
          [plain, carry, ... data = data] {
            return sp::make_graph(plain)(carry->first, carry->second, data...);
          },
          [step, carry, ... data = data] { step.lower(carry->first, carry->second, data...); }};
}

}  // namespace bench
