// SPDX-License-Identifier: Apache-2.0
// Factories: descriptions of layers that hold no parameters. init makes parameters, with input
// sizes taken from an example; factory(parameters) is a model, which is a pure function.
//
// That of a layer has the layer's name with _layer behind it: linear_layer(out), or dense(out) for
// short, conv2d_layer(out, kernel), batch_norm_layer(). layer_factories.h has those that do not
// stand beside their layer. repeat, residual and parallel (combinators.h) make larger ones.
//
// Layers without parameters and functions are parts of sequential() as they are: Dropout{0.5f},
// MaxPool2d{2}, flatten, relu. So are layers that are made already, such as Linear::init(key, 8,
// 2): they are their own initial parameters.
#pragma once

#include <memory>

#include "spruce/core/callable.h"
#include "spruce/nn/call_layer.h"
#include "spruce/nn/holds_arrays.h"
#include "spruce/nn/part_scope.h"
#include "spruce/nn/type_name.h"

namespace spruce::nn {
namespace internal {

// Parts that users write may take no line, and need no more than init and apply.
template <class Part, class... X>
auto init_part(const Part& part, const Key& key, Loc loc, const X&... examples) {
  if constexpr (requires { part.init(key, examples..., loc); })
    return part.init(key, examples..., loc);
  else
    return part.init(key, examples...);
}
template <class Part, class P, class... A>
auto run_part(const Part& part, const P& parameters, Context& ctx, Loc loc, const A&... args) {
  if constexpr (requires { part.run(parameters, ctx, loc, args...); })
    return part.run(parameters, ctx, loc, args...);
  else if constexpr (requires { part.apply(parameters, args..., ctx, loc); })
    return part.apply(parameters, args..., ctx, loc);
  else
    return part.apply(parameters, args..., ctx);
}
/// The name of a part in errors: that of the layer or function that it is.
template <class Part, class P>
std::string part_name() {
  if constexpr (requires { typename Part::Function; })
    return name_of<typename Part::Function>();
  else if constexpr (tree::internal::IsTuple<P>::value || tree::internal::IsVector<P>::value)
    return name_of<Part>();
  else
    return name_of<P>();
}
// What one part gives to the next: the elements of a tuple or pair are its arguments.
template <class V, class F>
auto with_arguments(const V& value, F&& f) {
  if constexpr (tree::internal::IsTuple<V>::value)
    return std::apply(f, value);
  else
    return f(value);
}

}  // namespace internal

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

  /// The model in evaluation mode, at up to three inputs.
  template <class A>
  auto operator()(const A& x, Loc loc = Loc::current()) const {
    Context ctx;
    return internal::run_part(factory_, *parameters_, ctx, loc, x);
  }
  template <class A, class B>
  auto operator()(const A& a, const B& b, Loc loc = Loc::current()) const {
    Context ctx;
    return internal::run_part(factory_, *parameters_, ctx, loc, a, b);
  }
  template <class A, class B, class C>
  auto operator()(const A& a, const B& b, const C& c, Loc loc = Loc::current()) const {
    Context ctx;
    return internal::run_part(factory_, *parameters_, ctx, loc, a, b, c);
  }
  /// The model in the mode of the context, which takes the new values of buffers.
  template <class A>
  auto operator()(const A& x, Context& ctx, Loc loc = Loc::current()) const {
    return run(ctx, loc, x);
  }
  template <class A, class B>
  auto operator()(const A& a, const B& b, Context& ctx, Loc loc = Loc::current()) const {
    return run(ctx, loc, a, b);
  }
  template <class A, class B, class C>
  auto operator()(const A& a, const B& b, const C& c, Context& ctx,
                  Loc loc = Loc::current()) const {
    return run(ctx, loc, a, b, c);
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
  template <class... A>
  auto run(Context& ctx, Loc loc, const A&... args) const {
    if (!copies_.empty() && (ctx.owners.empty() || ctx.owners.back() != parameters_)) {
      ctx.copies.insert(ctx.copies.end(), copies_.begin(), copies_.end());
      ctx.owners.push_back(parameters_);
    }
    return internal::run_part(factory_, *parameters_, ctx, loc, args...);
  }

  Factory factory_;
  std::shared_ptr<const Parameters> parameters_;
  std::vector<Context::Copy> copies_;  // one for each buffer
};

/// What factories have in common. A factory has init(key, examples...), which makes parameters, and
/// run(parameters, context, line, arguments...), which is the model.
template <class Self>
class Factory {
 public:
  /// run() of one input, as sequential() calls the parts that users write.
  template <class P>
  auto apply(const P& parameters, const Array& x, Context& ctx, Loc loc = Loc::current()) const {
    return self().run(parameters, ctx, loc, x);
  }
  /// The model with these parameters: a pure function of its inputs.
  template <class P>
  Model<Self, std::remove_cvref_t<P>> operator()(P&& parameters) const {
    return {self(), std::forward<P>(parameters)};
  }

 private:
  const Self& self() const { return static_cast<const Self&>(*this); }
};

/// The factory of one layer struct: `make(key, examples...)` builds the layer, which is its own
/// parameters.
template <class Make>
class LayerFactory : public Factory<LayerFactory<Make>> {
 public:
  /// `make` is a function (Key, examples...) -> layer.
  explicit LayerFactory(Make make) : make_(std::move(make)) {}

  /// The layer for inputs like the examples (only their shapes and dtypes count).
  template <class A>
  requires(std::is_invocable_v<const Make&, const Key&, const A&>) auto init(
      const Key& key, const A& example, Loc loc = Loc::current()) const {
    const LocScope at(loc);
    return make_(key, example);
  }
  template <class A, class B>
  requires(std::is_invocable_v<const Make&, const Key&, const A&, const B&>) auto init(
      const Key& key, const A& a, const B& b, Loc loc = Loc::current()) const {
    const LocScope at(loc);
    return make_(key, a, b);
  }
  template <class A, class B, class C>
  requires(std::is_invocable_v<const Make&, const Key&, const A&, const B&, const C&>) auto init(
      const Key& key, const A& a, const B& b, const C& c, Loc loc = Loc::current()) const {
    const LocScope at(loc);
    return make_(key, a, b, c);
  }
  /// The layer's result.
  template <class L, class... A>
  auto run(const L& layer, Context& ctx, Loc loc, const A&... args) const {
    const FunctionScope within(loc);
    return internal::call_with_context(layer, ctx, loc, args...);
  }

 private:
  Make make_;
};

/// The parameters of a part that has none.
struct NoParameters {};

/// A factory without parameters around any function: nn::relu, a lambda of one or several inputs.
template <class F>
class FunctionFactory : public Factory<FunctionFactory<F>> {
 public:
  /// The type of the function.
  using Function = F;
  /// `f` takes the inputs, and a Context& behind them if it needs one.
  explicit FunctionFactory(F f) : f_(std::move(f)) {}

  /// Nothing.
  template <class... X>
  NoParameters init(const Key&, const X&...) const {
    return {};
  }
  /// The function's result.
  template <class... A>
  auto run(const NoParameters&, Context& ctx, Loc loc, const A&... args) const {
    const FunctionScope within(loc);
    return internal::call_with_context(f_, ctx, loc, args...);
  }

 private:
  F f_;
};

/// The factory of a layer that is made already, and is its own initial parameters.
template <class L>
class MadeLayer : public Factory<MadeLayer<L>> {
 public:
  /// Keeps the layer.
  explicit MadeLayer(L layer) : layer_(std::move(layer)) {}

  /// The layer as it was given.
  template <class... X>
  L init(const Key&, const X&...) const {
    return layer_;
  }
  /// The result of a layer of its type.
  template <class... A>
  auto run(const L& layer, Context& ctx, Loc loc, const A&... args) const {
    const FunctionScope within(loc);
    return internal::call_with_context(layer, ctx, loc, args...);
  }

 private:
  L layer_;
};

/// The factory of a model, whose parameters are the initial ones.
template <class M>
class MadeModel : public Factory<MadeModel<M>> {
 public:
  /// Keeps the model.
  explicit MadeModel(M model) : model_(std::move(model)) {}

  /// The parameters of the model.
  template <class... X>
  auto init(const Key&, const X&...) const {
    return model_.parameters();
  }
  /// The model's result, with other parameters of its type.
  template <class P, class... A>
  auto run(const P& parameters, Context& ctx, Loc loc, const A&... args) const {
    return internal::run_part(model_.factory(), parameters, ctx, loc, args...);
  }

 private:
  M model_;
};

namespace internal {

template <class P>
concept IsFactory = std::derived_from<P, Factory<P>> ||
    requires(const P& p, const Key& key, const Array& x) {
  p.init(key, x);
};

// A layer or any function, but no Module, whose parameters it would hide.
template <class P>
concept IsLayer = spruce::internal::is_function<P>() && !std::is_polymorphic_v<P>;

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
template <class P>
using AsFactory = decltype(as_factory(std::declval<std::decay_t<P>>()));

/// What sequential, repeat and the others ask of their parts.
template <class... Parts>
constexpr bool check_parts() {
  constexpr bool kFit = ((IsFactory<std::decay_t<Parts>> || IsLayer<std::decay_t<Parts>>)&&...);
  static_assert(kFit,
                "spruce: a part of sequential is a factory such as dense(8), or a layer or "
                "function; a Module has to be called by a lambda");
  return kFit;
}

}  // namespace internal

/// Parts one after the other. Parameters are a tuple with one entry for each part. Where a part
/// gives a tuple or pair, its elements are the arguments of the next.
template <class... Parts>
class Sequential : public Factory<Sequential<Parts...>> {
 public:
  /// The parts, which are factories, in the order in which an input goes through them.
  explicit Sequential(Parts... parts) : parts_(std::move(parts)...) {}

  /// Part i gets the i-th of split(key, number of parts), and examples that have gone through the
  /// parts before it.
  template <class A>
  auto init(const Key& key, const A& example, Loc loc = Loc::current()) const {
    return init_all(key, loc, example);
  }
  template <class A, class B>
  auto init(const Key& key, const A& a, const B& b, Loc loc = Loc::current()) const {
    return init_all(key, loc, std::tuple<A, B>(a, b));
  }
  template <class A, class B, class C>
  auto init(const Key& key, const A& a, const B& b, const C& c, Loc loc = Loc::current()) const {
    return init_all(key, loc, std::tuple<A, B, C>(a, b, c));
  }
  /// The inputs through all parts.
  template <class P, class... A>
  auto run(const P& parameters, Context& ctx, Loc loc, const A&... args) const {
    const FunctionScope within(loc);
    if constexpr (sizeof...(A) == 1)
      return run_from<0>(parameters, ctx, loc, args...);
    else
      return run_from<0>(parameters, ctx, loc, std::tuple<A...>(args...));
  }

 private:
  template <class V>
  auto init_all(const Key& key, Loc loc, const V& value) const {
    const FunctionScope within(loc);
    const Key keys = random::split(key, static_cast<int64_t>(sizeof...(Parts)), loc);
    Context ctx;
    return init_from<0>(keys, ctx, loc, value);
  }
  template <size_t I, class V>
  auto init_from(const Key& keys, Context& ctx, Loc loc, const V& value) const {
    if constexpr (I == sizeof...(Parts)) {
      return std::tuple<>();
    } else {
      const auto& part = std::get<I>(parts_);
      auto own = internal::with_arguments(value, [&](const auto&... x) {
        return internal::init_part(part, keys[static_cast<int64_t>(I)], loc, x...);
      });
      const auto next = [&] {
        const internal::PartScope inside(ctx, "sequential", I, &name_of<I, decltype(own)>);
        return internal::with_arguments(
            value, [&](const auto&... x) { return internal::run_part(part, own, ctx, loc, x...); });
      }();
      auto rest = init_from<I + 1>(keys, ctx, loc, next);
      return std::tuple_cat(std::tuple<decltype(own)>(std::move(own)), std::move(rest));
    }
  }
  template <size_t I, class P, class V>
  auto run_from(const P& parameters, Context& ctx, Loc loc, const V& value) const {
    if constexpr (I == sizeof...(Parts)) {
      return value;
    } else {
      return run_from<I + 1>(parameters, ctx, loc, [&] {
        const internal::PartScope inside(ctx, "sequential", I,
                                         &name_of<I, std::tuple_element_t<I, P>>);
        return internal::with_arguments(value, [&](const auto&... x) {
          return internal::run_part(std::get<I>(parts_), std::get<I>(parameters), ctx, loc, x...);
        });
      }());
    }
  }
  template <size_t I, class P>
  static std::string name_of() {
    return internal::part_name<std::tuple_element_t<I, std::tuple<Parts...>>, P>();
  }

  std::tuple<Parts...> parts_;
};

/// Factories, layers, models and functions, one after the other.
template <class... Parts>
auto sequential(Parts&&... parts) {
  if constexpr (internal::check_parts<Parts...>()) {
    return Sequential<internal::AsFactory<Parts>...>(
        internal::as_factory(std::decay_t<Parts>(std::forward<Parts>(parts)))...);
  } else {
    return Sequential<>();
  }
}

}  // namespace spruce::nn
