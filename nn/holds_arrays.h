// SPDX-License-Identifier: Apache-2.0
// Whether a type can hold arrays: what tells a layer with parameters from a plain function.
#pragma once

#include "spruce/core/tree/walk.h"

namespace spruce::nn::internal {

/// True for types with TreeTraits that never hold arrays.
template <class T>
inline constexpr bool kStaticTree = false;

template <class T>
constexpr bool holds_arrays();

struct AnyHoldsArrays {
  template <class... F>
  constexpr auto operator()(F&...) const {
    return std::bool_constant<(holds_arrays<std::remove_const_t<F>>() || ...)>();
  }
};

/// True for an Array, a Buffer, a Key, and for the trees in which some may stand; false for static
/// values, for types that are no trees (lambdas), and for structs without arrays such as Dropout.
template <class T>
constexpr bool holds_arrays() {
  namespace walk = tree::internal;
  if constexpr (std::is_same_v<T, Array> || std::is_same_v<T, Buffer> || std::is_same_v<T, Key>) {
    return true;
  } else if constexpr (walk::Static<T> || kStaticTree<T>) {
    return false;
  } else if constexpr (TreeTraits<T>::kDefined) {
    return true;
  } else if constexpr (walk::IsVector<T>::value) {
    return !walk::Static<typename T::value_type>;  // not looked into: a struct may hold a vector
  } else if constexpr (walk::IsMap<T>::value) {    // or a map of itself
    return !walk::Static<typename T::mapped_type>;
  } else if constexpr (walk::IsStdArray<T>::value || walk::IsOptional<T>::value) {
    return holds_arrays<typename T::value_type>();
  } else if constexpr (walk::IsTuple<T>::value || walk::IsVariant<T>::value) {
    return []<template <class...> class C, class... E>(const C<E...>*) {
      return (holds_arrays<E>() || ...);
    }(static_cast<const T*>(nullptr));
  } else if constexpr (std::is_class_v<T> && !std::is_empty_v<T>) {
    if constexpr (fields::kObstacle<T> == fields::Obstacle::kNone)
      return decltype(fields::apply(std::declval<T&>(), AnyHoldsArrays{}))::value;
    else
      return false;
  } else {
    return false;
  }
}

}  // namespace spruce::nn::internal
