// SPDX-License-Identifier: Apache-2.0
// Ensembles: modules of one class as one function under vmap.
#pragma once

#include <initializer_list>

#include "spruce/nn/functionalize.h"

namespace spruce::nn {
namespace internal {

/// The arrays of all, joined along a new axis 0. Throws ValueError without modules and where the
/// classes, modes or frozen parameters differ, TreeError where names do, ShapeError or DtypeError
/// where arrays do.
NamedArrays stack_named(const std::vector<NamedArrays>& all);
void check_stackable(const std::vector<Node*>& roots);

}  // namespace internal

/// The functions of several modules of one class as one: `apply` is that of the first, and the
/// arrays of all stand along axis 0, for vmap:
///   const auto f = nn::stack_modules({nn::functionalize(a), nn::functionalize(b)});
///   const auto all = sp::vmap([&](const auto& p, const auto& b) {
///     return f.apply(p, b, {}, x).first;
///   })(f.params, f.buffers);
/// Throws ValueError for no modules, and for ones of different classes, modes or frozen parameters;
/// TreeError, ShapeError or DtypeError where their arrays differ in more than values.
template <class M>
Functional<M> stack_modules(const std::vector<Functional<M>>& modules, Loc loc = Loc::current()) {
  const LocScope at(loc);
  std::vector<NamedArrays> params, buffers;
  std::vector<internal::Node*> roots;
  for (const Functional<M>& f : modules) {
    params.push_back(f.params);
    buffers.push_back(f.buffers);
    roots.push_back(f.apply.module().node().get());
  }
  internal::check_stackable(roots);
  return {modules[0].apply, internal::stack_named(params), internal::stack_named(buffers)};
}
template <class M>
Functional<M> stack_modules(std::initializer_list<Functional<M>> modules,
                            Loc loc = Loc::current()) {
  return stack_modules(std::vector<Functional<M>>(modules), loc);
}
/// The same of modules by their pointers, which are kept.
template <std::derived_from<ModuleBase> M>
Functional<M> stack_modules(const std::vector<std::shared_ptr<M>>& modules,
                            Loc loc = Loc::current()) {
  std::vector<Functional<M>> all;
  for (const auto& m : modules) all.push_back(functionalize(m, loc));
  return stack_modules(all, loc);
}
template <std::derived_from<ModuleBase> M>
Functional<M> stack_modules(std::initializer_list<std::shared_ptr<M>> modules,
                            Loc loc = Loc::current()) {
  return stack_modules(std::vector<std::shared_ptr<M>>(modules), loc);
}
/// The arrays of module i out of stacked ones, for restore(). Throws IndexError.
NamedArrays unstack_module(const NamedArrays& stacked, int64_t i, Loc loc = Loc::current());

}  // namespace spruce::nn
