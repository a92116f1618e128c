// SPDX-License-Identifier: Apache-2.0
// Factories: descriptions of layers that hold no parameters. init makes parameters, with input
// sizes taken from an example; factory(parameters) is a model, which is a pure function.
//
//   dense(out)  conv(out, kernel)  conv1d_layer(out, kernel)  embedding_layer(n, d)
//   layer_norm_layer()  batch_norm_layer()
//
// Layers without parameters and functions are parts of sequential() as they are: Dropout{0.5f},
// MaxPool2d{2}, flatten, relu.
#pragma once

#include "spruce/nn/context.h"

namespace spruce::nn {

/// A factory and its parameters together: callable like a layer. Keeps references; use it while
/// both live.
template <class Factory, class Parameters>
class Model {
 public:
  /// Refers to both, which have to live as long.
  Model(const Factory& factory, const Parameters& parameters)
      : factory_(&factory), parameters_(&parameters) {}

  /// The model in evaluation mode.
  Array operator()(const Array& x) const {
    Context ctx;
    return factory_->apply(*parameters_, x, ctx);
  }
  /// The model in the mode of the context, which takes the new values of buffers.
  Array operator()(const Array& x, Context& ctx) const {
    return factory_->apply(*parameters_, x, ctx);
  }

 private:
  const Factory* factory_;
  const Parameters* parameters_;
};

/// The factory of one layer struct: `make(key, example)` builds the layer, which is its own
/// parameters.
template <class Make>
class LayerFactory {
 public:
  /// `make` is a function (Key, Array) -> layer.
  explicit LayerFactory(Make make) : make_(std::move(make)) {}

  /// The layer for inputs like `example` (only its shape and dtype count).
  auto init(const Key& key, const Array& example) const { return make_(key, example); }
  /// The layer at x.
  template <class L>
  Array apply(const L& layer, const Array& x, Context& ctx) const {
    return call_layer(layer, x, ctx);
  }
  /// The model with these parameters: a pure function of its input.
  template <class L>
  Model<LayerFactory, L> operator()(const L& parameters) const {
    return {*this, parameters};
  }

 private:
  Make make_;
};

/// The parameters of a part that has none.
struct NoParameters {};

/// A factory without parameters around any function of an array: nn::relu, a lambda.
template <class F>
class FunctionFactory {
 public:
  /// `f` is a function of an array, or of an array and a Context&.
  explicit FunctionFactory(F f) : f_(std::move(f)) {}

  /// Nothing.
  NoParameters init(const Key&, const Array&) const { return {}; }
  /// The function at x.
  Array apply(const NoParameters&, const Array& x, Context& ctx) const {
    return call_layer(f_, x, ctx);
  }

 private:
  F f_;
};

namespace internal {

template <class P>
concept IsFactory = requires(const P& p, const Key& key, const Array& x) {
  p.init(key, x);
};

template <class P>
auto as_factory(P part) {
  if constexpr (IsFactory<P>)
    return part;
  else
    return FunctionFactory<P>(std::move(part));
}

}  // namespace internal

/// Parts one after the other. Parameters are a tuple with one entry for each part.
template <class... Parts>
class Sequential {
 public:
  /// The parts, which are factories, in the order in which an input goes through them.
  explicit Sequential(Parts... parts) : parts_(std::move(parts)...) {}

  /// Part i gets the i-th of split(key, number of parts), and an example that has gone through the
  /// parts before it.
  auto init(const Key& key, const Array& example) const {
    const Key keys = random::split(key, static_cast<int64_t>(sizeof...(Parts)));
    Array x = example;
    Context ctx;
    int64_t i = 0;
    const auto one = [&](const auto& part) {
      auto parameters = part.init(keys[i++], x);
      x = part.apply(parameters, x, ctx);
      return parameters;
    };
    return std::apply(
        [&](const auto&... part) {
          return std::tuple<decltype(part.init(key, x))...>{one(part)...};
        },
        parts_);
  }
  /// x through all parts.
  template <class P>
  Array apply(const P& parameters, const Array& x, Context& ctx) const {
    Array y = x;
    [&]<size_t... I>(std::index_sequence<I...>) {
      ((y = std::get<I>(parts_).apply(std::get<I>(parameters), y, ctx)), ...);
    }
    (std::index_sequence_for<Parts...>{});
    return y;
  }
  /// The model with these parameters: a pure function of its input.
  template <class P>
  Model<Sequential, P> operator()(const P& parameters) const {
    return {*this, parameters};
  }

 private:
  std::tuple<Parts...> parts_;
};

/// Factories and functions, one after the other.
template <class... Parts>
auto sequential(Parts... parts) {
  return Sequential<decltype(internal::as_factory(std::move(parts)))...>(
      internal::as_factory(std::move(parts))...);
}

}  // namespace spruce::nn
