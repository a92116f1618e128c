// SPDX-License-Identifier: Apache-2.0
// jit: a function staged once for each form of its arguments, and run as a graph from then on.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <typeinfo>

#include "spruce/core/tree/tree.h"
#include "spruce/transforms/linearizer.h"
#include "spruce/transforms/stage.h"

namespace spruce {
namespace internal {

class Executor;

/// A staged function: its graph, ready to run, and the form of its result.
struct Compiled {
  std::shared_ptr<const Executor> executor;
  std::shared_ptr<const void> out_form;
};

/// The staged forms of one function, by key.
class JitCache {
 public:
  std::shared_ptr<const Compiled> find(const std::string& key) const;
  void insert(const std::string& key, std::shared_ptr<const Compiled> compiled);
  int64_t traces() const { return traces_.load(std::memory_order_relaxed); }
  void count_trace() { traces_.fetch_add(1, std::memory_order_relaxed); }

 private:
  struct Map;
  struct Deleter {
    void operator()(Map* m) const;
  };
  mutable std::mutex mutex_;
  std::unique_ptr<Map, Deleter> map_;
  std::atomic<int64_t> traces_{0};
};

/// Checks the graph, runs the passes and makes it ready.
std::shared_ptr<const Executor> prepare(Graph graph);
/// Runs it: at once, or under the current interpreter if there is one.
std::vector<Array> run(const Executor& executor, std::vector<Array> args);
const Graph& graph_of(const Executor& executor);

// All that tells one form of arguments from another, as bytes.
struct KeyVisitor : tree::internal::Ignore {
  std::string bytes;
  void leaf(const Array& a, tree::Leaf) {
    if (!a.defined()) {
      bytes += '\xff';
      return;
    }
    const Aval& aval = a.aval();
    bytes += static_cast<char>(aval.dtype);
    bytes += static_cast<char>(aval.weak);
    bytes += static_cast<char>(aval.shape.rank());
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

template <class T>
void take_leaves(std::vector<Array>& out, T& x) {
  tree::internal::for_each_leaf(x, [&](auto& a, tree::Leaf) {
    if (!a.defined()) return;
    if constexpr (std::is_const_v<T>)
      out.push_back(a);
    else
      out.push_back(std::move(a));
  });
}

/// The type through which an argument that was deduced as T is read: const unless it was moved in.
template <class T>
using Kept = std::conditional_t<std::is_lvalue_reference_v<T>, const std::remove_reference_t<T>, T>;

/// What stands in the kept form of a result in the place of a leaf: only the form is kept, not what
/// was traced.
Array placeholder(tree::Leaf kind);

/// Stages f on values with the types of args. `out` gets the form of the result.
template <class F, class... Args>
auto stage(const char* name, const F& f, const Args&... args) {
  StageInterpreter interpreter(name);
  std::tuple<Args...> traced(args...);
  std::apply(
      [&](auto&... a) {
        (tree::internal::for_each_leaf(a,
                                       [&](Array& leaf, tree::Leaf) {
                                         if (leaf.defined()) leaf = interpreter.input(leaf.aval());
                                       }),
         ...);
      },
      traced);
  auto out = run_under(interpreter, [&] { return std::apply(f, std::as_const(traced)); });
  tree::internal::for_each_leaf(out, [&](Array& leaf, tree::Leaf kind) {
    if (!leaf.defined()) return;
    interpreter.output(leaf);
    leaf = placeholder(kind);
  });
  return std::pair{interpreter.take(), std::move(out)};
}

}  // namespace internal

/// A function that jit has wrapped. Copies share what was staged. Safe to call from several
/// threads.
template <class F>
class Jitted {
 public:
  explicit Jitted(F f)
      : f_(std::make_shared<const F>(std::move(f))),
        cache_(std::make_shared<internal::JitCache>()) {}

  /// The function's result. Arguments that are moved in give up their arrays: memory that nothing
  /// else holds is used for results, and the moved-from trees are left with undefined arrays.
  template <class... Args>
  auto operator()(Args&&... args) const {
    using Out = std::decay_t<std::invoke_result_t<const F&, const std::decay_t<Args>&...>>;
    internal::KeyVisitor key;
    const char* types = typeid(std::tuple<std::decay_t<Args>...>).name();
    key.bytes.append(reinterpret_cast<const char*>(&types), sizeof types);
    (tree::internal::walk(std::as_const(args), key), ...);
    std::shared_ptr<const internal::Compiled> compiled = cache_->find(key.bytes);
    if (compiled == nullptr) {
      auto [graph, form] = internal::stage("jit", *f_, std::as_const(args)...);
      cache_->count_trace();
      const bool keep = !internal::captures_tracers(graph);
      compiled = std::make_shared<const internal::Compiled>(internal::Compiled{
          internal::prepare(std::move(graph)), std::make_shared<const Out>(std::move(form))});
      if (keep) cache_->insert(key.bytes, compiled);
    }
    std::vector<Array> in;
    // Only what was moved in gives up its arrays.
    (internal::take_leaves(in, static_cast<internal::Kept<Args>&>(args)), ...);
    std::vector<Array> results = internal::run(*compiled->executor, std::move(in));
    Out out = *static_cast<const Out*>(compiled->out_form.get());
    size_t at = 0;
    tree::internal::for_each_leaf(out, [&](Array& a, tree::Leaf) {
      if (a.defined()) a = std::move(results[at++]);
    });
    return out;
  }

  /// How many times the function has been traced: once for each form (types, shapes, dtypes, static
  /// fields) of arguments.
  int64_t trace_count() const { return cache_->traces(); }

 private:
  std::shared_ptr<const F> f_;
  std::shared_ptr<internal::JitCache> cache_;
};

/// `f`, staged once for each form of its arguments: their C++ types, static fields, shapes and
/// dtypes. What f does besides operations on arrays (printing, C++ control flow) happens while it
/// is traced only; arrays that it captures become constants. Under grad, vmap or another jit the
/// graph is applied operation by operation.
template <class F>
Jitted<F> jit(F f) {
  return Jitted<F>(std::move(f));
}

/// The function that returns the graph of f for arguments of those types: make_graph(f)(x).text().
template <class F>
auto make_graph(F f) {
  return [f = std::move(f)](const auto&... args) {
    return internal::stage("make_graph", f, args...).first;
  };
}

}  // namespace spruce
