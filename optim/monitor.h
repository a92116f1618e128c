// SPDX-License-Identifier: Apache-2.0
// What is measured of the updates at some place of a chain, kept in the state.
#pragma once

#include <map>

#include "spruce/optim/ema.h"

namespace spruce::optim {

/// State of snapshot.
template <class M>
struct SnapshotState {
  std::map<std::string, M> measurement;  ///< by its name: of the last updates
};

/// Updates that are the gradients as they are, and a measure of them in the state.
template <class F>
struct Snapshot {
  std::string name;  ///< the name of the measurement
  F measure;         ///< measure(updates): an Array or another tree

  /// The measure of the parameters, for its form.
  template <class T>
  auto init(const T& params) const {
    using M = std::decay_t<decltype(measure(params))>;
    return SnapshotState<M>{{{name, measure(params)}}};
  }
  /// {gradients, {name: measure(gradients)}}. The parameters are not looked at.
  template <class G, class S, class P>
  std::pair<G, S> update(const G& grads, const S&, const P&, Loc loc = Loc::current()) const {
    const OpScope at("snapshot", loc);
    return {grads, S{{{name, measure(grads)}}}};
  }
};
/// snapshot("updates", [](const auto& u) { return u; }) as a part of chain(): what comes through
/// there stands in its state, under that name, until the next update.
template <class F>
Snapshot<F> snapshot(std::string name, F measure) {
  return {std::move(name), std::move(measure)};
}

/// A running mean of a measure of the updates, for monitor(): its updates are one Array.
template <class F>
struct MeasureWithEma {
  F measure;  ///< measure(updates): an Array
  Ema ema;    ///< the running mean

  /// Count 0, and zeros of the measure's form.
  template <class T>
  EmaState<Array> init(const T& params) const {
    return ema.init(Array(measure(params)));
  }
  /// {the mean, next state}.
  template <class G, class P>
  std::pair<Array, EmaState<Array>> update(const G& grads, const EmaState<Array>& state,
                                           const P& params, Loc loc = Loc::current()) const {
    const OpScope at("measure_with_ema", loc);
    return ema.update(Array(measure(grads)), state, params);
  }
};
/// A measure that is averaged over updates as ema() does it: monitor(std::pair{"norm",
/// measure_with_ema([](const auto& g) { return global_norm(g); }, 0.9)}). Throws ValueError for a
/// decay outside of 0 <= decay < 1.
template <class F>
MeasureWithEma<F> measure_with_ema(F measure, Hyperparam decay, bool debias = true,
                                   Loc loc = Loc::current()) {
  const OpScope at("measure_with_ema", loc);
  return {std::move(measure), ema(std::move(decay), debias)};
}

/// State of monitor.
template <class... S>
struct MonitorState {
  std::map<std::string, Array> measurements;  ///< by name: of the last updates, zeros before them
  std::tuple<S...> states;                    ///< of the measures that have one
};

namespace internal {

template <class M, class T>
auto measure_start(const M& measure, const T& params) {
  if constexpr (requires { measure.init(params); })
    return measure.init(params);
  else
    return EmptyState{};
}
// {measurement, next state}.
template <class M, class G, class S, class P, class... E>
std::pair<Array, S> measured(const M& measure, const G& grads, const S& state, const P& params,
                             const E&... extra) {
  if constexpr (requires { measure.init(params); })
    return update_part(measure, grads, state, params, extra...);
  else
    return {Array(measure(grads)), state};
}

}  // namespace internal

/// Updates that are the gradients as they are, and measures of them in the state.
template <class... M>
class Monitor : public internal::Wrapper<Monitor<M...>> {
 public:
  /// measures[i] under names[i].
  Monitor(std::vector<std::string> names, M... measures)
      : names_(std::move(names)), measures_(std::move(measures)...) {}

  /// Zeros of the measures' forms, and their states.
  template <class P>
  auto init(const P& params, Loc loc = Loc::current()) const {
    const LocScope at(loc);
    return std::apply(
        [&](const auto&... measure) {
          MonitorState<decltype(internal::measure_start(measure, params))...> state{
              {}, {internal::measure_start(measure, params)...}};
          size_t i = 0;
          ((state.measurements[names_[i++]] =
                zeros_like(internal::measured(measure, params,
                                              internal::measure_start(measure, params), params)
                               .first)),
           ...);
          return state;
        },
        measures_);
  }

 private:
  friend class internal::Wrapper<Monitor>;

  const char* name() const { return "monitor"; }

  template <class G, class S, class P, class... E>
  std::pair<G, S> apply(const G& grads, const S& state, const P& params, const E&... extra) const {
    S next = state;
    [&]<size_t... I>(std::index_sequence<I...>) {
      ((std::tie(next.measurements[names_[I]], std::get<I>(next.states)) = internal::measured(
            std::get<I>(measures_), grads, std::get<I>(state.states), params, extra...)),
       ...);
    }
    (std::index_sequence_for<M...>{});
    return {grads, std::move(next)};
  }

  std::vector<std::string> names_;
  std::tuple<M...> measures_;
};
/// Measures by name, as a part of chain(): monitor(std::pair{"norm", [](const auto& g) { return
/// global_norm(g); }}) puts the norm of what comes through there into measurements["norm"] of its
/// state. A measure is a function of the updates that gives an Array, or a transformation whose
/// updates are one, such as measure_with_ema.
template <class... M>
Monitor<M...> monitor(std::pair<const char*, M>... measures) {
  return Monitor<M...>({measures.first...}, std::move(measures.second)...);
}

}  // namespace spruce::optim
