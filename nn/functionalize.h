// SPDX-License-Identifier: Apache-2.0
// The bridge: a stateful Module as a pure function of its parameters and buffers, and back.
#pragma once

#include "spruce/core/tree/named_arrays.h"
#include "spruce/nn/module.h"

namespace spruce::nn {

/// What a pure call of a module needs besides arrays.
struct ApplyOptions {
  bool training = false;  ///< the mode of all modules, whatever train() and eval() have set
  Key key = {};           ///< of dropout and the like, in training
};

/// forward as a pure function: (params, buffers, options, x) -> {result, new buffers}. The module
/// itself is not touched; it gives only the code. Safe to call from several threads.
class Apply {
 public:
  /// Refers to the module, which has to live as long.
  explicit Apply(Module& module) : module_(std::shared_ptr<void>(), &module) {}
  /// Keeps the module alive.
  explicit Apply(std::shared_ptr<Module> module) : module_(std::move(module)) {}

  /// Throws TreeError where names are missing or unknown, ShapeError where a shape differs from the
  /// module's.
  std::pair<Array, NamedArrays> operator()(const NamedArrays& params, const NamedArrays& buffers,
                                           const ApplyOptions& options, const Array& x,
                                           Loc loc = Loc::current()) const;

 private:
  std::shared_ptr<Module> module_;
};

/// A module taken apart.
struct Functional {
  Apply apply;          ///< the module as a pure function
  NamedArrays params;   ///< name -> array, in the order of registration
  NamedArrays buffers;  ///< the same for running statistics
};

/// The pure form of a module, which has to live as long. Its arrays are shared, not copied, and
/// never change.
Functional functionalize(Module& module);
/// The same, keeping the module alive. Throws ValueError for a null pointer.
Functional functionalize(std::shared_ptr<Module> module, Loc loc = Loc::current());
/// A module that ends with the statement is refused by the compiler.
template <std::derived_from<Module> M>
Functional functionalize(M&& module) {
  static_assert(sizeof(M) == 0,
                "spruce: functionalize refers to the module, which would end with this statement; "
                "give the module a name, or hand over a std::shared_ptr to it");
  return functionalize(static_cast<Module&>(module));
}

/// Puts parameters and buffers back into a module. Throws as load_state_dict; changes nothing then.
void restore(Module& module, const NamedArrays& params, const NamedArrays& buffers,
             Loc loc = Loc::current());

}  // namespace spruce::nn
