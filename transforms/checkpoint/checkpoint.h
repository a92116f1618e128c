// SPDX-License-Identifier: Apache-2.0
// checkpoint: reverse mode with less memory. What a function computes on the way is not kept for
// the backward pass but computed again there (rematerialisation; Griewank and Walther 2000, Chen et
// al. 2016).
#pragma once

#include <optional>

#include "spruce/core/interpreter.h"
#include "spruce/core/primitive.h"
#include "spruce/transforms/control/body/body.h"
#include "spruce/transforms/function/checked_function.h"

namespace spruce {

/// What checkpoint keeps besides the function's arguments.
struct CheckpointOptions {
  bool save_matmuls = false;                 ///< the results of matrix products and convolutions
  std::vector<std::string> save_names = {};  ///< values to which checkpoint_name gave these names
};

/// Gives a value a name for CheckpointOptions::save_names. The value itself; linear. Throws
/// ValueError for an empty name or one with a comma.
Array checkpoint_name(const Array& x, const std::string& name, Loc loc = Loc::current());

namespace internal {

/// f(in), staged, as one operation that reverse mode computes twice.
std::vector<Array> run_checkpoint(const FlatBody& f, std::span<const Array> in,
                                  const CheckpointOptions& options);

template <class F>
class Checkpointed {
 public:
  Checkpointed(F f, CheckpointOptions options, Loc loc)
      : f_(std::move(f)), options_(std::move(options)), loc_(loc) {}

  template <class... Args>
  auto operator()(const Args&... args) const {
    if constexpr (check_run<F, Args...>())
      return run(args...);
    else
      return refused<Array>();
  }

 private:
  template <class... Args>
  auto run(const Args&... args) const {
    const FunctionScope within(loc_);
    using Out = std::decay_t<std::invoke_result_t<const F&, const Args&...>>;
    if (Interpreter::current() == nullptr) return Out(f_(args...));
    const std::tuple<Args...> like(args...);
    std::vector<Array> in;
    append_leaves(in, like);
    std::optional<Out> form;
    const FlatBody flat = [&](std::span<const Array> leaves) {
      form = std::apply([&](const Args&... own) { return call_body("checkpoint", f_, own...); },
                        with_leaves(like, leaves));
      std::vector<Array> out;
      append_leaves(out, *form);
      return out;
    };
    const std::vector<Array> out = run_checkpoint(flat, in, options_);
    return with_leaves(*form, std::span<const Array>(out));
  }

  F f_;
  CheckpointOptions options_;
  Loc loc_;
};

}  // namespace internal

/// The same function, of which grad and vjp keep only the arguments (and what the options name):
/// the backward pass computes the rest again. The values and derivatives are the same; the price is
/// one more run of the function. Arguments and results are trees, and the function may close over
/// traced values. While it is differentiated it is staged: there are no values to look at from C++,
/// as under jit. A function of many layers gains most where each layer, or a block of them, is
/// wrapped. It nests, and under jit the second run stays a second run.
template <class F>
auto checkpoint(F f, CheckpointOptions options = {}, Loc loc = Loc::current()) {
  return internal::Checkpointed<F>(std::move(f), std::move(options), loc);
}

/// Refused; the compiler says how to write it: checkpoint(f)(x).
template <class F, internal::NoOption<CheckpointOptions> A, class... B>
auto checkpoint(const F&, const A&, const B&...) {
  return internal::refuse_arguments<Array, A>();
}

}  // namespace spruce
