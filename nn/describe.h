// SPDX-License-Identifier: Apache-2.0
// A layer as text: its type and its options.
#pragma once

#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "spruce/core/callable.h"
#include "spruce/nn/layer_places.h"
#include "spruce/nn/type_name.h"

namespace spruce::nn {
namespace internal {

/// What is printed of a layer: its fields, and the layers in it.
struct Description {
  struct Field {
    std::string path;
    std::string text;  // of a static value; of an array its type
    bool is_array = false;
    Shape shape = {};  // of an array
  };
  std::string type;
  std::optional<std::string_view> extra_repr = {};  // the layer's words, see describe()
  std::vector<Field> fields = {};
  std::vector<std::pair<std::string, Description>> parts = {};
};

/// "Linear(in_features=4, out_features=2, bias=true)", with the layers in it in lines of their own;
/// lines behind the first begin with `indent` spaces.
std::string text_of(const Description& description, int indent = 0);

/// Whether a type is a layer struct: a tree that can be called.
template <class L>
constexpr bool is_layer_struct() {
  if constexpr (!std::is_class_v<L> || std::is_polymorphic_v<L> || TreeTraits<L>::kDefined ||
                tree::internal::Static<L>)
    return false;
  else if constexpr (fields::kObstacle<L> != fields::Obstacle::kNone && !std::is_empty_v<L>)
    return false;
  else
    return spruce::internal::is_function<L>() && kIsTree<L>;
}

/// Whether a type is a layer struct, a list of them, or a tuple with one in it.
template <class T>
constexpr bool holds_layer_structs() {
  if constexpr (tree::internal::IsVector<T>::value || tree::internal::IsStdArray<T>::value)
    return holds_layer_structs<typename T::value_type>();
  else if constexpr (tree::internal::IsTuple<T>::value)
    return []<template <class...> class C, class... E>(const C<E...>*) {
      return (holds_layer_structs<E>() || ...);
    }(static_cast<const T*>(nullptr));
  else
    return is_layer_struct<T>();
}

class FieldObserver final : public tree::internal::PathObserver {
 public:
  explicit FieldObserver(std::vector<Description::Field>& f) : fields_(f) {}
  void leaf(const Array& a, tree::Leaf) override {
    fields_.push_back({path(), a.defined() ? to_string(a.aval()) : "none", true,
                       a.defined() ? a.shape() : Shape()});
  }
  void static_value(const tree::internal::StaticValue& value) override {
    if (!value.is_function()) fields_.push_back({path(), value.text()});
  }

 private:
  std::vector<Description::Field>& fields_;
};

template <class L>
Description description_of(const L& layer);

template <class F>
void describe_field(const std::string& name, const F& field, Description& out) {
  if constexpr (tree::internal::IsOptional<F>::value) {
    if (field) describe_field(name, *field, out);
  } else if constexpr (is_layer_struct<F>() ||
                       (tree::internal::IsTuple<F>::value && holds_layer_structs<F>())) {
    out.parts.emplace_back(name, description_of(field));
  } else if constexpr (holds_layer_structs<F>()) {
    Description list{"ModuleList"};
    for (size_t i = 0; i < field.size(); ++i) describe_field(std::to_string(i), field[i], list);
    out.parts.emplace_back(name, std::move(list));
  } else {
    FieldObserver observer(out.fields);
    observer.enter(std::string_view(name));
    tree::internal::walk(field, observer.any());
  }
}

template <class L>
Description description_of(const L& layer) {
  Description out{name_of<L>()};
  if constexpr (tree::internal::IsTuple<L>::value) {  // the parameters of a sequential
    out.type = "tuple";
    [&]<size_t... I>(std::index_sequence<I...>) {
      (describe_field(std::to_string(I), std::get<I>(layer), out), ...);
    }
    (std::make_index_sequence<std::tuple_size_v<L>>());
    return out;
  }
  if constexpr (requires { std::string_view(L::kExtraRepr); }) out.extra_repr = L::kExtraRepr;
  if constexpr (!std::is_empty_v<L>) {
    if constexpr (TreeTraits<L>::kDefined || fields::kObstacle<L> != fields::Obstacle::kNone) {
      FieldObserver observer(out.fields);
      tree::internal::walk(layer, observer.any());
    } else {
      fields::for_each(layer, [&](std::string_view name, const auto& field) {
        describe_field(std::string(name), field, out);
      });
    }
  }
  return out;
}

}  // namespace internal

/// The layer with its options, "Linear(in_features=4, out_features=2, bias=true)", and with the
/// layers in it in lines of their own, as PyTorch prints modules. Any struct that is a tree and can
/// be called, one's own too; layers of nn are printed so by <<.
///
/// A struct prints its fields. One with `static constexpr std::string_view kExtraRepr` says in
/// words with spaces between them what is printed in their place, before the static fields that no
/// word names:
///   name=weight.1        the size of axis 1 of the array `weight`
///   name=weight.2+       its sizes from axis 2 on, as a shape
///   name=weight.1*groups a size times the static field `groups`
///   name?bias            whether there is the array `bias`
///   weight               the type of the array, where there is one
///   name:field           the static field `field` under that name
///   field{a,b}           the static field as one of these words, from 0 on: an enum
///   -field               nothing of that static field
/// `static constexpr const char* kClassName` is a name to print in the place of the type's.
template <class L>
requires(internal::kIsTree<L>) std::string describe(const L& layer) {
  return internal::text_of(internal::description_of(layer));
}

/// describe(layer).
template <class L>
requires(internal::is_layer_struct<L>()) std::ostream& operator<<(std::ostream& out,
                                                                  const L& layer) {
  return out << describe(layer);
}

}  // namespace spruce::nn
