// SPDX-License-Identifier: Apache-2.0
// What modules are made of: a tree of nodes with arrays under names. Of the library; users see it
// through ModuleRef.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <typeinfo>
#include <vector>

#include "spruce/core/io/tree_io.h"
#include "spruce/core/named_arrays.h"
#include "spruce/core/tree/tree.h"
#include "spruce/nn/describe.h"

namespace spruce::nn {

class ModuleRef;

/// A function that runs before a module's forward: it sees the module and the arrays of the
/// arguments in their order, and may put others in their place.
using ForwardPreHook = std::function<void(const ModuleRef& module, std::span<Array> inputs)>;
/// A function that runs after a module's forward: it sees the module, the arrays of the arguments
/// and those of the result in their order, and may put others in the place of the results.
using ForwardHook = std::function<void(const ModuleRef& module, std::span<const Array> inputs,
                                       std::span<Array> outputs)>;

/// A function that runs where a gradient goes back through a module: it sees the module, the
/// gradients by the floating arrays of its arguments, which it may replace, and those by the
/// floating arrays of its result.
using BackwardHook = std::function<void(const ModuleRef& module, std::span<Array> grad_inputs,
                                        std::span<const Array> grad_outputs)>;

/// A function that runs where a gradient comes to a module, before it goes back through it: it sees
/// the module and the gradients by the floating arrays of its result, which it may replace.
using BackwardPreHook = std::function<void(const ModuleRef& module, std::span<Array> grad_outputs)>;

namespace internal {

/// One array of a module. Where weights are tied, several names have one.
struct Variable {
  Array value;
  bool buffer = false;  // or the data of a key: what is not trained
  bool persistent = true;
  bool requires_grad = true;
};

/// The layer struct of a node, behind one type. Its arrays stand in the node and may have changed.
class AnyLayer {
 public:
  virtual ~AnyLayer() = default;
  virtual const std::type_info& type() const = 0;
  /// The name of its type as it is printed.
  virtual std::string name() const = 0;
  /// The static fields, as text.
  virtual std::string form() const = 0;
  /// The static fields by path, as files have them.
  virtual io::internal::StaticTexts options() const = 0;
  /// The layer with those in place of its own. Throws TreeError for a value that a field cannot
  /// have.
  virtual std::shared_ptr<const AnyLayer> with_options(
      const io::internal::StaticTexts& texts) const = 0;
  /// What is printed for it with those arrays in place of its own; lines behind the first begin
  /// with `indent` spaces.
  virtual std::string text(std::span<const Array> arrays, int indent) const = 0;
};

/// What user code stands behind a node: a base of ModuleBase. A module overrides what it needs.
class NodeOwner {
 public:
  virtual ~NodeOwner() = default;

  /// Options of the module in one line, "width=64, act=relu": printed in front of its parts.
  virtual std::string extra_repr() const { return {}; }
  /// What state_dict() has of the module beside its arrays, under "_extra_state": text as u8, a
  /// count, anything in an array. An undefined one, as here, is left out.
  virtual Array get_extra_state() const { return {}; }
  /// Takes over what get_extra_state() has given. load_state_dict() calls it behind all that can
  /// fail.
  virtual void set_extra_state(const Array&) {}
  /// The version of the module's names and shapes. Others than 1 stand in state_dict() under
  /// "_version".
  virtual int64_t state_version() const { return 1; }
  /// The module's part of a state of the earlier version `from`, as this version has it: arrays by
  /// their names below the module, of its parts too, which upgrade theirs afterwards.
  virtual NamedArrays upgrade_state(const NamedArrays& state, int64_t /*from*/) const {
    return state;
  }
};

template <class Hook>
struct HookEntry {
  uint64_t id;
  Hook hook;
};

/// A number that nothing else has: 1, 2, ...
uint64_t next_id();

/// One module in the tree of modules: its own arrays and its children, in the order of
/// registration.
struct Node : std::enable_shared_from_this<Node> {
  struct Slot {
    std::string name;
    std::shared_ptr<Variable> variable;
  };
  struct Child {
    std::string name;
    std::shared_ptr<Node> node;
  };
  std::vector<Slot> slots;
  std::vector<Child> children;
  bool training = true;
  Key key;
  std::shared_ptr<const AnyLayer> layer;  // null for a module of the user's
  NodeOwner* owner = nullptr;             // null for a layer, and for a module that has ended
  std::string type;                       // what is printed for a node without layer and owner
  std::vector<HookEntry<ForwardPreHook>> pre_hooks;
  std::vector<HookEntry<ForwardHook>> hooks;
  std::vector<HookEntry<BackwardHook>> backward_hooks;
  std::vector<HookEntry<BackwardPreHook>> backward_pre_hooks;
  std::function<void(Node&, const Array&)> make;  // of a lazy layer, until it is called
  uint64_t id = next_id();                        // of this node, in all of the program
};

/// One array of a tree of modules with its full name: "out.weight".
struct Place {
  std::string name;
  Node* node;
  size_t slot;
  Variable& variable() const { return *node->slots[slot].variable; }
};
/// An array that has several names, in a node that is registered in several places or because it is
/// tied, counts once, under its first name, or under all its names. One that is undefined, as the
/// class weights of a loss are without any, does not count.
enum class Names : uint8_t { kFirst, kAll };
std::vector<Place> places(Node& root, Names names = Names::kFirst);
/// The node and all below it, each once, in the order of registration.
std::vector<Node*> nodes(Node& root);
/// The same with their paths, "" for the root.
std::vector<std::pair<std::string, std::shared_ptr<Node>>> named_nodes(
    const std::shared_ptr<Node>& root);

/// Whether the node has arrays of its own that are not trained.
bool has_buffers(const Node& node);

/// The lazy layers at and below the node that have not been called, "'fc' (LazyLinear)"; "" where
/// there are none.
std::string lazy_layers(Node& root);
/// Throws ValueError, naming `op`, where there are some.
void check_made(const char* op, Node& root);

/// Throws ValueError, naming `op`, for a name that is empty or holds a dot.
void check_part_name(const std::string& op, const std::string& name);
/// The names of the parts for messages: "'fc', 'norm'", or "none".
std::string part_names(const Node& node);

/// All that decides what a call does beside the values of arrays: names, modes, static fields,
/// hooks.
std::string form_text(Node& root);

/// A number that grows when the structure of some module changes: what form_text() shows.
uint64_t structure_version();
/// Makes it grow.
void note_structure_change();

template <class L>
class LayerOf final : public AnyLayer {
 public:
  explicit LayerOf(L l) : layer(std::move(l)) {}
  const std::type_info& type() const override { return typeid(L); }
  std::string name() const override { return name_of<L>(); }
  std::string form() const override { return tree::structure(layer).text(); }
  std::string text(std::span<const Array> arrays, int indent) const override {
    return text_of(description_of(tree::unflatten(layer, arrays)), indent);
  }
  io::internal::StaticTexts options() const override { return io::internal::static_texts(layer); }
  std::shared_ptr<const AnyLayer> with_options(
      const io::internal::StaticTexts& texts) const override {
    L other = layer;
    io::internal::StaticReader reader(texts);
    tree::internal::walk(other, reader);
    return std::make_shared<const LayerOf>(std::move(other));
  }
  const L layer;
};

/// Gives a node the arrays of a layer, and the layer itself.
template <class L>
void set_layer(Node& node, L layer) {
  std::vector<Node::Slot> slots;
  for (const tree::Entry& e : tree::entries(layer)) {
    const bool buffer = e.kind != tree::Leaf::kArray || requires { L::kArraysAreBuffers; };
    slots.push_back(
        {e.path, std::make_shared<Variable>(Variable{.value = e.value, .buffer = buffer})});
  }
  node.layer = std::make_shared<const LayerOf<L>>(std::move(layer));
  node.slots = std::move(slots);
  note_structure_change();
}

}  // namespace internal
}  // namespace spruce::nn
