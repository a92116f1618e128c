// SPDX-License-Identifier: Apache-2.0
// Any layer struct as a module.
#pragma once

#include <optional>

#include "spruce/nn/module_ref.h"
#include "spruce/nn/observe.h"

namespace spruce::nn {

/// A layer struct whose arrays live in a module under names and change with it: a module of its
/// own, or, from Module::register_module, a part of one. Called like the layer, with the same
/// arguments and results; copies refer to the same arrays.
template <class L>
class Stateful : public ModuleRef {
 public:
  /// No layer: calling it throws ValueError.
  Stateful() : ModuleRef(nullptr) {}
  /// A layer that is a module by itself; register_module() makes one and adds it.
  explicit Stateful(L layer) : ModuleRef(std::make_shared<internal::Node>()) {
    internal::set_layer(*node_, std::move(layer));
  }
  /// Of the library: the layer of a node, which has to be an L.
  explicit Stateful(std::shared_ptr<internal::Node> node) : ModuleRef(std::move(node)) {}

  /// The layer's result with the present arrays, as a part of the module whose forward runs, or as
  /// a call of its own, in its own mode, which updates its buffers in training. Throws ValueError
  /// in the forward of a module that does not list the layer.
  template <class A>
  auto operator()(const A& a, Loc loc = Loc::current()) const {
    return call_at(loc, a);
  }
  template <class A, class B>
  auto operator()(const A& a, const B& b, Loc loc = Loc::current()) const {
    return call_at(loc, a, b);
  }
  template <class A, class B, class C>
  auto operator()(const A& a, const B& b, const C& c, Loc loc = Loc::current()) const {
    return call_at(loc, a, b, c);
  }
  template <class A, class B, class C, class D>
  auto operator()(const A& a, const B& b, const C& c, const D& d, Loc loc = Loc::current()) const {
    return call_at(loc, a, b, c, d);
  }
  /// With more arguments errors name no line.
  template <class A, class B, class C, class D, class E, class... More>
  auto operator()(const A& a, const B& b, const C& c, const D& d, const E& e,
                  const More&... more) const {
    return call_at(Loc::none(), a, b, c, d, e, more...);
  }

  /// The layer struct with the arrays that it has now; in a call, those of the call. Throws
  /// ValueError without a layer.
  L layer(Loc loc = Loc::current()) const {
    const LocScope at(loc);
    if (node_ == nullptr || node_->layer == nullptr) internal::throw_no_layer();
    const internal::ValuesNow now(*node_);
    std::vector<Array> values;
    for (const internal::Node::Slot& s : node_->slots) values.push_back(now(*s.variable));
    return tree::unflatten(original(), values);
  }

  /// New values for the layer's buffers, those of `next`, kept after the call: in a forward that
  /// hands layer() through a loop or another transform as a value. Throws as
  /// Module::update_buffer(), and ValueError without a layer.
  void update_buffers(const L& next, Loc loc = Loc::current()) const {
    const LocScope at(loc);
    if (node_ == nullptr || node_->layer == nullptr) internal::throw_no_layer();
    const L now = layer(loc);
    if (!(tree::structure(now) == tree::structure(next))) internal::throw_other_form(*node_);
    const std::vector<Array> values = tree::leaves(next);
    for_each_new(now, values,
                 [&](size_t i) { internal::update_buffer(*node_, node_->slots[i], values[i]); });
  }

  /// Of the library: the call, of a line that is known.
  template <class... Args>
  auto call_at(Loc loc, const Args&... args) const {
    if (node_ == nullptr) {
      const LocScope at(loc);
      internal::throw_no_layer();
    }
    if (node_->make) {
      const LocScope at(loc);
      if constexpr (std::is_same_v<std::tuple_element_t<0, std::tuple<Args...>>, Array>)
        internal::make_lazy(*node_, std::get<0>(std::tie(args...)));
    }
    return internal::call_module(
        *node_, loc, [&](const Args&... a) { return run(loc, a...); }, args...);
  }

 private:
  template <class... Args>
  auto run(Loc loc, const Args&... args) const {
    internal::Call& call = *internal::CallScope::current();
    const L layer = tree::unflatten(original(), call.values(*node_));
    std::optional<internal::LayerObserver::Part> observed;
    if (internal::LayerObserver::exists()) [[unlikely]]
      observed.emplace(layer, call.path(*node_));
    Context ctx;
    ctx.training = call.training(*node_);
    if (ctx.training && internal::has_buffers(*node_)) ctx.know_buffers(layer);
    auto y = [&] {
      const internal::KeyScope keys(call, ctx, *node_);
      return internal::call_with_context(layer, ctx, loc, args...);
    }();
    if (ctx.updates.empty()) return y;
    const std::vector<Array> next = tree::leaves(ctx.updated(layer, loc));
    const LocScope at(loc);
    for_each_new(layer, next, [&](size_t i) { call.set(*node_->slots[i].variable, next[i]); });
    return y;
  }
  // put(i) for each buffer whose value among `next` is another one.
  template <class Put>
  static void for_each_new(const L& layer, const std::vector<Array>& next, const Put& put) {
    size_t i = 0;
    tree::internal::for_each_leaf(layer, [&](const Array& a, tree::Leaf kind) {
      if (kind == tree::Leaf::kBuffer && next[i].impl() != a.impl()) put(i);
      ++i;
    });
  }
  const L& original() const {
    return static_cast<const internal::LayerOf<L>&>(*node_->layer).layer;
  }
};

/// A layer that is made when it is called for the first time, for inputs like the first argument:
/// by the factory with that key. Until then it has no arrays, and no transform may run the call.
///   nn::Stateful<nn::Linear> fc = register_module("fc", nn::lazy(key, nn::dense(64)));
template <class F>
auto lazy(const Key& key, F factory) {
  using L = decltype(factory.init(key, std::declval<const Array&>()));
  const auto node = std::make_shared<internal::Node>();
  node->type = "Lazy" + internal::name_of<L>();
  node->make = [key, factory](internal::Node& n, const Array& x) {
    internal::set_layer(n, factory.init(key, x));
  };
  return Stateful<L>(node);
}

template <class L>
Stateful<L> ModuleRef::get_layer(const std::string& path, Loc loc) const {
  const LocScope at(loc);
  std::shared_ptr<internal::Node> node = internal::find_node(node_, path);
  if (node->layer == nullptr || node->layer->type() != typeid(L))
    internal::throw_other_layer(*node, path, internal::name_of<L>());
  return Stateful<L>(std::move(node));
}

template <class L>
void ModuleRef::set_layer(const std::string& path, L layer, Loc loc) const {
  const LocScope at(loc);
  internal::set_layer(*get_layer<L>(path).node(), std::move(layer));
}

}  // namespace spruce::nn
