// SPDX-License-Identifier: Apache-2.0
// Lists and maps of modules, as torch.nn.ModuleList and ModuleDict.
#pragma once

#include <initializer_list>

#include "spruce/nn/any_module.h"

namespace spruce::nn {
namespace internal {

/// How a part of a list is held: a layer struct as Stateful, a module by its pointer.
template <class T>
struct PartOf {
  using Given = T;
  using Type = Stateful<T>;
  static Type make(T layer) { return Type(std::move(layer)); }
  static const std::shared_ptr<Node>& node(const Type& part) { return part.node(); }
};
template <std::derived_from<ModuleBase> T>
struct PartOf<T> {
  using Given = std::shared_ptr<T>;
  using Type = std::shared_ptr<T>;
  static Type make(std::shared_ptr<T> module) { return module; }
  static const std::shared_ptr<Node>& node(const Type& part) { return part->node(); }
};

template <>
struct PartOf<AnyModule> {
  using Given = AnyModule;
  using Type = AnyModule;
  static Type make(AnyModule module) { return module; }
  static const std::shared_ptr<Node>& node(const Type& part) { return part.node(); }
};

/// Adds a part to the node of a list. Throws ValueError for a null pointer, a name that cannot be
/// one, and a part that holds the list.
void add_part(Node& list, const std::string& name, const std::shared_ptr<Node>& part);
[[noreturn]] void throw_null_part(const char* op);
[[noreturn]] void throw_no_part(const char* op, const Node& list, const std::string& name);

template <class T>
const std::shared_ptr<Node>& node_of(const char* op, const typename PartOf<T>::Type& part) {
  if constexpr (std::derived_from<T, ModuleBase>) {
    if (part == nullptr) throw_null_part(op);
  }
  return PartOf<T>::node(part);
}

}  // namespace internal

/// Modules under the names "0", "1", ...: of layer structs, or of a class of modules by shared
/// pointers. Register it, and call its parts one by one:
///   layers_ = register_module("layers", nn::ModuleList<nn::Linear>{a, b});
///   for (const auto& layer : layers_) x = layer(x);
/// ModuleList<> holds modules of different classes, each from one array to one. Copies refer to the
/// same list.
template <class T = AnyModule>
class ModuleList : public ModuleRef {
 public:
  /// What it is given: a T, or a std::shared_ptr<T> if T is a module.
  using Given = typename internal::PartOf<T>::Given;
  /// What it holds: Stateful<T>, or std::shared_ptr<T>.
  using Part = typename internal::PartOf<T>::Type;

  /// The parts in their order. Throws ValueError for a null pointer.
  ModuleList(std::initializer_list<Given> parts = {}, Loc loc = Loc::current())
      : ModuleList(std::vector<Given>(parts), loc) {}
  explicit ModuleList(std::vector<Given> parts, Loc loc = Loc::current())
      : ModuleRef(std::make_shared<internal::Node>()),
        parts_(std::make_shared<std::vector<Part>>()) {
    node_->type = "ModuleList";
    for (Given& p : parts) append(std::move(p), loc);
  }

  /// Adds a part behind the others. Throws ValueError for a null pointer.
  void append(Given part, Loc loc = Loc::current()) const {
    const LocScope at(loc);
    Part made = internal::PartOf<T>::make(std::move(part));
    internal::add_part(*node_, std::to_string(parts_->size()),
                       internal::node_of<T>("ModuleList", made));
    parts_->push_back(std::move(made));
  }
  /// The number of parts.
  size_t size() const { return parts_->size(); }
  /// Part i. Throws TreeError if there is none.
  const Part& operator[](size_t i) const {
    if (i >= size())
      internal::throw_no_part("ModuleList", *node_, std::to_string(static_cast<int64_t>(i)));
    return (*parts_)[i];
  }
  /// The first part.
  auto begin() const { return std::as_const(*parts_).begin(); }
  /// Behind the last part.
  auto end() const { return std::as_const(*parts_).end(); }

 private:
  std::shared_ptr<std::vector<Part>> parts_;
};

/// Modules under names of one's own, in the order of insertion; otherwise as ModuleList.
template <class T = AnyModule>
class ModuleDict : public ModuleRef {
 public:
  /// What it is given: a T, or a std::shared_ptr<T> if T is a module.
  using Given = typename internal::PartOf<T>::Given;
  /// What it holds: Stateful<T>, or std::shared_ptr<T>.
  using Part = typename internal::PartOf<T>::Type;

  /// The parts in their order. Throws ValueError as insert().
  ModuleDict(std::initializer_list<std::pair<std::string, Given>> parts = {},
             Loc loc = Loc::current())
      : ModuleRef(std::make_shared<internal::Node>()),
        parts_(std::make_shared<std::vector<std::pair<std::string, Part>>>()) {
    node_->type = "ModuleDict";
    for (const auto& [name, part] : parts) insert(name, part, loc);
  }

  /// Adds a part behind the others. Throws ValueError for a null pointer, and for a name that is
  /// empty, dotted or taken.
  void insert(const std::string& name, Given part, Loc loc = Loc::current()) const {
    const LocScope at(loc);
    Part made = internal::PartOf<T>::make(std::move(part));
    internal::add_part(*node_, name, internal::node_of<T>("ModuleDict", made));
    parts_->emplace_back(name, std::move(made));
  }
  /// The number of parts.
  size_t size() const { return parts_->size(); }
  /// True if there is a part of that name.
  bool contains(const std::string& name) const {
    for (const auto& p : *parts_) {
      if (p.first == name) return true;
    }
    return false;
  }
  /// The part of that name. Throws TreeError if there is none.
  const Part& operator[](const std::string& name) const {
    for (const auto& p : *parts_) {
      if (p.first == name) return p.second;
    }
    internal::throw_no_part("ModuleDict", *node_, name);
  }
  /// The first entry: a name and its part.
  auto begin() const { return std::as_const(*parts_).begin(); }
  /// Behind the last entry.
  auto end() const { return std::as_const(*parts_).end(); }

 private:
  std::shared_ptr<std::vector<std::pair<std::string, Part>>> parts_;
};

}  // namespace spruce::nn
