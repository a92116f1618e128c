// SPDX-License-Identifier: Apache-2.0
// jit: a function staged once for each form of its arguments, and run as a graph from then on.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <typeinfo>

#include "spruce/core/default_device.h"
#include "spruce/core/tree/tree.h"
#include "spruce/transforms/compile/executor.h"
#include "spruce/transforms/compile/lowered.h"
#include "spruce/transforms/compile/retrace.h"
#include "spruce/transforms/function/checked_function.h"
#include "spruce/transforms/function/empty_leaves.h"
#include "spruce/transforms/passes/compile_log.h"
#include "spruce/transforms/stage/stage.h"

namespace spruce {
namespace internal {

/// A staged function: its graph, ready to run, and the form of its result.
struct Compiled {
  Compiled(Graph graph, const std::string& name) : executor(std::move(graph), name) {}

  Executor executor;
  std::shared_ptr<const void> out_form;
};

/// The staged forms of one function, by key. Finding one takes no lock.
class JitCache {
 public:
  JitCache(std::string name, bool warns);
  ~JitCache();
  JitCache(const JitCache&) = delete;
  JitCache& operator=(const JitCache&) = delete;

  /// Null where there is none. What is found lives as long as the cache.
  const Compiled* find(std::string_view key) const noexcept;
  /// Keeps it, or gives back the one that another thread was quicker with.
  const Compiled* insert(std::string_view key, std::unique_ptr<const Compiled> compiled);
  /// The traces that were made, kept or not.
  RetraceLog& log() { return log_; }

 private:
  struct Entry;
  struct Table;
  std::atomic<const Table*> table_;
  std::mutex mutex_;  // of insertion
  std::vector<std::unique_ptr<const Entry>> entries_;
  std::vector<std::unique_ptr<const Table>> tables_;  // the last one is in use; readers may still
                                                      // look at the others
  RetraceLog log_;
};

/// Checks the graph and takes out what is repeated or of no use: what transforms and execution
/// start from.
Graph prepare(Graph graph);

/// A string that keeps its memory for the next one on this thread.
class KeyMemory {
 public:
  KeyMemory();
  ~KeyMemory();
  KeyMemory(const KeyMemory&) = delete;
  KeyMemory& operator=(const KeyMemory&) = delete;
  std::string& bytes;
};

// All that tells one form of arguments from another, as bytes.
struct KeyVisitor : tree::internal::Ignore {
  std::string& bytes;
  uint8_t numbers;          // the device that numbers of the host are taken to
  GraphDevice device = {};  // that of the leaves
  explicit KeyVisitor(std::string& b, uint8_t numbers_to = 0) : bytes(b), numbers(numbers_to) {}
  void leaf(const Array& a, tree::Leaf) {
    if (!a.defined()) {
      bytes += '\xff';
      return;
    }
    const Aval& aval = a.aval();
    bytes += static_cast<char>(aval.dtype);
    bytes += static_cast<char>(aval.weak);
    bytes += static_cast<char>(is_placed(aval) ? aval.device : numbers);
    bytes += static_cast<char>(aval.shape.rank());
    device.add(aval);
    bytes.append(reinterpret_cast<const char*>(aval.shape.data()),
                 aval.shape.size() * sizeof(int64_t));
  }
  template <class S>
  void fixed(const S& s) {
    tree::internal::append_bytes(bytes, s);
  }
  void size(size_t n) { bytes.append(reinterpret_cast<const char*>(&n), sizeof n); }
  void key(std::string_view name) { tree::internal::append_bytes(bytes, name); }
};

struct GiveLeaf {
  Call& call;
  void operator()(const Array& a, tree::Leaf) const {
    if (a.defined()) call.add(a);
  }
  void operator()(Array& a, tree::Leaf) const {
    if (a.defined()) call.add(std::move(a));
  }
};
template <class T>
void give_leaves(Call& call, T& x) {
  tree::internal::for_each_leaf(x, GiveLeaf{call});
}
struct TakeResult {
  Call& call;
  size_t next = 0;
  void operator()(Array& a, tree::Leaf) {
    if (a.defined()) a = std::move(call.result(next++));
  }
};

/// The type through which an argument that was deduced as T is read: const unless it was moved in.
template <class T>
using Kept = std::conditional_t<std::is_lvalue_reference_v<T>, const std::remove_reference_t<T>, T>;

/// What stands in the kept form of a result in the place of a leaf: only the form is kept, not what
/// was traced.
Array placeholder(tree::Leaf kind);

struct AddDevice {
  GraphDevice& device;
  void operator()(const Array& leaf, tree::Leaf) const {
    if (leaf.defined()) device.add(leaf.aval());
  }
};
/// The device to which a compiled function takes numbers of the host among its arguments: the one
/// of all its other arguments, or the CPU where these are on several.
template <class... Args>
uint8_t device_of_numbers(const Args&... args) {
  GraphDevice device;
  (tree::internal::for_each_leaf(args, AddDevice{device}), ...);
  return device.several ? uint8_t{0} : device.index;
}
struct StageInput {
  StageInterpreter& interpreter;
  uint8_t numbers;
  void operator()(Array& leaf, tree::Leaf) const {
    if (!leaf.defined()) return;
    Aval type = leaf.aval();
    if (!is_placed(type)) type.device = numbers;
    leaf = interpreter.input(type);
  }
};
struct StageOutput {
  StageInterpreter& interpreter;
  void operator()(Array& leaf, tree::Leaf kind) const {
    if (!leaf.defined()) return;
    interpreter.output(leaf);
    leaf = placeholder(kind);
  }
};

/// Stages f on values with the types of args. `out` gets the form of the result.
template <class F, class... Args>
auto stage(const char* name, const F& f, const Args&... args) {
  StageInterpreter interpreter(name);
  std::tuple<Args...> traced(args...);
  tree::internal::for_each_leaf(traced, StageInput{interpreter, device_of_numbers(args...)});
  auto out = apply_under(interpreter, name, f, traced);
  StageOutput output{interpreter};
  // The form lasts, texts of the arguments do not.
  tree::internal::LeafVisitor<Array> visitor{
      {}, &output, tree::internal::call_leaf<const StageOutput, Array>, true};
  tree::internal::walk(out, visitor);
  return std::pair{interpreter.take(), std::move(out)};
}

}  // namespace internal

/// Options of jit.
struct JitOptions {
  std::string name = "jit";  ///< what logs and warnings call the function
  bool warns = true;         ///< whether the eleventh trace writes a warning to stderr
};

/// A function that jit has wrapped. Copies share what was staged, and one that was moved from can
/// be called as before. Safe to call from several threads: they may trace the function at the same
/// time.
template <class F>
class Jitted {
 public:
  /// Keeps `f`; nothing is traced before the first call or lower().
  explicit Jitted(F f, JitOptions options = {}, Loc loc = Loc::current())
      : f_(std::make_shared<const F>(std::move(f))),
        cache_(std::make_shared<internal::JitCache>(std::move(options.name), options.warns)),
        loc_(loc) {}
  /// What is moved is copied.
  Jitted(const Jitted&) = default;
  Jitted& operator=(const Jitted&) = default;  ///< The same.

  /// The function's result. Arguments that are moved in give up their arrays: memory that nothing
  /// else holds is used for results, and the moved-from trees are left with undefined arrays. An
  /// exception before anything was written into that memory leaves them as they were.
  template <class... Args>
  auto operator()(Args&&... args) const {
    if constexpr (internal::check_run<F, std::remove_cvref_t<Args>...>())
      return run(std::forward<Args>(args)...);
    else
      return internal::refused<Array>();
  }

  /// How many times the function has been traced: once for each form (types, shapes, dtypes, static
  /// fields) of arguments, and once more for each further thread that came at the same time.
  int64_t trace_count() const { return cache_->log().count(); }

  /// How the newest trace differs from the earlier one that is most like it: "step: trace 2 differs
  /// from trace 1:\n  argument 1 is f32[32,784], was f32[64,784]". After the eleventh trace this is
  /// written to stderr, once, unless the options say otherwise.
  std::string explain_retrace() const { return cache_->log().explain(); }

  /// What would run for arguments of these types: its graph, its cost, its memory. Traces the
  /// function if it has not been traced for them; a later call does not trace it again.
  template <class... Args>
  Lowered lower(const Args&... args) const {
    const LocScope place(loc_);
    if constexpr (internal::check_run<F, Args...>()) {
      std::unique_ptr<const internal::Compiled> once;
      const internal::Compiled* compiled = staged(once, args...);
      if (once != nullptr) {
        const std::shared_ptr<const internal::Compiled> own = std::move(once);
        return Lowered({own, &own->executor});
      }
      return Lowered({cache_, &compiled->executor});
    } else {
      return internal::refused<Lowered>();
    }
  }

 private:
  template <class... Args>
  auto run(Args&&... args) const {
    const LocScope place(loc_);
    using Out = std::decay_t<std::invoke_result_t<const F&, const std::decay_t<Args>&...>>;
    std::unique_ptr<const internal::Compiled> once;
    const internal::Compiled* compiled = staged(once, std::as_const(args)...);
    internal::Call call(compiled->executor);
    // Only what was moved in gives up its arrays.
    (internal::give_leaves(call, static_cast<internal::Kept<Args>&>(args)), ...);
    call.run();
    Out out = *static_cast<const Out*>(compiled->out_form.get());
    tree::internal::for_each_leaf(out, internal::TakeResult{call});
    return out;
  }

  // What is staged for arguments of that form; `once` holds what is good for this call only.
  template <class... Args>
  const internal::Compiled* staged(std::unique_ptr<const internal::Compiled>& once,
                                   const Args&... args) const {
    internal::KeyMemory memory;
    internal::KeyVisitor key(memory.bytes);
    const char* types = typeid(std::tuple<Args...>).name();
    key.bytes.append(reinterpret_cast<const char*>(&types), sizeof types);
    (tree::internal::walk(args, key), ...);
    if (key.device.index != 0 && !key.device.several) {
      key.bytes.resize(sizeof types);
      internal::KeyVisitor again(key.bytes, key.device.index);
      (tree::internal::walk(args, again), ...);
    }
    key.bytes += static_cast<char>(DefaultDevice::index());
    if (const internal::Compiled* found = cache_->find(key.bytes)) return found;
    using Out = std::decay_t<std::invoke_result_t<const F&, const Args&...>>;
    const internal::CompileScope scope(cache_->log().name());
    const internal::CompilePhase phase("trace");
    auto [graph, form] = internal::stage("jit", *f_, args...);
    phase.done(graph);
    const bool keep = !internal::captures_tracers(graph);
    cache_->log().add(internal::trace_form(!keep, args...));
    auto made = std::make_unique<internal::Compiled>(internal::prepare(std::move(graph)),
                                                     cache_->log().name());
    made->out_form = std::make_shared<const Out>(std::move(form));
    if (keep) return cache_->insert(key.bytes, std::move(made));
    once = std::move(made);
    return once.get();
  }

  std::shared_ptr<const F> f_;
  std::shared_ptr<internal::JitCache> cache_;
  Loc loc_;
};

/// `f`, staged once for each form of its arguments: their C++ types, static fields, shapes and
/// dtypes. What f does besides operations on arrays (printing, C++ control flow) happens while it
/// is traced only; arrays that it captures become constants. Under grad, vmap or another jit the
/// graph is applied operation by operation. With the variable SPRUCE_LOG=compile, each phase of
/// making it ready writes its time to stderr. Errors that come from no line of f name the one where
/// jit was called.
template <class F>
Jitted<F> jit(F f, JitOptions options = {}, Loc loc = Loc::current()) {
  (void)internal::check_function<F>();
  return Jitted<F>(std::move(f), std::move(options), loc);
}

/// Refused; the compiler says how to write it: jit(f)(x).
template <class F, internal::NoOption<JitOptions> A, class... B>
auto jit(const F&, const A&, const B&...) {
  return internal::refuse_arguments<Array, A>();
}

/// The function that returns the graph of f for arguments of those types: make_graph(f)(x).text().
template <class F>
auto make_graph(F f, Loc loc = Loc::current()) {
  (void)internal::check_function<F>();
  return [f = std::move(f), loc](const auto&... args) {
    const LocScope place(loc);
    if constexpr (internal::check_run<F, std::remove_cvref_t<decltype(args)>...>())
      return internal::stage("make_graph", f, args...).first;
    else
      return internal::refused<Graph>();
  };
}

/// Refused; the compiler says how to write it: make_graph(f)(x).
template <class F, internal::NoOption<Loc> A, class... B>
auto make_graph(const F&, const A&, const B&...) {
  return internal::refuse_arguments<Graph, A>();
}

}  // namespace spruce
