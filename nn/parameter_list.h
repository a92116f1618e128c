// SPDX-License-Identifier: Apache-2.0
// Lists and maps of parameters, as torch.nn.ParameterList and ParameterDict.
#pragma once

#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "spruce/nn/module_ref.h"

namespace spruce::nn {

/// Parameters under the names "0", "1", ... Register it in a module, and read them in forward:
///   weights = register_module("weights", nn::ParameterList{a, b});
///   for (size_t i = 0; i < weights.size(); ++i) x = sp::matmul(x, weights[i]);
/// Copies refer to the same list.
class ParameterList : public ModuleRef {
 public:
  /// The parameters in their order. Throws ValueError for an undefined array.
  ParameterList(std::initializer_list<Array> values = {}, Loc loc = Loc::current());
  explicit ParameterList(const std::vector<Array>& values, Loc loc = Loc::current());

  /// Adds a parameter behind the others. Throws ValueError for an undefined array.
  void append(const Array& value, Loc loc = Loc::current()) const;
  /// The number of parameters.
  size_t size() const { return node_->slots.size(); }
  /// The value of parameter i, in a call that of the call. Throws TreeError if there is none,
  /// ValueError in the forward of a module that does not list it.
  Array operator[](size_t i) const;
};

/// Parameters under names of one's own, in the order of insertion; otherwise as ParameterList.
class ParameterDict : public ModuleRef {
 public:
  /// The parameters with their names. Throws ValueError as insert().
  ParameterDict(std::initializer_list<std::pair<std::string, Array>> values = {},
                Loc loc = Loc::current());

  /// Adds a parameter behind the others. Throws ValueError for an undefined array, and for a name
  /// that is empty, dotted or taken.
  void insert(const std::string& name, const Array& value, Loc loc = Loc::current()) const;
  /// The number of parameters.
  size_t size() const { return node_->slots.size(); }
  /// The names in their order.
  std::vector<std::string> keys() const;
  /// True if there is a parameter of that name.
  bool contains(const std::string& name) const;
  /// The value of the parameter of that name, in a call that of the call. Throws TreeError if there
  /// is none, ValueError in the forward of a module that does not list it.
  Array operator[](const std::string& name) const;
};

}  // namespace spruce::nn
