// SPDX-License-Identifier: Apache-2.0
// Functions as files: traced where they are trained, run where they serve, without their code.
#pragma once

#include <memory>
#include <shared_mutex>
#include <span>

#include "spruce/transforms/compile/jit.h"
#include "spruce/transforms/function/function_form.h"

namespace spruce {

/// One array among the arguments or in the result of a saved function.
struct SavedLeaf {
  std::string path;  ///< "0.hidden.weight": of argument 0; of a result "hidden.weight"
  Aval type;         ///< its dtype and shape; weak where it was a C++ number
};

namespace internal {

/// Saves a staged graph with its forms; takes rules of custom_jvp and custom_vjp out of it.
void save_staged(const std::string& path, Graph graph, std::vector<io::FormLine> arguments,
                 std::vector<io::FormLine> result);

// Throws TreeError, ShapeError or DtypeError where arguments are not those that the function was
// saved with.
void check_arguments(const std::string& path, const io::FunctionFile& file,
                     const std::vector<io::FormLine>& form, std::span<const Array> leaves);

}  // namespace internal

/// Traces `f` (any function, or what jit() gave) with the types of `args` and writes its graph to
/// one file: the operations, the arrays that it captures, and the forms of arguments and result.
/// load_function() runs it in a program that knows neither `f` nor the types in it. Values of the
/// arguments do not matter, except static ones, which are part of the function; a C++ number in the
/// place of an array, Array(0.5f), stays one, and what is loaded takes no array there. Derivative
/// rules (custom_jvp, custom_vjp) stay behind: what is loaded is differentiated through the bodies.
/// The file is replaced as a whole or not at all. Throws IoError if it cannot be written, what `f`
/// throws, and TracerError if `f` uses values of a transform that is running.
template <class F, class... Args>
void save_function(const std::string& path, const F& f, const Args&... args) {
  if constexpr (internal::check_run<F, Args...>()) {
    auto [graph, form] = internal::stage("save_function", f, args...);
    internal::save_staged(path, std::move(graph), internal::form_of_arguments(args...),
                          internal::form_of_result(form));
  }
}

/// A function that was loaded from a file, on arrays: the leaves of its arguments in order. Copies
/// share it. Safe to call from several threads; under grad and vmap it is differentiated and mapped
/// like any other function.
class LoadedGraph {
 public:
  /// Throws IoError for anything else than a whole file of save_function().
  explicit LoadedGraph(const std::string& path, Loc loc = Loc::current());

  /// The leaves of the result. Throws ValueError for another number of arguments, ShapeError or
  /// DtypeError for one of another type, with its path.
  std::vector<Array> operator()(std::span<const Array> args, Loc loc = Loc::current()) const;
  std::vector<Array> operator()(std::initializer_list<Array> args, Loc loc = Loc::current()) const {
    return (*this)(std::span<const Array>(args.begin(), args.size()), loc);
  }

  /// The arrays that a call takes: the defined leaves of the arguments, in order.
  const std::vector<SavedLeaf>& inputs() const;
  /// The arrays that it returns: the defined leaves of the result, in order.
  const std::vector<SavedLeaf>& outputs() const;
  /// The function on those arrays, before the passes that make it ready to run.
  const Graph& graph() const;

 protected:
  struct State;
  const io::FunctionFile& file() const;
  // Runs on leaves that fit.
  std::vector<Array> run(std::vector<Array> args) const;
  void check(const std::vector<io::FormLine>& form, std::span<const Array> leaves) const;
  bool known_key(const std::string& key) const;
  void keep_key(const std::string& key) const;

  std::shared_ptr<State> state_;
};

/// A loaded function with a C++ type.
template <class Signature>
class LoadedFunction;

/// A loaded function of arguments of those types. Copies share it; safe to call from several
/// threads.
template <class Out, class... Args>
class LoadedFunction<Out(Args...)> : public LoadedGraph {
 public:
  /// Throws IoError for anything else than a whole file of save_function(), TreeError if its result
  /// does not have the form of `Out`.
  explicit LoadedFunction(const std::string& path, Loc loc = Loc::current())
      : LoadedGraph(path, loc) {
    const LocScope place(loc);
    (void)result(std::vector<Array>(outputs().size()));
  }

  /// Throws TreeError where an argument has another form than that which was saved, or another
  /// static value; ShapeError or DtypeError where an array has another type, or stands where the
  /// function was saved with a C++ number; all with the path.
  Out operator()(const std::decay_t<Args>&... args, Loc loc = Loc::current()) const {
    const LocScope scope(loc);
    std::vector<Array> leaves;
    const auto keep = [&](const Array& a, tree::Leaf) {
      if (a.defined()) leaves.push_back(a);
    };
    (tree::internal::for_each_leaf(args, keep), ...);
    std::string key;
    internal::KeyVisitor visitor(key);
    (tree::internal::walk(args, visitor), ...);
    if (!known_key(key)) {
      check(internal::form_of_arguments(args...), leaves);
      keep_key(key);
    }
    return result(run(std::move(leaves)));
  }

 private:
  Out result(std::vector<Array> leaves) const {
    std::decay_t<Out> out{};
    internal::FormCursor at(file().result, std::move(leaves));
    internal::build(out, at);
    at.end();
    return out;
  }
};

/// The function in a file of save_function(), as a function of arrays.
inline LoadedGraph load_function(const std::string& path, Loc loc = Loc::current()) {
  return LoadedGraph(path, loc);
}

/// The same with the C++ types of arguments and result: load_function<Array(Net, Array)>("net.fn").
/// The types may be others than those that it was saved with, as long as they are trees of the same
/// form. Throws IoError for a damaged file, and TreeError if the result does not have the form of
/// `Out`.
template <class Signature>
LoadedFunction<Signature> load_function(const std::string& path, Loc loc = Loc::current()) {
  return LoadedFunction<Signature>(path, loc);
}

}  // namespace spruce
