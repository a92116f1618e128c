// SPDX-License-Identifier: Apache-2.0
// Factories made of factories: one several times, beside a shortcut, or side by side.
#pragma once

#include "spruce/core/ops/math.h"
#include "spruce/nn/factory.h"
#include "spruce/transforms/control/loops/scan.h"
#include "spruce/transforms/vmap/vmap.h"

namespace spruce::nn {
namespace internal {

/// Throws ValueError for a negative number of repetitions.
int64_t checked_repeats(int64_t n);
/// Throws ShapeError: what is added to x has another shape.
void check_residual(const Array& x, const Array& y);
/// Throws ValueError: a stacked block updates buffers, which a loop cannot hand out.
void check_no_updates(const Context& ctx);

}  // namespace internal

/// One block n times, each with parameters of its own: a std::vector of them.
template <class Block>
class Repeat : public Factory<Repeat<Block>> {
 public:
  /// `n` blocks. Throws ValueError for a negative n.
  Repeat(int64_t n, Block block) : n_(internal::checked_repeats(n)), block_(std::move(block)) {}

  /// Block i gets the i-th of split(key, n), and an example that has gone through the blocks
  /// before.
  template <class A>
  auto init(const Key& key, const A& example, Loc loc = Loc::current()) const {
    const FunctionScope within(loc);
    std::vector<decltype(internal::init_part(block_, key, loc, example))> all;
    if (n_ == 0) return all;
    const Key keys = random::split(key, n_, loc);
    Context ctx;
    A x = example;
    for (int64_t i = 0; i < n_; ++i) {
      all.push_back(internal::init_part(block_, keys[i], loc, x));
      const internal::PartScope inside(ctx, "repeat", static_cast<size_t>(i), name_of(all.back()));
      if (i + 1 < n_) x = internal::run_part(block_, all.back(), ctx, loc, x);
    }
    return all;
  }
  /// x through all blocks.
  template <class P, class A>
  A run(const std::vector<P>& parameters, Context& ctx, Loc loc, const A& x) const {
    const FunctionScope within(loc);
    A y = x;
    for (size_t i = 0; i < parameters.size(); ++i) {
      const internal::PartScope inside(ctx, "repeat", i, name_of(parameters[i]));
      y = internal::run_part(block_, parameters[i], ctx, loc, y);
    }
    return y;
  }

 private:
  template <class P>
  static auto name_of(const P&) {
    return &internal::part_name<Block, P>;
  }

  int64_t n_;
  Block block_;
};

/// The same with parameters that are stacked along axis 0, and a loop (scan) over them: the block
/// is traced and compiled once. It keeps the shape and dtype of its input, and has no buffers that
/// training updates.
template <class Block>
class StackedRepeat : public Factory<StackedRepeat<Block>> {
 public:
  /// `n` blocks. Throws ValueError for a negative n.
  StackedRepeat(int64_t n, Block block)
      : n_(internal::checked_repeats(n)), block_(std::move(block)) {}

  /// Block i gets the i-th of split(key, n), all the same example.
  template <class A>
  auto init(const Key& key, const A& example, Loc loc = Loc::current()) const {
    const FunctionScope within(loc);
    return vmap([&](const Key& k) { return internal::init_part(block_, k, loc, example); })(
        random::split(key, n_, loc));
  }
  /// x through all blocks. Throws ValueError in training if a block updates buffers.
  template <class P, class A>
  A run(const P& parameters, Context& ctx, Loc loc, const A& x) const {
    const FunctionScope within(loc);
    const bool random = ctx.training && ctx.key.data().defined();
    const Key keys = random ? random::split(ctx.next_key("repeat"), n_, loc) : Key();
    const auto step = [&](const A& y, const auto& part, const Key& key) {
      Context inside;
      inside.training = ctx.training;
      inside.key = key;
      A next = internal::run_part(block_, part, inside, loc, y);
      internal::check_no_updates(inside);
      return std::pair{std::move(next), none};
    };
    if (random) {
      return scan([&](const A& y,
                      const std::pair<P, Key>& part) { return step(y, part.first, part.second); },
                  x, std::pair{parameters, keys}, {}, loc)
          .first;
    }
    return scan([&](const A& y, const P& part) { return step(y, part, Key()); }, x, parameters, {},
                loc)
        .first;
  }

 private:
  int64_t n_;
  Block block_;
};

/// For repeat(): the parameters of all blocks are stacked.
struct Stacked {};
/// repeat(4, block, stacked).
inline constexpr Stacked stacked{};

/// A block n times, one after the other, with parameters of their own. Throws ValueError for a
/// negative n.
template <class Block>
auto repeat(int64_t n, Block&& block) {
  if constexpr (internal::check_parts<Block>()) {
    return Repeat<internal::AsFactory<Block>>(
        n, internal::as_factory(std::decay_t<Block>(std::forward<Block>(block))));
  } else {
    return Sequential<>();
  }
}
template <class Block>
auto repeat(int64_t n, Block&& block, Stacked) {
  if constexpr (internal::check_parts<Block>()) {
    return StackedRepeat<internal::AsFactory<Block>>(
        n, internal::as_factory(std::decay_t<Block>(std::forward<Block>(block))));
  } else {
    return Sequential<>();
  }
}

/// x + body(x) (He et al. 2016). Parameters are those of the body.
template <class Body>
class ResidualFactory : public Factory<ResidualFactory<Body>> {
 public:
  /// Keeps the body.
  explicit ResidualFactory(Body body) : body_(std::move(body)) {}

  /// The parameters of the body.
  auto init(const Key& key, const Array& example, Loc loc = Loc::current()) const {
    return internal::init_part(body_, key, loc, example);
  }
  /// x + body(x). Throws ShapeError where the body changes the shape.
  template <class P>
  Array run(const P& parameters, Context& ctx, Loc loc, const Array& x) const {
    const FunctionScope within(loc);
    const Array y = internal::run_part(body_, parameters, ctx, loc, x);
    const LocScope at(loc);
    internal::check_residual(x, y);
    return x + y;
  }

 private:
  Body body_;
};
/// The parts one after the other, and the input added to what they give.
template <class... Parts>
auto residual(Parts&&... parts) {
  return ResidualFactory<decltype(sequential(std::forward<Parts>(parts)...))>(
      sequential(std::forward<Parts>(parts)...));
}

/// Several parts with the same inputs. The result is a tuple of theirs, which the next part of a
/// sequential() takes as arguments: sequential(parallel(dense(4), dense(4)), sp::add).
template <class... Parts>
class Parallel : public Factory<Parallel<Parts...>> {
 public:
  /// The parts, which are factories.
  explicit Parallel(Parts... parts) : parts_(std::move(parts)...) {}

  /// A tuple of their parameters; part i gets the i-th of split(key, number of parts).
  template <class... X>
  auto init(const Key& key, const X&... examples) const {
    const Key keys = random::split(key, static_cast<int64_t>(sizeof...(Parts)));
    return [&]<size_t... I>(std::index_sequence<I...>) {
      return std::tuple<decltype(internal::init_part(std::get<I>(parts_), key, Loc::none(),
                                                     examples...))...>{
          internal::init_part(std::get<I>(parts_), keys[static_cast<int64_t>(I)], Loc::none(),
                              examples...)...};
    }
    (std::index_sequence_for<Parts...>());
  }
  /// A tuple of their results.
  template <class P, class... A>
  auto run(const P& parameters, Context& ctx, Loc loc, const A&... args) const {
    const FunctionScope within(loc);
    return [&]<size_t... I>(std::index_sequence<I...>) {
      return std::tuple<decltype(internal::run_part(std::get<I>(parts_), std::get<I>(parameters),
                                                    ctx, loc, args...))...>{
          run_one<I>(parameters, ctx, loc, args...)...};
    }
    (std::index_sequence_for<Parts...>());
  }

 private:
  template <size_t I, class P, class... A>
  auto run_one(const P& parameters, Context& ctx, Loc loc, const A&... args) const {
    const internal::PartScope inside(
        ctx, "parallel", I,
        &internal::part_name<std::tuple_element_t<I, std::tuple<Parts...>>,
                             std::tuple_element_t<I, P>>);
    return internal::run_part(std::get<I>(parts_), std::get<I>(parameters), ctx, loc, args...);
  }

  std::tuple<Parts...> parts_;
};
/// Factories, layers, models and functions side by side.
template <class... Parts>
auto parallel(Parts&&... parts) {
  if constexpr (internal::check_parts<Parts...>()) {
    return Parallel<internal::AsFactory<Parts>...>(
        internal::as_factory(std::decay_t<Parts>(std::forward<Parts>(parts)))...);
  } else {
    return Parallel<>();
  }
}

}  // namespace spruce::nn
