// SPDX-License-Identifier: Apache-2.0
// What a model consists of, as a table.
#pragma once

#include <iosfwd>
#include <string>
#include <tuple>
#include <vector>

#include "spruce/nn/capture.h"
#include "spruce/transforms/compile/jit.h"

namespace spruce::nn {

/// How many numbers a model learns: the elements of its arrays, without buffers and keys. An array
/// that stands in two places counts twice.
template <class T>
int64_t count(const T& model) {
  int64_t n = 0;
  tree::internal::for_each_leaf(internal::observed_tree(model),
                                [&](const Array& a, tree::Leaf kind) {
                                  if (kind == tree::Leaf::kArray && a.defined()) n += a.size();
                                });
  return n;
}

/// One call of a layer.
struct LayerSummary {
  std::string path;       ///< where it stands in the model; "" for the model itself
  std::string type;       ///< "Linear"
  Aval output;            ///< the type of what it gives
  int64_t parameters;     ///< elements of its arrays and of those of the layers inside
  int64_t multiply_adds;  ///< of its products, without those of layers inside
};

/// A table of the calls of a model's layers.
struct Summary {
  std::vector<LayerSummary> layers;  ///< in order, each in front of those inside
  int64_t parameters = 0;            ///< of the model: count()
  int64_t buffers = 0;               ///< elements of its buffers
  int64_t multiply_adds = 0;         ///< of all layers

  /// The table: a line for each call, then the totals.
  std::string text() const;
  /// Prints text().
  friend std::ostream& operator<<(std::ostream& out, const Summary& summary);
};

namespace internal {
Summary summary_of(const LayerObserver& observer, const std::vector<tree::Entry>& entries);

// An argument of the model: the arrays among them are traced, and a context is a copy.
template <class T>
decltype(auto) argument(T& given, const std::vector<Array>& traced, size_t& next) {
  if constexpr (std::is_same_v<std::remove_const_t<T>, Array>)
    return Array(traced[next++]);
  else if constexpr (std::is_same_v<std::remove_const_t<T>, Context>)
    return Context(given);
  else
    return (given);
}

// Calls run(inputs...) with traced arrays in place of those among the inputs.
template <class Run, class... In>
void run_traced(const Run& run, In&... inputs) {
  std::vector<Array> arrays;
  const auto note = [&](const auto& x) {
    if constexpr (std::is_same_v<std::decay_t<decltype(x)>, Array>) arrays.push_back(x);
  };
  (note(inputs), ...);
  make_graph([&](const std::vector<Array>& traced) {
    size_t next = 0;
    std::apply(run, std::tuple<decltype(argument(inputs, traced, next))...>{
                        argument(inputs, traced, next)...});
    return traced;
  })(arrays);
}
}  // namespace internal

/// The layers of model(inputs...) with the shapes of their outputs, parameters and multiply-adds:
/// std::cout << nn::summary(model, x). The model is traced, not run: inputs that are arrays count
/// by shape and dtype alone, and a context stays as it is. Layers are found as by capture().
/// Products outside of layers, such as nn::linear in a model's own code, are not counted.
template <class M, class... In>
Summary summary(const M& model, In&&... inputs) {
  const auto& parts = internal::observed_tree(model);
  internal::LayerObserver observer(parts);
  Summary out;
  internal::run_traced(
      [&](auto&&... x) {
        static_cast<void>(model(x...));
        out = internal::summary_of(observer, tree::entries(parts));
      },
      inputs...);
  return out;
}

}  // namespace spruce::nn
