// SPDX-License-Identifier: Apache-2.0
// Factories: descriptions of layers that hold no parameters. init makes parameters, with input
// sizes taken from an example; factory(parameters) is a model, which is a pure function.
//
//   dense(out)  conv1d_layer(out, kernel)  conv2d_layer(out, kernel)  embedding_layer(n, d)
//   layer_norm_layer()  batch_norm_layer()
//
// Layers without parameters and functions are parts of sequential() as they are: Dropout{0.5f},
// MaxPool2d{2}, flatten, relu. So are layers that are made already, such as Linear::init(key, 8,
// 2): they are their own initial parameters.
#pragma once

#include <memory>

#include "spruce/nn/context.h"
#include "spruce/nn/holds_arrays.h"

namespace spruce::nn {

/// A factory and its parameters together: callable like a layer. A value: it holds a copy of both,
/// whose arrays are shared, and stays what it is when they are assigned to. With a context, the
/// new buffers are those of the parameters that it was made from: ctx.updated(parameters), or
/// ctx.updated(model.parameters()).
template <class Factory, class Parameters>
class Model {
 public:
  /// Copies both.
  Model(Factory factory, const Parameters& parameters) : Model(std::move(factory), parameters, 0) {
    size_t i = 0;
    tree::internal::for_each_leaf(parameters, [&](const Array& a, tree::Leaf kind) {
      if (kind == tree::Leaf::kBuffer) copies_[i++].origin = &a;
    });
  }
  /// Takes the parameters over.
  template <class P>
  requires(std::is_same_v<P, Parameters>) Model(Factory factory, P&& parameters)
      : Model(std::move(factory), std::move(parameters), 0) {}

  /// The model in evaluation mode.
  Array operator()(const Array& x, Loc loc = Loc::current()) const {
    Context ctx;
    return factory_.apply(*parameters_, x, ctx, loc);
  }
  /// The model in the mode of the context, which takes the new values of buffers.
  Array operator()(const Array& x, Context& ctx, Loc loc = Loc::current()) const {
    if (!copies_.empty() && (ctx.owners.empty() || ctx.owners.back() != parameters_)) {
      ctx.copies.insert(ctx.copies.end(), copies_.begin(), copies_.end());
      ctx.owners.push_back(parameters_);
    }
    return factory_.apply(*parameters_, x, ctx, loc);
  }

  /// The factory that it was made by.
  const Factory& factory() const { return factory_; }
  /// The parameters as they were given.
  const Parameters& parameters() const { return *parameters_; }

 private:
  template <class P>
  Model(Factory factory, P&& parameters, int)
      : factory_(std::move(factory)),
        parameters_(std::make_shared<const Parameters>(std::forward<P>(parameters))) {
    tree::internal::for_each_leaf(*parameters_, [&](const Array& a, tree::Leaf kind) {
      if (kind == tree::Leaf::kBuffer) copies_.push_back({&a, &a});
    });
  }

  Factory factory_;
  std::shared_ptr<const Parameters> parameters_;
  std::vector<Context::Copy> copies_;  // one for each buffer
};

/// The factory of one layer struct: `make(key, example)` builds the layer, which is its own
/// parameters.
template <class Make>
class LayerFactory {
 public:
  /// `make` is a function (Key, Array) -> layer.
  explicit LayerFactory(Make make) : make_(std::move(make)) {}

  /// The layer for inputs like `example` (only its shape and dtype count).
  auto init(const Key& key, const Array& example, Loc loc = Loc::current()) const {
    const LocScope at(loc);
    return make_(key, example);
  }
  /// The layer at x.
  template <class L>
  Array apply(const L& layer, const Array& x, Context& ctx, Loc loc = Loc::current()) const {
    return call_layer(layer, x, ctx, loc);
  }
  /// The model with these parameters: a pure function of its input.
  template <class L>
  Model<LayerFactory, std::remove_cvref_t<L>> operator()(L&& parameters) const {
    return {*this, std::forward<L>(parameters)};
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
  Array apply(const NoParameters&, const Array& x, Context& ctx, Loc loc = Loc::current()) const {
    return call_layer(f_, x, ctx, loc);
  }

 private:
  F f_;
};

/// The factory of a layer that is made already, and is its own initial parameters.
template <class L>
class MadeLayer {
 public:
  /// Keeps the layer.
  explicit MadeLayer(L layer) : layer_(std::move(layer)) {}

  /// The layer as it was given.
  L init(const Key&, const Array&) const { return layer_; }
  /// A layer of its type at x.
  Array apply(const L& layer, const Array& x, Context& ctx, Loc loc = Loc::current()) const {
    return call_layer(layer, x, ctx, loc);
  }

 private:
  L layer_;
};

/// The factory of a model, whose parameters are the initial ones.
template <class M>
class MadeModel {
 public:
  /// Keeps the model.
  explicit MadeModel(M model) : model_(std::move(model)) {}

  /// The parameters of the model.
  auto init(const Key&, const Array&) const { return model_.parameters(); }
  /// The model at x, with other parameters of its type.
  template <class P>
  Array apply(const P& parameters, const Array& x, Context& ctx, Loc loc = Loc::current()) const {
    return model_.factory().apply(parameters, x, ctx, loc);
  }

 private:
  M model_;
};

namespace internal {

template <class P>
concept IsFactory = requires(const P& p, const Key& key, const Array& x) {
  p.init(key, x);
};

template <class P>
concept IsLayer = std::is_invocable_r_v<Array, const P&, const Array&, Context&> ||
    std::is_invocable_r_v<Array, const P&, const Array&>;

template <class P>
inline constexpr bool kIsModel = false;
template <class F, class P>
inline constexpr bool kIsModel<Model<F, P>> = true;

template <class P>
auto as_factory(P part) {
  if constexpr (IsFactory<P>)
    return part;
  else if constexpr (kIsModel<P>)
    return MadeModel<P>(std::move(part));
  else if constexpr (holds_arrays<P>())
    return MadeLayer<P>(std::move(part));
  else
    return FunctionFactory<P>(std::move(part));
}

// Parts that users write may take no line.
template <class Part>
auto init_part(const Part& part, const Key& key, const Array& example, Loc loc) {
  if constexpr (requires { part.init(key, example, loc); })
    return part.init(key, example, loc);
  else
    return part.init(key, example);
}
template <class Part, class P>
Array apply_part(const Part& part, const P& parameters, const Array& x, Context& ctx, Loc loc) {
  if constexpr (requires { part.apply(parameters, x, ctx, loc); })
    return part.apply(parameters, x, ctx, loc);
  else
    return part.apply(parameters, x, ctx);
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
  auto init(const Key& key, const Array& example, Loc loc = Loc::current()) const {
    const FunctionScope within(loc);
    const Key keys = random::split(key, static_cast<int64_t>(sizeof...(Parts)), loc);
    Array x = example;
    Context ctx;
    int64_t i = 0;
    const auto one = [&](const auto& part) {
      auto parameters = internal::init_part(part, keys[i++], x, loc);
      x = internal::apply_part(part, parameters, x, ctx, loc);
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
  Array apply(const P& parameters, const Array& x, Context& ctx, Loc loc = Loc::current()) const {
    const FunctionScope within(loc);
    Array y = x;
    [&]<size_t... I>(std::index_sequence<I...>) {
      ((y = internal::apply_part(std::get<I>(parts_), std::get<I>(parameters), y, ctx, loc)), ...);
    }
    (std::index_sequence_for<Parts...>{});
    return y;
  }
  /// The model with these parameters: a pure function of its input.
  template <class P>
  Model<Sequential, std::remove_cvref_t<P>> operator()(P&& parameters) const {
    return {*this, std::forward<P>(parameters)};
  }

 private:
  std::tuple<Parts...> parts_;
};

/// Factories, layers, models and functions of an array, one after the other.
template <class... Parts>
auto sequential(Parts&&... parts) {
  constexpr bool kFit =
      ((internal::IsFactory<std::decay_t<Parts>> || internal::IsLayer<std::decay_t<Parts>>)&&...);
  static_assert(
      kFit,
      "spruce: a part of sequential is a factory such as dense(8), or a layer or function "
      "that takes an Array and returns one; a Module has to be called by a lambda, and "
      "what returns more than an Array, such as LSTM, as well");
  if constexpr (kFit) {
    return Sequential<decltype(internal::as_factory(std::decay_t<Parts>(std::forward<Parts>(
        parts))))...>(internal::as_factory(std::decay_t<Parts>(std::forward<Parts>(parts)))...);
  } else {
    return Sequential<>();
  }
}

}  // namespace spruce::nn
