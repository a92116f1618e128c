// SPDX-License-Identifier: Apache-2.0
// What a function would give, as shapes only.
#pragma once

#include "spruce/core/interpreter.h"
#include "spruce/core/tree/tree.h"

namespace spruce {
namespace internal {

/// Runs operations by their rules for types alone: nothing is computed, and nothing kept.
class ShapeInterpreter final : public Interpreter {
 public:
  /// An array of that type, without elements.
  Array of_type(const Aval& aval) const;

  void process(const Primitive& p, std::span<const Array> in, const Params& params,
               std::span<Array> out) override;
  std::vector<Array> process_custom(const std::shared_ptr<const CustomFunction>& f,
                                    std::span<const Array> in) override;
  const char* name() const override { return "eval_shape"; }
};

// An argument with the types of its arrays; what is no tree is passed on as it is.
template <class T>
T shapes_of(const ShapeInterpreter& shapes, T x) {
  if constexpr (std::is_same_v<decltype(tree::internal::find_culprit<T>()),
                               tree::internal::NoCulprit>) {
    tree::internal::for_each_leaf(x, [&](Array& a, tree::Leaf) {
      if (a.defined()) a = shapes.of_type(a.aval());
    });
  }
  return x;
}

}  // namespace internal

/// The result of f(args...), a model, a state, anything, whose arrays have types and no elements:
/// nothing is computed, and no memory is taken for arrays, so that a model of 10^12 parameters can
/// be described.
///   const auto net = sp::eval_shape([] { return nn::Linear::init(sp::Key(0), 1 << 20, 1 << 20);
///   }); std::cout << net.weight.aval() << nn::count(net);
///
/// The arguments count by their types too, so that results are arguments of another eval_shape:
/// eval_shape(optimizer.init, net). Arrays that f closes over and hands on stay as they are. The
/// arrays of the result cannot be computed with: TracerError. A module that is made so gets its
/// arrays by load_state_dict().
///
/// Throws what f throws: ShapeError and DtypeError as in a call; TracerError where it reads
/// elements.
template <class F, class... Args>
auto eval_shape(const F& f, const Args&... args) {
  internal::ShapeInterpreter shapes;
  const InterpreterScope scope(&shapes);
  return f(internal::shapes_of(shapes, args)...);
}

}  // namespace spruce
