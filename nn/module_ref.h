// SPDX-License-Identifier: Apache-2.0
// What all modules have, whatever their forward takes: names, arrays, parts, mode, hooks, files.
#pragma once

#include <concepts>

#include "spruce/core/named_arrays.h"
#include "spruce/core/ops/function.h"
#include "spruce/nn/module_call.h"
#include "spruce/nn/module_node.h"

namespace spruce::nn {

template <class L>
class Stateful;

/// What load_state_dict found different.
struct LoadReport {
  std::vector<std::string> missing;     ///< names that the module has and the file has not
  std::vector<std::string> unexpected;  ///< names that the file has and the module has not
  std::vector<std::string> converted;   ///< names whose dtype was another: "fc.bias: f64 to f32"
};

/// Options of load_state_dict.
struct LoadOptions {
  /// Throw TreeError where names are missing or unexpected; shapes must fit in any case.
  bool strict = true;
  /// Only the names that begin so are looked at, without that beginning: "backbone.".
  std::string prefix{};
  /// The name in the state, without the prefix, of the array with that path in the module, as in
  /// io::load_tree. Without it the two are the same.
  std::function<std::string(const std::string& path)> rename{};
};

/// Options of state_dict.
struct StateOptions {
  std::string prefix{};  ///< what each name begins with: "backbone."
  /// Recurrent layers and class weights of losses under PyTorch's names, rnn.weight_ih_l0 for
  /// rnn.cells.0.weight_ih and loss.weight for loss.options.weight, so that it loads there;
  /// load_state_dict knows both. All other names are PyTorch's anyway.
  bool torch_names = false;
};

/// Takes a hook away again. Copies are of the same hook.
class HookHandle {
 public:
  /// Of no hook.
  HookHandle() = default;
  /// Of the library: the hook of that number.
  HookHandle(std::weak_ptr<internal::Node> node, uint64_t id) : node_(std::move(node)), id_(id) {}
  /// Takes the hook away; nothing where it is gone already, or the module is.
  void remove();

 private:
  std::weak_ptr<internal::Node> node_;
  uint64_t id_ = 0;
};

/// A module, or a layer or list in one. It refers to it: copies are of the same module, and keep
/// its arrays alive. The base of Module, ModuleOf, Stateful, ModuleList and ModuleDict.
class ModuleRef {
 public:
  /// Of the library: the module whose arrays and parts these are.
  explicit ModuleRef(std::shared_ptr<internal::Node> node) : node_(std::move(node)) {}

  // --- Mode and randomness

  /// Sets training or evaluation mode for the module and all that is in it, as in PyTorch: a part
  /// can be put into another mode afterwards, and keeps it however it is called. New modules are in
  /// training mode.
  ModuleRef train(bool on = true) const;
  /// Sets evaluation mode: train(false).
  ModuleRef eval() const { return train(false); }
  /// The module's mode; in a call of functionalize()'s apply, that of the call.
  bool training() const;
  /// The key of the next call's random numbers; the calls after it follow from it. Modules called
  /// inside of another one draw from the outer one's key.
  ModuleRef seed(const Key& key) const;
  /// That key, undefined without one: to be saved beside state_dict(), and given to seed() where
  /// the run goes on. Outside of calls.
  Key key() const;

  // --- Arrays by name

  /// Name -> array in the order of registration: own ones, then those of the children. An array
  /// with several names (a module that is registered twice, tied weights) counts once, under its
  /// first name. In a call and in the loss of a training step their values in it, so that what a
  /// loss makes of them has a gradient. Those of lazy layers are missing until the first call.
  NamedArrays named_parameters() const;
  /// Those of the parameters that requires_grad() has not frozen. Throws ValueError where a lazy
  /// layer has not been called yet.
  NamedArrays trainable_parameters() const;
  /// The same for what is not trained: running statistics, data of keys.
  NamedArrays named_buffers() const;
  /// The parameter of that path, "block.fc.weight". In a call its value in that call. Throws
  /// TreeError, with the names that are close to it, if there is none, or if it is a buffer.
  Array get_parameter(const std::string& path, Loc loc = Loc::current()) const;
  /// The same for a buffer.
  Array get_buffer(const std::string& path, Loc loc = Loc::current()) const;
  /// Gives parameters or buffers new values by path, all or none. Throws TreeError for an unknown
  /// path, ShapeError or DtypeError where an array has another shape or dtype than the module's,
  /// and TracerError for traced ones.
  void set_arrays(const NamedArrays& values, Loc loc = Loc::current()) const;
  /// Lets parameter `path` be the one of path `of` from now on, as `a.weight = b.weight` does in
  /// PyTorch: one array with two names. Throws TreeError for unknown paths, ShapeError where they
  /// differ in shape or dtype.
  void tie(const std::string& path, const std::string& of, Loc loc = Loc::current()) const;
  /// Freezes all parameters (false) or lets them be trained: in gradients frozen ones are
  /// constants, and optimizers of modules leave them alone. Throws ValueError where a lazy layer
  /// has not been called yet.
  template <std::same_as<bool> Bool = bool>
  ModuleRef requires_grad(Bool on = true) const {
    return set_requires_grad(on);
  }
  /// The same for the parameter, or all parameters of the part, of that path, which may be a
  /// pattern as of nn::matching(): "blocks.*.norm". Throws TreeError where it matches nothing.
  ModuleRef requires_grad(const std::string& path, bool on = true, Loc loc = Loc::current()) const;

  // --- Parts

  /// The module itself under "", and all parts below it with their paths; each once.
  std::vector<std::pair<std::string, ModuleRef>> named_modules() const;
  /// The same without paths.
  std::vector<ModuleRef> modules() const;
  /// The direct parts with their names, each once.
  std::vector<std::pair<std::string, ModuleRef>> named_children() const;
  /// The same without names.
  std::vector<ModuleRef> children() const;
  /// The part of that path, "block.fc"; "" is the module itself. Throws TreeError, naming the parts
  /// that there are.
  ModuleRef get_submodule(const std::string& path, Loc loc = Loc::current()) const;
  /// The same as a layer that can be called and read. Throws TreeError also if the part is no L.
  template <class L>
  Stateful<L> get_layer(const std::string& path, Loc loc = Loc::current()) const;
  /// Puts another layer of the same type, with sizes and options of its own, in the place of the
  /// one of that path; what refers to it calls the new one. Throws TreeError if the part is no L.
  template <class L>
  void set_layer(const std::string& path, L layer, Loc loc = Loc::current()) const;
  /// f(part) for each part, the children before the module that holds them, as in PyTorch.
  ModuleRef apply(const std::function<void(const ModuleRef&)>& f) const;

  // --- Conversion

  /// Converts parameters and buffers that are floating. Throws DtypeError for a dtype that is not,
  /// ValueError where a lazy layer has not been called yet.
  ModuleRef to(Dtype dtype, Loc loc = Loc::current()) const;
  /// Moves all arrays to a device. Throws DeviceError.
  ModuleRef to(Device& device, Loc loc = Loc::current()) const;
  /// Zeros on a device in place of all arrays, of the same shapes and dtypes: for a module that was
  /// made as shapes only, or whose arrays a file is about to give. Throws DeviceError.
  ModuleRef to_empty(Device& device, Loc loc = Loc::current()) const;
  /// to(float32).
  ModuleRef to_float() const { return to(float32); }
  /// to(float64).
  ModuleRef to_double() const { return to(float64); }
  /// to(float16).
  ModuleRef to_half() const { return to(float16); }
  /// to(bfloat16).
  ModuleRef to_bfloat16() const { return to(bfloat16); }

  // --- Files

  /// Parameters and persistent buffers, each module's own ones together: what PyTorch's state_dict
  /// has. An array with several names stands under each of them. A module that overrides
  /// get_extra_state() or state_version() has "_extra_state" or "_version" behind its path too.
  /// In a call and in the loss of a training step as named_parameters().
  /// Throws ValueError where a lazy layer has not been called yet.
  NamedArrays state_dict(const StateOptions& options = {}, Loc loc = Loc::current()) const;
  /// Takes over the arrays of `state` by name, converted to the dtype of the module's own. Throws
  /// TreeError or ShapeError, listing all that does not fit, or TracerError for traced values, and
  /// changes nothing then. Of several names of one array the last counts. The count of batches
  /// (num_batches_tracked) may be missing beside running statistics, as in files of PyTorch before
  /// 0.4.1; it stays what it is then. A part of an earlier
  /// version goes through the module's upgrade_state() first, the outer module's before those of
  /// its parts; ValueError for a later version than the module's.
  LoadReport load_state_dict(const NamedArrays& state, const LoadOptions& options = {},
                             Loc loc = Loc::current()) const;

  // --- Hooks

  /// Runs `hook` before each forward of the module, behind those that are there. It stays until the
  /// handle removes it, and works in functionalize() too.
  HookHandle register_forward_pre_hook(ForwardPreHook hook, Loc loc = Loc::current()) const;
  /// The same behind each forward.
  HookHandle register_forward_hook(ForwardHook hook, Loc loc = Loc::current()) const;
  /// Runs `hook` where a gradient goes back through the module to its arguments, PyTorch's
  /// register_full_backward_hook. In a compiled function it runs while that is traced. A module
  /// with such hooks has no derivatives in forward mode.
  HookHandle register_backward_hook(BackwardHook hook, Loc loc = Loc::current()) const;
  /// register_backward_hook under PyTorch's name.
  HookHandle register_full_backward_hook(BackwardHook hook, Loc loc = Loc::current()) const {
    return register_backward_hook(std::move(hook), loc);
  }
  /// Runs `hook` where a gradient comes to the results of the module, before those of
  /// register_backward_hook: what it puts in place of gradients goes back through the module.
  /// Otherwise as those.
  HookHandle register_full_backward_pre_hook(BackwardPreHook hook, Loc loc = Loc::current()) const;

  /// "Linear": the type of the layer or of the user's module.
  std::string name() const;
  /// The module and its parts in lines, as PyTorch prints them.
  std::string to_string() const;
  friend std::ostream& operator<<(std::ostream& out, const ModuleRef& module);

  /// True if both refer to one module.
  friend bool operator==(const ModuleRef& a, const ModuleRef& b) { return a.node_ == b.node_; }

  /// Of the library: the arrays and parts of the module. Throws ValueError where it refers to none:
  /// a Stateful without a layer, or a module whose value was moved elsewhere.
  const std::shared_ptr<internal::Node>& node() const {
    if (node_ == nullptr) internal::throw_no_module();
    return node_;
  }

 protected:
  std::shared_ptr<internal::Node> node_;

 private:
  ModuleRef set_requires_grad(bool on) const;
};

namespace internal {

/// Module::load_state_dict for those places of the root; `report` has what was found before.
LoadReport load(Node& root, const std::vector<Place>& places, const NamedArrays& state,
                const LoadOptions& options, LoadReport report = {});
/// ModuleRef::trainable_parameters() without its check.
NamedArrays trainable_arrays(Node& root);
/// The node of that path. Throws TreeError.
std::shared_ptr<Node> find_node(const std::shared_ptr<Node>& root, const std::string& path);
/// Throws TreeError: the part is another layer, or none.
[[noreturn]] void throw_other_layer(const Node& node, const std::string& path,
                                    const std::string& wanted);

}  // namespace internal
}  // namespace spruce::nn
