// SPDX-License-Identifier: Apache-2.0
// The stateful form: modules that hold their parameters under names, as in PyTorch, and the layers
// in them.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "spruce/core/named_arrays.h"
#include "spruce/nn/context.h"

namespace spruce::nn {

/// What load_state_dict found different.
struct LoadReport {
  std::vector<std::string> missing;     ///< names that the module has and the file has not
  std::vector<std::string> unexpected;  ///< names that the file has and the module has not
};

/// Options of load_state_dict.
struct LoadOptions {
  /// Throw TreeError where names are missing or unexpected; shapes must fit in any case.
  bool strict = true;
};

namespace internal {

/// One module in the tree of modules: its own arrays and its children, in the order of
/// registration.
struct Node {
  struct Slot {
    std::string name;
    Array value;
    bool buffer;  // or the data of a key: what is not trained
  };
  struct Child {
    std::string name;
    std::shared_ptr<Node> node;
  };
  std::vector<Slot> slots;
  std::vector<Child> children;
  bool training = true;
};

/// One array of a tree of modules with its full name: "out.weight".
struct Place {
  std::string name;
  Node* node;
  size_t slot;
};
/// A node that is registered in several places counts once, under its first name, or under all its
/// names.
enum class Names : uint8_t { kFirst, kAll };
std::vector<Place> places(Node& root, Names names = Names::kFirst);
/// Module::load_state_dict for those places.
LoadReport load(const std::vector<Place>& places, const NamedArrays& state,
                const LoadOptions& options);
/// The node and all below it, each once.
std::vector<Node*> nodes(Node& root);

/// A call of a module: the context, and the arrays that stand in for the modules' own.
struct Call {
  /// The call of `root`, with the arrays of all nodes below it.
  explicit Call(Node& of_module);

  Node* root;
  std::optional<bool> mode;  // of all modules; without it each has its own
  Key key;
  int64_t keys_used = 0;
  std::map<const Node*, std::vector<Array>> values;
  std::map<const Node*, std::vector<bool>> changed;

  /// The arrays of a node in this call. Throws ValueError for one that is not below the root.
  std::vector<Array>& of(const Node& node);
  bool training(const Node& node) const { return mode.value_or(node.training); }
  void set(const Node& node, size_t slot, const Array& value);
};

/// Makes a call the current one of this thread while it lives.
class CallScope {
 public:
  explicit CallScope(Call& call);
  ~CallScope();
  CallScope(const CallScope&) = delete;
  CallScope& operator=(const CallScope&) = delete;
  static Call* current();

 private:
  Call* saved_;
};

[[noreturn]] void throw_outside_of_call();
[[noreturn]] void throw_not_registered();

template <class L>
std::shared_ptr<Node> make_node(const L& layer) {
  auto node = std::make_shared<Node>();
  for (const tree::Entry& e : tree::entries(layer))
    node->slots.push_back({e.path, e.value, e.kind != tree::Leaf::kArray});
  return node;
}

}  // namespace internal

/// A layer inside of a Module: called like the layer, while its arrays live in the module under
/// names and change with it. Made by Module::register_module; copies refer to the same arrays.
template <class L>
class Stateful {
 public:
  /// No layer: calling it throws ValueError.
  Stateful() = default;
  /// A layer that no module holds yet; register_module() makes and adds one.
  explicit Stateful(L layer)
      : layer_(std::make_shared<const L>(std::move(layer))), node_(internal::make_node(*layer_)) {}

  /// The layer's result in the running call of the module that it is registered in. Throws
  /// ValueError outside of a call, and in that of a module that does not list the layer.
  Array operator()(const Array& x, Loc loc = Loc::current()) const {
    const LocScope at(loc);
    if (layer_ == nullptr) internal::throw_not_registered();
    internal::Call* call = internal::CallScope::current();
    if (call == nullptr) internal::throw_outside_of_call();
    const L layer = tree::unflatten(*layer_, call->of(*node_));
    Context ctx{.training = call->training(*node_),
                .key = call->key,
                .updates = {},
                .keys_used = call->keys_used};
    Array y = call_layer(layer, x, ctx, loc);
    call->keys_used = ctx.keys_used;
    size_t i = 0;
    tree::internal::for_each_leaf(layer, [&](const Array& a, tree::Leaf) {
      for (const Context::Update& u : ctx.updates) {
        if (u.place == &a) call->set(*node_, i, u.value);
      }
      ++i;
    });
    return y;
  }

  /// Of the library: the arrays of the layer; null without one.
  const std::shared_ptr<internal::Node>& node() const { return node_; }

 private:
  std::shared_ptr<const L> layer_;
  std::shared_ptr<internal::Node> node_;
};

/// Base of stateful models. A subclass registers its parts in the constructor and overrides
/// forward; calling the module runs forward, with running statistics updated in training mode. Not
/// for several threads at once: functionalize() gives a pure function that is.
class Module {
 public:
  /// In training mode, without parts and without a key.
  Module();
  virtual ~Module();
  Module(const Module&) = delete;
  /// Neither copied nor assigned: stateful layers refer to its arrays.
  Module& operator=(const Module&) = delete;

  /// What the module computes. Called through operator().
  virtual Array forward(const Array& x) = 0;
  /// forward(x), each module and layer in its own mode. Inside of another module's forward it is a
  /// part of that call, and has to be registered there: ValueError where an array is used that the
  /// outermost module does not list. Throws TracerError if new running statistics would be traced
  /// values: functionalize() hands them out instead.
  Array operator()(const Array& x, Loc loc = Loc::current());

  /// Sets training or evaluation mode for the module and all that is in it, as in PyTorch: a part
  /// can be put into another mode afterwards, and keeps it however it is called. New modules are in
  /// training mode.
  Module& train(bool on = true);
  /// Sets evaluation mode: train(false).
  Module& eval() { return train(false); }
  /// The module's mode; in a call of functionalize()'s apply, that of the call.
  bool training() const;
  /// The key of the next call's random numbers; the calls after it follow from it. Modules called
  /// inside of another one draw from the outer one's key.
  Module& seed(const Key& key);

  /// Name -> array in the order of registration: own ones, then those of the children. A module
  /// that is registered in several places counts once, under its first name.
  NamedArrays named_parameters() const;
  /// The same for what is not trained: running statistics, data of keys.
  NamedArrays named_buffers() const;
  /// Parameters and buffers, each module's own ones together: what PyTorch's state_dict has. Here a
  /// module that is registered in several places stands under each of its names.
  NamedArrays state_dict() const;
  /// Takes over the arrays of `state` by name, converted to the dtype of the module's own. Throws
  /// TreeError or ShapeError, listing all that does not fit, or TracerError for traced values, and
  /// changes nothing then. Of several names of one module the last counts.
  LoadReport load_state_dict(const NamedArrays& state, const LoadOptions& options = {},
                             Loc loc = Loc::current());

  /// Of the library: the arrays and parts of the module; never null.
  const std::shared_ptr<internal::Node>& node() const { return node_; }

 protected:
  /// Adds a layer struct under a name without dots. Throws ValueError for a name that is empty,
  /// dotted, or taken by a child or an own array.
  template <class L>
  requires(!std::is_convertible_v<L, std::shared_ptr<Module>>) Stateful<L> register_module(
      const std::string& name, L layer, Loc loc = Loc::current()) {
    const LocScope at(loc);
    Stateful<L> stateful(std::move(layer));
    add_child(name, stateful.node());
    return stateful;
  }
  /// Adds a module made elsewhere. Throws ValueError also for a null pointer, and for one that
  /// holds this module.
  template <std::derived_from<Module> M>
  std::shared_ptr<M> register_module(const std::string& name, std::shared_ptr<M> module,
                                     Loc loc = Loc::current()) {
    const LocScope at(loc);
    add_child(name, module == nullptr ? nullptr : module->node());
    return module;
  }
  /// Adds an array of the module's own; parameter(name) reads it in forward. Buffers stand behind
  /// the parameters.
  void register_parameter(const std::string& name, const Array& value, Loc loc = Loc::current());
  void register_buffer(const std::string& name, const Array& value, Loc loc = Loc::current());
  /// The value of an own array in the running call. Throws TreeError for an unknown name.
  Array parameter(const std::string& name, Loc loc = Loc::current()) const;
  Array buffer(const std::string& name, Loc loc = Loc::current()) const {
    return parameter(name, loc);
  }
  /// A new value for an own buffer, kept after the call. Throws ShapeError or DtypeError unless it
  /// has the buffer's shape and dtype, TreeError for an unknown name, ValueError for a parameter
  /// and outside of a call.
  void update_buffer(const std::string& name, const Array& value, Loc loc = Loc::current());

 private:
  void check_name(const char* op, const std::string& name) const;
  void add_child(const std::string& name, std::shared_ptr<internal::Node> node);
  void add_slot(const std::string& name, const Array& value, bool buffer);
  size_t find_slot(const std::string& name) const;

  std::shared_ptr<internal::Node> node_;
  Key key_;
};

}  // namespace spruce::nn
