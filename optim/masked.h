// SPDX-License-Identifier: Apache-2.0
// Transformations of a part of the parameters.
#pragma once

#include "spruce/optim/transformation.h"

namespace spruce::optim {

/// State of a transformation that sees a part of the parameters: its own, with undefined arrays in
/// the places of the leaves that it does not see.
template <class S>
struct MaskedState {
  S inner;  ///< the state of the inner transformation
};

/// A transformation of the leaves for which a predicate is true; the gradients of the others stay
/// as they are. The inner transformation sees undefined arrays in their places: it keeps no state
/// for them, and norms do not count them.
template <class T>
class Masked : public internal::Wrapper<Masked<T>> {
 public:
  /// `inner` for the leaves for which `mask` is true.
  Masked(T inner, Mask mask) : inner_(std::move(inner)), mask_(std::move(mask)) {}

  /// The state of the inner transformation for the leaves that it sees.
  template <class P>
  auto init(const P& params, Loc loc = Loc::current()) const {
    const LocScope at(loc);
    const P seen = internal::only(internal::selection(mask_, params), params);
    return MaskedState<decltype(inner_.init(params))>{inner_.init(seen)};
  }

 private:
  friend class internal::Wrapper<Masked>;

  template <class G, class S, class P, class... E>
  std::pair<G, S> apply(const G& grads, const S& state, const P& params, const E&... extra) const {
    const std::vector<bool> selected = internal::selection(mask_, params);
    internal::check_selection("masked", selected, grads, params);
    auto [updates, next] =
        internal::update_part(inner_, internal::only(selected, grads), state.inner,
                              internal::only(selected, params), extra...);
    return {internal::merge(selected, updates, grads), S{std::move(next)}};
  }

  T inner_;
  Mask mask_;
};
/// masked(add_decayed_weights(0.1), predicate): `inner` for the leaves for which predicate(path,
/// leaf) is true. The gradients of the other leaves pass through: behind a whole optimizer they
/// would be added to the parameters; see partition() and freeze().
template <class T>
Masked<T> masked(T inner, Mask predicate) {
  return {std::move(inner), std::move(predicate)};
}
/// Updates of zeros for the leaves for which predicate(path, leaf) is true, so that they stay as
/// they are; the last part of a chain: chain(adamw(), freeze(predicate)). An optimizer in front
/// still keeps a state for them; partition() spares it.
Masked<SetToZero> freeze(Mask predicate);

/// The label of a leaf, from its path and the leaf.
using Label = std::function<std::string(const std::string& path, const Array& leaf)>;

namespace internal {

// Throws ValueError for a label that stands there twice.
void check_labels(const std::vector<std::string>& labels);
// Throws ValueError where there is no such label.
int place_of_label(const std::vector<std::string>& labels, const std::string& label,
                   const std::string& path);
// For each leaf the place of its label among `labels`; -1 for what is not trained.
template <class P>
std::vector<int> places(const Label& label_of, const std::vector<std::string>& labels,
                        const P& params) {
  check_labels(labels);
  std::vector<int> out;
  for (const tree::Entry& e : tree::entries(params)) {
    out.push_back(is_trainable(e.value, e.kind)
                      ? place_of_label(labels, label_of(e.path, e.value), e.path)
                      : -1);
  }
  return out;
}

}  // namespace internal

/// Several transformations, each for the leaves with its label. The state is a tuple of
/// MaskedStates in the order of the labels.
template <class... T>
class Partition : public internal::Wrapper<Partition<T...>> {
 public:
  /// Leaves for which `label_of` gives labels[i] go to parts[i].
  Partition(Label label_of, std::vector<std::string> labels, T... parts)
      : label_of_(std::move(label_of)), labels_(std::move(labels)), parts_(std::move(parts)...) {}

  /// std::tuple{MaskedState{part.init(its leaves)}...}. Throws ValueError for a label that no
  /// transformation has, and for one that two have.
  template <class P>
  auto init(const P& params, Loc loc = Loc::current()) const {
    const LocScope at(loc);
    const std::vector<int> places = internal::places(label_of_, labels_, params);
    return [&]<size_t... I>(std::index_sequence<I...>) {
      return std::tuple{MaskedState<decltype(std::get<I>(parts_).init(params))>{
          std::get<I>(parts_).init(internal::only(chosen(places, I), params))}...};
    }
    (std::index_sequence_for<T...>{});
  }

 private:
  friend class internal::Wrapper<Partition>;

  static std::vector<bool> chosen(const std::vector<int>& places, size_t part) {
    std::vector<bool> out;
    for (const int place : places) out.push_back(place == static_cast<int>(part));
    return out;
  }

  template <class G, class S, class P, class... E>
  std::pair<G, S> apply(const G& grads, const S& state, const P& params, const E&... extra) const {
    const std::vector<int> places = internal::places(label_of_, labels_, params);
    std::pair<G, S> out{grads, state};
    [&]<size_t... I>(std::index_sequence<I...>) {
      (
          [&] {
            const std::vector<bool> selected = chosen(places, I);
            internal::check_selection("partition", selected, grads, params);
            auto [updates, next] = internal::update_part(
                std::get<I>(parts_), internal::only(selected, grads), std::get<I>(state).inner,
                internal::only(selected, params), extra...);
            out.first = internal::merge(selected, updates, out.first);
            std::get<I>(out.second).inner = std::move(next);
          }(),
          ...);
    }
    (std::index_sequence_for<T...>{});
    return out;
  }

  Label label_of_;
  std::vector<std::string> labels_;
  std::tuple<T...> parts_;
};
/// A transformation for each label: partition(label_of, std::pair{"head", adamw()},
/// std::pair{"body", set_to_zero()}), where label_of(path, leaf) gives "head" or "body". Throws
/// ValueError, from init and update, naming path and label where no transformation has it, and for
/// a label that two have.
template <class... T>
Partition<T...> partition(Label label_of, std::pair<const char*, T>... parts) {
  return Partition<T...>(std::move(label_of), {parts.first...}, std::move(parts.second)...);
}

/// `inner` for the leaves for which frozen(path, leaf) is false, without a state for the others,
/// whose updates are zeros.
template <class T>
Partition<T, SetToZero> selective_transform(T inner, Mask frozen) {
  const auto label = [frozen = std::move(frozen)](const std::string& path, const Array& leaf) {
    return std::string(frozen(path, leaf) ? "freeze" : "train");
  };
  return partition(label, std::pair{"train", std::move(inner)}, std::pair{"freeze", set_to_zero()});
}

}  // namespace spruce::optim
