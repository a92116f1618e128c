// SPDX-License-Identifier: Apache-2.0
#include "spruce/nn/stack_modules.h"

#include "spruce/core/ops/index.h"
#include "spruce/core/ops/join.h"

namespace spruce::nn {
namespace internal {
namespace {

// All but the values of arrays, without what is of one module alone.
std::string class_text(Node& root) {
  std::string out;
  for (const Node* n : nodes(root))
    out += ModuleRef(const_cast<Node*>(n)->shared_from_this()).name() + ' ';
  return out;
}

}  // namespace

void check_stackable(const std::vector<Node*>& roots) {
  if (roots.empty()) throw ValueError("stack_modules: there are no modules; give it at least one");
  const auto fail = [](size_t i, const std::string& what) {
    throw ValueError("stack_modules: module " + std::to_string(i) + " differs from module 0 in " +
                     what);
  };
  for (size_t i = 1; i < roots.size(); ++i) {
    if (class_text(*roots[i]) != class_text(*roots[0])) fail(i, "the classes of its parts");
    const std::vector<Node*> a = nodes(*roots[0]), b = nodes(*roots[i]);
    for (size_t k = 0; k < a.size(); ++k) {
      if (a[k]->training != b[k]->training) fail(i, "its mode; call train() or eval() on both");
      if (a[k]->layer != nullptr && a[k]->layer->form() != b[k]->layer->form())
        fail(i, "the options of a layer " + a[k]->layer->name());
    }
    const std::vector<Place> x = places(*roots[0]), y = places(*roots[i]);
    for (size_t k = 0; k < std::min(x.size(), y.size()); ++k) {
      if (x[k].variable().requires_grad != y[k].variable().requires_grad)
        fail(i, "whether '" + x[k].name + "' is frozen");
    }
  }
}

NamedArrays stack_named(const std::vector<NamedArrays>& all) {
  NamedArrays out;
  for (size_t i = 1; i < all.size(); ++i) {
    if (!all[i].same_names(all[0])) {
      throw TreeError("stack_modules: module " + std::to_string(i) +
                      " has arrays of other names than module 0");
    }
  }
  for (size_t k = 0; k < all[0].size(); ++k) {
    std::vector<Array> values;
    for (const NamedArrays& one : all) {
      const Aval &first = all[0].value(k).aval(), &aval = one.value(k).aval();
      const std::string text = "stack_modules: " + all[0].name(k) + " is " + to_string(first) +
                               " in one module and " + to_string(aval) + " in another";
      if (!(first.shape == aval.shape)) throw ShapeError(text);
      if (first.dtype != aval.dtype) throw DtypeError(text);
      values.push_back(one.value(k));
    }
    out.insert(all[0].name(k), stack(values));
  }
  out.set_holds_buffers(!all.empty() && all[0].holds_buffers());
  return out;
}

}  // namespace internal

NamedArrays unstack_module(const NamedArrays& stacked, int64_t i, Loc loc) {
  const LocScope at(loc);
  NamedArrays out;
  for (const auto& [name, value] : stacked) out.insert(name, value[i]);
  out.set_holds_buffers(stacked.holds_buffers());
  return out;
}

}  // namespace spruce::nn
