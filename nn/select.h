// SPDX-License-Identifier: Apache-2.0
// Which arrays of a model: by a pattern of their paths, or by the type of the layer they stand in.
// What these give are predicates of (path, array), for tree::partition, tree::map_with_path and the
// masks of optimizers:
//   const auto [decayed, rest] = sp::tree::partition(nn::matching("blocks.*.weight"), model);
#pragma once

#include <string>
#include <vector>

#include "spruce/nn/describe.h"

namespace spruce::nn {

/// A predicate of paths: a || b chooses what one of them chooses, !a what a does not.
class Selection {
 public:
  /// Of the library: paths that one of the patterns matches.
  explicit Selection(std::vector<std::string> patterns) : patterns_(std::move(patterns)) {}

  /// Whether it chooses the path, "blocks.0.norm.weight".
  bool operator()(const std::string& path) const;
  /// The same, as predicates are called.
  bool operator()(const std::string& path, const Array&) const { return (*this)(path); }

  /// What one of them chooses. Throws ValueError where one is a negation.
  friend Selection operator||(Selection a, const Selection& b) { return a.joined(b); }
  /// All that it does not choose.
  Selection operator!() const {
    Selection other = *this;
    other.inverted_ = !inverted_;
    return other;
  }

 private:
  Selection joined(const Selection& other) const;
  std::vector<std::string> patterns_;
  bool inverted_ = false;
};

/// Paths that the pattern matches, whole or at their beginning: "blocks.*.norm" chooses
/// "blocks.0.norm.weight". Between dots * stands for any characters, so that "*" is any one
/// component and "norm*" one that begins so; ** stands for any number of components, none too:
/// "**.bias". Throws ValueError for an empty pattern.
Selection matching(const std::string& pattern, Loc loc = Loc::current());

namespace internal {

template <class L, class F>
void collect_layers(const std::string& path, const F& field, std::vector<std::string>& out) {
  if constexpr (std::is_same_v<F, L>) {
    out.push_back(path);
  } else if constexpr (tree::internal::IsOptional<F>::value) {
    if (field) collect_layers<L>(path, *field, out);
  } else if constexpr (tree::internal::IsVector<F>::value || tree::internal::IsStdArray<F>::value) {
    if constexpr (!tree::internal::Static<typename F::value_type>)
      for (size_t i = 0; i < field.size(); ++i)
        collect_layers<L>(join_path(path, std::to_string(i)), field[i], out);
  } else if constexpr (tree::internal::IsMap<F>::value) {
    for (const auto& [key, value] : field)
      collect_layers<L>(
          join_path(path, tree::internal::path_component(tree::internal::key_text(key))), value,
          out);
  } else if constexpr (tree::internal::IsTuple<F>::value) {
    size_t i = 0;
    std::apply(
        [&](const auto&... part) {
          (collect_layers<L>(join_path(path, std::to_string(i++)), part, out), ...);
        },
        field);
  } else if constexpr (std::is_class_v<F> && !TreeTraits<F>::kDefined && !std::is_empty_v<F>) {
    if constexpr (fields::kObstacle<F> == fields::Obstacle::kNone)
      fields::for_each(field, [&](std::string_view name, const auto& inner) {
        collect_layers<L>(join_path(path, std::string(name)), inner, out);
      });
  }
}

/// Paths that one of these, which hold no patterns, begins.
Selection below(const std::vector<std::string>& paths);

}  // namespace internal

/// All that stands in layers of the type L in `model`, a tree: layers_of<nn::LayerNorm>(model).
template <class L, class M>
Selection layers_of(const M& model) {
  std::vector<std::string> paths;
  internal::collect_layers<L>("", model, paths);
  return internal::below(paths);
}

}  // namespace spruce::nn
