// SPDX-License-Identifier: Apache-2.0
// Names of types as they are printed. Of the library.
#pragma once

#include <string>
#include <string_view>
#include <typeinfo>

namespace spruce::nn::internal {

/// "Linear" of spruce::nn::Linear: the name without namespaces. A template over the number of
/// spatial axes has that behind its name: "MaxUnpool2d" of MaxUnpool<2>.
std::string type_name(const std::type_info& type);

/// The name of a type as it is printed: its kClassName, which a layer has whose type has another
/// name than PyTorch's class, or else type_name().
template <class T>
std::string name_of() {
  if constexpr (requires { std::string_view(T::kClassName); })
    return std::string(std::string_view(T::kClassName));
  else
    return type_name(typeid(T));
}

/// What the options of a function say of their printing, as a layer does (see describe()); nothing
/// where they say nothing.
template <class Options>
constexpr std::string_view extra_repr_of() {
  if constexpr (requires { std::string_view(Options::kExtraRepr); })
    return Options::kExtraRepr;
  else
    return "";
}

/// A name as an argument of a template.
template <size_t n>
struct ClassName {
  char text[n];
  constexpr ClassName(const char (&name)[n]) {
    for (size_t i = 0; i < n; ++i) text[i] = name[i];
  }
};

}  // namespace spruce::nn::internal
