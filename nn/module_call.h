// SPDX-License-Identifier: Apache-2.0
// How a module is called: the arrays that stand in for its own, its hooks, and what becomes of new
// buffers. Of the library.
#pragma once

#include <map>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "spruce/core/error_scope.h"
#include "spruce/core/named_arrays.h"
#include "spruce/nn/call_layer.h"
#include "spruce/nn/module_node.h"
#include "spruce/transforms/checkpoint/side_results.h"

namespace spruce::nn::internal {

/// The key of the call behind one that began with `key` and drew `keys_used` from it.
Key next_key(const Key& key, int64_t keys_used);

/// Another module than the one of a call, which the loss around the call uses.
struct Guest {
  std::shared_ptr<Node> node;
  Key key;
  int64_t drawn = 0;     // how many calls have drawn from the key
  bool changed = false;  // whether the key is another one than at the beginning
  /// The key of its next call.
  Key next_key() const;
  /// That key where it is another one than at the beginning, else an undefined one.
  Key new_key() const { return changed || drawn > 0 ? next_key() : Key(); }
};
/// Thrown behind a traced call, to be caught by what traces it: guests that it has found.
struct NewGuests {
  std::vector<std::shared_ptr<Node>> nodes;
};

/// An array that a call may change, and the module by which errors name it.
struct Target {
  std::shared_ptr<Node> module;
  std::shared_ptr<Variable> variable;
};
/// Puts values into the variables and keys into the nodes; undefined ones change nothing. Throws
/// TracerError, naming `op`, and changes nothing, where a module would have a traced one.
void keep(const char* op, const std::vector<Target>& targets, const std::vector<Array>& values,
          const std::vector<std::shared_ptr<Node>>& nodes, const std::vector<Key>& keys);

/// A call of a module: the context, and the arrays that stand in for the modules' own.
class Call final : public spruce::internal::SideResults {
 public:
  /// The call of `root`, whose nodes it may use.
  explicit Call(Node& root);
  /// A call of its own, with the root's key. Where it stands in the loss of another module, whose
  /// call `loss` is, it begins with the arrays and keys of that, and gives it the new ones.
  Call(Node& root, Call* loss);
  ~Call() override;
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  Node* root;
  std::optional<bool> mode;  // of all modules; without it each has its own
  Key key;
  int64_t keys_used = 0;
  std::map<std::string, int64_t> uses;  // of keys, by path
  int depth = 0;                        // how many forwards of nodes below the root are running
  std::vector<Guest> guests;            // in the order of their first use
  std::optional<size_t> known;          // of a traced call: how many guests it was given

  /// Whether the node is below the root, also where it has been registered since.
  bool lists(const Node& node);
  /// The guest of that node.
  Guest& guest(Node& node);
  /// Notes that a call of a guest has drawn from its key, and which key is the next.
  void advance(Node& node, const Key& next);
  /// Throws NewGuests where a traced call has found some that outlive it.
  void check_guests() const;
  /// Notes that arrays of the node are read: as those of a guest where they are not the root's.
  void read(const Node& node);
  /// The first path of the node below the root.
  const std::string& path(const Node& node);
  bool training(const Node& node) const { return mode.value_or(node.training); }
  /// The array in this call.
  const Array& value(const Variable& v) const;
  /// The arrays of a node in this call.
  std::vector<Array> values(const Node& node) const;
  /// Puts an array in place of the variable's own.
  void bind(const Variable& v, const Array& value);
  /// A new value of a buffer. Throws TracerError, naming the buffer, for one of a transform within
  /// the call, which ends before the call does.
  void set(const Variable& v, const Array& value);
  bool changed(const Variable& v) const;
  /// What has been changed: of the root, then of the guests.
  std::vector<Target> targets() const;
  /// Gives the modules, or the call of the loss around, the new buffers, and the root its next key.
  /// Throws TracerError, and changes nothing, where a module would have a traced value.
  void commit(Loc loc);
  /// The key of the next call.
  Key next_key() const { return internal::next_key(key, keys_used); }
  /// The transform that the outermost call is in, by its id: the key is from there.
  uint64_t begun_in() const { return begun_in_; }

  uint64_t move_home(uint64_t interpreter) override;
  std::vector<Array> noted(uint64_t interpreter) override;
  void replace(std::span<const Array> values) override;

 private:
  [[noreturn]] void throw_ends_within(const Variable& v, const Array& value) const;

  Call* loss_ = nullptr;
  uint64_t begun_in_ = Interpreter::current_id();
  uint64_t home_ = begun_in_;  // values of interpreters within that one are gone behind the call
  std::vector<const Variable*> noted_;
  std::unordered_map<const Variable*, Array> values_;
  std::unordered_set<const Variable*> changed_;
  std::unordered_set<const Node*> listed_;
  uint64_t seen_;  // of the structures, when they were listed
  std::unordered_map<const Node*, std::string> paths_;
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
  spruce::internal::SideResultsScope side_;
};

/// While a forward runs.
class ForwardScope {
 public:
  explicit ForwardScope(Call& call) : call_(call) { ++call_.depth; }
  ~ForwardScope() { --call_.depth; }
  ForwardScope(const ForwardScope&) = delete;
  ForwardScope& operator=(const ForwardScope&) = delete;

 private:
  Call& call_;
};

/// While a module's forward runs: errors name it by its path.
class ModuleScope final : public spruce::internal::ErrorScope {
 public:
  ModuleScope(Call& call, const Node& node) : call_(call), node_(node) {}
  std::string whole() const override;
  std::string path(const std::string& around) const override;
  std::string type() const override;

 private:
  Call& call_;
  const Node& node_;
};

/// While a layer of a module draws keys: the context has the key, the path and the counts of the
/// call, which gets them back at the end.
class KeyScope {
 public:
  KeyScope(Call& call, Context& ctx, const Node& node);
  ~KeyScope();
  KeyScope(const KeyScope&) = delete;
  KeyScope& operator=(const KeyScope&) = delete;

 private:
  Call& call_;
  Context& ctx_;
};

/// The call that a module belongs to which is called now: the current one, or null where it begins
/// one of its own. Throws ValueError, naming the line, in the forward of a module that does not
/// list it.
Call* call_around(const Node& node, Loc loc);
[[noreturn]] void throw_not_registered();
[[noreturn]] void throw_no_layer();
[[noreturn]] void throw_no_module();
/// Throws TreeError: update_buffers() with a layer of another form.
[[noreturn]] void throw_other_form(const Node& node);

/// The arrays as they are, with the backward hooks of the node in the way of their gradients. Those
/// of the outputs are kept in `link`, which watch_inputs() returns, for those of the inputs.
using GradientLink = std::shared_ptr<std::vector<Array>>;
GradientLink watch_inputs(Node& node, std::vector<Array>& inputs);
void watch_outputs(Node& node, std::vector<Array>& outputs, const GradientLink& link);
/// The values of the arrays at and below a node: in a call those of the call.
class ValuesNow {
 public:
  explicit ValuesNow(const Node& root);
  const Array& operator()(const Variable& v) const {
    return call_ == nullptr ? v.value : call_->value(v);
  }

 private:
  Call* call_;
};
/// A new value, in the running call, for a buffer of the node. Throws as
/// ModuleBase::update_buffer().
void update_buffer(Node& node, const Node::Slot& slot, const Array& value);
/// The value of an array of the node, in a call that of the call. Throws ValueError in the forward
/// of a module that does not list the node.
Array value_in_call(const Node& node, const Variable& variable);
/// Makes a lazy layer for inputs like x. Throws TracerError inside of a transform.
void make_lazy(Node& node, const Array& x);
void run_pre_hooks(Node& node, std::vector<Array>& inputs);
void run_hooks(Node& node, const std::vector<Array>& inputs, std::vector<Array>& outputs);

template <class T>
void gather(const T& x, std::vector<Array>& out) {
  if constexpr (kIsTree<T>) tree::internal::gather_leaves(out, x);
}
template <class T>
void refill(T& x, const std::vector<Array>& from, size_t& at) {
  if constexpr (kIsTree<T>) tree::internal::fill_leaves(x, from, at);
}

/// f(args...) between the hooks of the node.
template <class F, class... Args>
auto run_hooked(Call& call, Node& node, F& f, const Args&... args) {
  const ForwardScope inside(call);
  const ModuleScope named(call, node);
  using Result = std::decay_t<std::invoke_result_t<F&, const Args&...>>;
  static_assert(!std::is_void_v<Result>, "spruce: the forward of a module returns its result");
  const bool backward = !node.backward_hooks.empty() || !node.backward_pre_hooks.empty();
  if (node.pre_hooks.empty() && node.hooks.empty() && !backward) return Result(f(args...));
  std::tuple<Args...> copies(args...);
  std::vector<Array> inputs, outputs;
  std::apply([&](const auto&... a) { (gather(a, inputs), ...); }, copies);
  run_pre_hooks(node, inputs);
  const GradientLink link = backward ? watch_inputs(node, inputs) : nullptr;
  size_t at = 0;
  std::apply([&](auto&... a) { (refill(a, inputs, at), ...); }, copies);
  Result result = std::apply(f, std::as_const(copies));
  gather(result, outputs);
  run_hooks(node, inputs, outputs);
  if (backward) watch_outputs(node, outputs, link);
  at = 0;
  refill(result, outputs, at);
  return result;
}

/// f(args...) as a part of the call around it, or as a call of its own.
template <class F, class... Args>
auto call_module(Node& node, Loc loc, F&& f, const Args&... args) {
  const FunctionScope within(loc);
  if (Call* around = call_around(node, loc)) return run_hooked(*around, node, f, args...);
  Call call(node, CallScope::current());
  auto result = [&] {
    const CallScope scope(call);
    return run_hooked(call, node, f, args...);
  }();
  call.commit(loc);
  return result;
}

}  // namespace spruce::nn::internal
