// SPDX-License-Identifier: Apache-2.0
// Jacobians, Hessians and Hessian-vector products.
#pragma once

#include "spruce/core/ops/create.h"
#include "spruce/core/ops/shape.h"
#include "spruce/transforms/derive/jvp.h"
#include "spruce/transforms/derive/vjp.h"
#include "spruce/transforms/vmap/vmap.h"

namespace spruce {
namespace internal {

/// The floating arrays among the leaves of what a Jacobian is taken of or with respect to: their
/// entries, one leaf after the other, are its rows or columns.
class Coordinates {
 public:
  void add(const Array& leaf, tree::Leaf kind);
  template <class T>
  void add_tree(const T& x) {
    tree::internal::for_each_leaf(x, [&](const Array& a, tree::Leaf kind) { add(a, kind); });
  }
  /// False where there is no floating array.
  bool any() const;
  /// Throws DerivativeError where a leaf has no derivative.
  void check_all(const char* op) const;

  /// The unit vectors: for each floating leaf its part of all of them, f[n, leaf.shape...].
  std::vector<Array> basis() const;
  /// From f[other..., n] for each leaf f[other..., leaf.shape...]; zeros for one that is not
  /// floating.
  std::vector<Array> split_last(const Array& columns) const;
  /// From f[n, other...] for each leaf f[leaf.shape..., other...].
  std::vector<Array> split_first(const Array& rows) const;
  /// For each leaf the next of `floating`, or an undefined Array.
  std::vector<Array> spread(std::span<const Array> floating) const;
  bool floating(size_t leaf) const { return leaves_[leaf].floating; }

 private:
  struct Leaf {
    Aval aval;
    bool defined, floating;
    int64_t start;
  };
  std::vector<Leaf> leaves_;
  int64_t n_ = 0;
};

/// The leaves as one vector, and a vector cut into arrays like `leaves`.
Array join(const std::vector<tree::Entry>& leaves);
std::vector<Array> split_like(const Array& vector, const std::vector<Array>& leaves);

// The type of a Jacobian: that of the result with that of the arguments in the place of each Array.
template <class Out, class Arg>
struct JacobianOf {
  static constexpr bool kValue = std::is_same_v<Arg, Array> || tree::internal::Static<Out>;
  static_assert(kValue,
                "spruce: the Jacobian of a struct with respect to a tree has no C++ type; return "
                "an Array or a container of arrays, or differentiate with respect to one Array: "
                "f of tree::ravel(x).flat");
  using Type = Out;
};
template <class Out, class Arg>
using Jacobian = typename JacobianOf<Out, Arg>::Type;

template <class Arg>
struct JacobianOf<Array, Arg> {
  using Type = Arg;
};
template <>
struct JacobianOf<Array, Array> {
  using Type = Array;
};
template <class Arg, class... Out>
requires(!std::is_same_v<Arg, Array>) struct JacobianOf<std::tuple<Out...>, Arg> {
  using Type = std::tuple<Jacobian<Out, Arg>...>;
};
template <class Arg, class A, class B>
requires(!std::is_same_v<Arg, Array>) struct JacobianOf<std::pair<A, B>, Arg> {
  using Type = std::pair<Jacobian<A, Arg>, Jacobian<B, Arg>>;
};
template <class Arg, class Out>
requires(!std::is_same_v<Arg, Array>) struct JacobianOf<std::vector<Out>, Arg> {
  using Type = std::vector<Jacobian<Out, Arg>>;
};
template <class Arg, class Out, size_t N>
requires(!std::is_same_v<Arg, Array>) struct JacobianOf<std::array<Out, N>, Arg> {
  using Type = std::array<Jacobian<Out, Arg>, N>;
};
template <class Arg, class K, class Out>
requires(!std::is_same_v<Arg, Array>) struct JacobianOf<std::map<K, Out>, Arg> {
  using Type = std::map<K, Jacobian<Out, Arg>>;
};

// `out` with next() in the place of each Array.
template <class Out, class Next>
auto replace_arrays(const Out& out, Next& next) {
  using Arg = std::decay_t<std::invoke_result_t<Next&>>;
  if constexpr (std::is_same_v<Out, Array>) {
    return next();
  } else if constexpr (std::is_same_v<Arg, Array> || tree::internal::Static<Out>) {
    Out copy = out;
    tree::internal::for_each_leaf(copy, [&](Array& a, tree::Leaf) { a = next(); });
    return copy;
  } else if constexpr (tree::internal::IsTuple<Out>::value) {
    return std::apply(
        [&](const auto&... part) {  // braces: in order
          return Jacobian<Out, Arg>{replace_arrays(part, next)...};
        },
        out);
  } else if constexpr (tree::internal::IsStdArray<Out>::value) {
    return std::apply(
        [&](const auto&... part) { return Jacobian<Out, Arg>{replace_arrays(part, next)...}; },
        out);
  } else if constexpr (tree::internal::IsVector<Out>::value) {
    Jacobian<Out, Arg> copy;
    for (const auto& part : out) copy.push_back(replace_arrays(part, next));
    return copy;
  } else {
    Jacobian<Out, Arg> copy;
    if constexpr (tree::internal::IsMap<Out>::value) {
      for (const auto& [key, part] : out) copy.emplace(key, replace_arrays(part, next));
    }
    return copy;
  }
}

// blocks[o * args + a] is the derivative of leaf o of the result with respect to leaf a of `arg`.
template <class Out, class Arg>
auto assemble(const Out& out, const Arg& arg, std::span<const Array> blocks) {
  size_t at = 0;
  auto next = [&] {
    Arg x = arg;
    fill_leaves(x, blocks, at);
    return x;
  };
  return replace_arrays(out, next);
}

// The arguments I..., as they are if there is one, else as a tuple.
template <size_t... I, class... Args>
auto pick(const std::tuple<Args...>& args) {
  if constexpr (sizeof...(I) == 1)
    return std::get<I...>(args);
  else
    return std::tuple{std::get<I>(args)...};
}

// With Aux, f returns {out, aux}, and the result is {Jacobian of out, aux}.
template <bool Aux, class F, size_t... I>
class JacFwd {
 public:
  JacFwd(F f, const char* op, Loc loc) : f_(std::move(f)), op_(op), loc_(loc) {}

  template <class... Args>
  auto operator()(const Args&... args) const {
    if constexpr (!check_indices<Args...>(std::index_sequence<I...>()))
      return refused<Array>();
    else if constexpr (check_run<F, Args...>())
      return run(args...);
    else
      return refused<Array>();
  }

 private:
  template <class... Args>
  auto run(const Args&... args) const {
    const LocScope at(loc_);
    const std::tuple<Args...> all(args...);
    const auto arg = pick<I...>(all);
    Coordinates columns;
    columns.add_tree(arg);
    if (!columns.any()) throw_undifferentiable<I...>(op_, all);
    const auto along = [&](const std::vector<Array>& tangents) {
      DualInterpreter dual(op_);
      std::tuple<Args...> traced = all;
      size_t leaf = 0, next = 0;
      const auto mark = [&](Array& a, tree::Leaf) {
        if (columns.floating(leaf++)) a = dual.make(a, tangents[next++]);
      };
      (tree::internal::for_each_leaf(std::get<I>(traced), mark), ...);
      auto out = apply_under(dual, op_, f_, traced);
      const auto to_tangent = [&](Array& a, tree::Leaf) {
        if (!a.defined()) return;
        const Array t = dual.tangent(a);
        a = t.defined() ? t : zero_tangent(dual.primal(a));
      };
      if constexpr (Aux) {
        tree::internal::for_each_leaf(out.first, to_tangent);
        tree::internal::for_each_leaf(out.second, [&](Array& a, tree::Leaf) {
          if (a.defined()) a = dual.primal(a);
        });
      } else {
        tree::internal::for_each_leaf(out, to_tangent);
      }
      return out;
    };
    if constexpr (Aux) {
      auto both = vmap(along, {.out_axes = {-1, none}})(columns.basis());
      return std::pair{assembled(both.first, arg, columns), std::move(both.second)};
    } else {
      return assembled(vmap(along, {.out_axes = -1})(columns.basis()), arg, columns);
    }
  }

 private:
  template <class Out, class Arg>
  static auto assembled(const Out& out, const Arg& arg, const Coordinates& columns) {
    std::vector<Array> blocks;
    tree::internal::for_each_leaf(out, [&](const Array& a, tree::Leaf) {
      for (Array& block : columns.split_last(a)) blocks.push_back(std::move(block));
    });
    return assemble(out, arg, blocks);
  }

  F f_;
  const char* op_;
  Loc loc_;
};

template <bool Aux, class F, size_t... I>
class JacRev {
 public:
  JacRev(F f, const char* op, Loc loc) : f_(std::move(f)), op_(op), loc_(loc) {}

  template <class... Args>
  auto operator()(const Args&... args) const {
    if constexpr (!check_indices<Args...>(std::index_sequence<I...>()))
      return refused<Array>();
    else if constexpr (check_run<F, Args...>())
      return run(args...);
    else
      return refused<Array>();
  }

 private:
  template <class... Args>
  auto run(const Args&... args) const {
    const LocScope at(loc_);
    std::tuple<Args...> traced(args...);
    const auto arg = pick<I...>(traced);
    Linearizer lin(op_);
    (lin.mark_tree(std::get<I>(traced)), ...);
    lin.check_marked<I...>(op_, traced);
    auto out = apply_under(lin.interpreter(), op_, f_, traced);
    if constexpr (Aux) {
      lin.finish_tree(out.first);
      lin.strip(out.second);
      return std::pair{rows_of(lin, out.first, arg), std::move(out.second)};
    } else {
      lin.finish_tree(out);
      return rows_of(lin, out, arg);
    }
  }

  template <class Out, class Arg>
  auto rows_of(const Linearizer& lin, const Out& out, const Arg& arg) const {
    Coordinates rows;
    rows.add_tree(out);
    rows.check_all(op_);
    std::vector<size_t> defined;
    const auto pull = [&](const std::vector<Array>& cts) {
      std::vector<Array> grads = lin.pull_back(rows.spread(cts), op_), there;
      defined.clear();
      for (size_t i = 0; i < grads.size(); ++i) {
        if (!grads[i].defined()) continue;
        defined.push_back(i);
        there.push_back(std::move(grads[i]));
      }
      return there;
    };
    const std::vector<Array> columns = vmap(pull)(rows.basis());
    const size_t outputs = tree::internal::count_leaves(out);
    const size_t inputs = tree::internal::count_leaves(arg);
    std::vector<Array> blocks(outputs * inputs);
    for (size_t i = 0; i < columns.size(); ++i) {
      const std::vector<Array> parts = rows.split_first(columns[i]);
      for (size_t o = 0; o < outputs; ++o) blocks[o * inputs + defined[i]] = parts[o];
    }
    return assemble(out, arg, blocks);
  }

  F f_;
  const char* op_;
  Loc loc_;
};

// The Jacobian of the gradient. What a loss hands out beside its value is handed out again.
template <class F, size_t... I>
class Hessian {
 public:
  Hessian(F f, Loc loc) : gradient_(f, "hessian", loc), loc_(loc) {}

  template <class... Args>
  auto operator()(const Args&... args) const {
    if constexpr (check_loss<F, Args...>(std::index_sequence<I...>())) {
      constexpr bool aux = LossParts<CallResult<F, Args...>>::kAux;
      return JacFwd<aux, Grad<F, I...>, I...>(gradient_, "hessian", loc_)(args...);
    } else {
      return refused<Array>();
    }
  }

 private:
  Grad<F, I...> gradient_;
  Loc loc_;
};

}  // namespace internal

/// The Jacobian of f with respect to argument 0, or to arguments I... as a tuple, one column at a
/// time (forward mode: good for few inputs).
///
/// It has the form of f's result with the form of the argument in the place of each Array, whose
/// leaves have the shape out.shape + leaf.shape: an Array for arrays, a struct of Jacobians for a
/// function from that struct to an Array, a tuple of structs for a function from it to a tuple of
/// arrays. Leaves that are not floating have zeros. Throws DerivativeError for an argument without
/// floating leaf. What has no C++ type (a struct with respect to a tree) is refused by the
/// compiler; take the Jacobian of f over tree::ravel.
template <size_t... I, class F>
auto jacfwd(F f, Loc loc = Loc::current()) {
  (void)internal::check_function<F>();
  if constexpr (sizeof...(I) == 0)
    return internal::JacFwd<false, F, 0>(std::move(f), "jacfwd", loc);
  else
    return internal::JacFwd<false, F, I...>(std::move(f), "jacfwd", loc);
}
/// {Jacobian of out, aux} of a function that returns {out, aux}.
template <size_t... I, class F>
auto jacfwd(F f, HasAux, Loc loc = Loc::current()) {
  using Split = internal::SplitAux<F>;
  if constexpr (sizeof...(I) == 0)
    return internal::JacFwd<true, Split, 0>(Split(std::move(f)), "jacfwd", loc);
  else
    return internal::JacFwd<true, Split, I...>(Split(std::move(f)), "jacfwd", loc);
}

/// Refused; the compiler says how to write it: jacfwd(f)(x).
template <size_t... I, class F, internal::NoOption<Loc> A, class... B>
auto jacfwd(const F&, const A&, const B&...) {
  return internal::refuse_arguments<Array, A>();
}

/// The same, one row at a time (reverse mode: good for few outputs). Throws DerivativeError where a
/// leaf of the result is not floating.
template <size_t... I, class F>
auto jacrev(F f, Loc loc = Loc::current()) {
  (void)internal::check_function<F>();
  if constexpr (sizeof...(I) == 0)
    return internal::JacRev<false, F, 0>(std::move(f), "jacrev", loc);
  else
    return internal::JacRev<false, F, I...>(std::move(f), "jacrev", loc);
}
/// {Jacobian of out, aux} of a function that returns {out, aux}.
template <size_t... I, class F>
auto jacrev(F f, HasAux, Loc loc = Loc::current()) {
  using Split = internal::SplitAux<F>;
  if constexpr (sizeof...(I) == 0)
    return internal::JacRev<true, Split, 0>(Split(std::move(f)), "jacrev", loc);
  else
    return internal::JacRev<true, Split, I...>(Split(std::move(f)), "jacrev", loc);
}

/// Refused; the compiler says how to write it: jacrev(f)(x).
template <size_t... I, class F, internal::NoOption<Loc> A, class... B>
auto jacrev(const F&, const A&, const B&...) {
  return internal::refuse_arguments<Array, A>();
}

/// The Hessian of a scalar function with respect to argument 0, or to arguments I..., forward over
/// reverse: f[x.shape..., x.shape...] for an Array x; for several arrays, or a container of them, a
/// container of such containers. A function that returns a pair or tuple hands out what follows its
/// first element, as for grad: {Hessian, rest}.
template <size_t... I, class F>
auto hessian(F f, Loc loc = Loc::current()) {
  (void)internal::check_function<F>();
  if constexpr (sizeof...(I) == 0)
    return internal::Hessian<F, 0>(std::move(f), loc);
  else
    return internal::Hessian<F, I...>(std::move(f), loc);
}
/// The same for a function that says with has_aux that it returns a number and what is handed out.
template <size_t... I, class F>
auto hessian(F f, HasAux, Loc loc = Loc::current()) {
  return hessian<I...>(internal::SplitAux<F>(std::move(f)), loc);
}

/// Refused; the compiler says how to write it: hessian(f)(x).
template <size_t... I, class F, internal::NoOption<Loc> A, class... B>
auto hessian(const F&, const A&, const B&...) {
  return internal::refuse_arguments<Array, A>();
}

/// H(x) v: the Hessian of a scalar function times a tangent of x's type, without forming it
/// (Pearlmutter 1994). Any tree. What a function returns behind the number is left out.
template <class F, class T>
auto hvp(const F& f, const T& x, const T& v, Loc loc = Loc::current()) {
  const LocScope at(loc);
  if constexpr (internal::check_loss<F, T>(std::index_sequence<0>())) {
    const internal::Grad<std::decay_t<F>, 0> with_aux(f, "hvp", loc);
    const auto gradient = [&](const T& p) -> T {
      using Out = std::decay_t<std::invoke_result_t<const F&, const T&>>;
      if constexpr (internal::LossParts<Out>::kAux)
        return with_aux(p).first;
      else
        return with_aux(p);
    };
    return internal::jvp_as("hvp", gradient, std::tuple<T>(x), std::tuple<T>(v)).second;
  } else {
    return internal::refused<T>();
  }
}
/// Refused; the compiler says how to write it: hvp(f, x, v).
template <class F, class... A>
auto hvp(const F&, const A&...) {
  static_assert(internal::kNever<F>,
                "spruce: hvp(f, x, v) takes the function, its argument x, and a tangent v of the "
                "type of x");
  return internal::refused<Array>();
}

namespace tree {

/// The floating and other array leaves of a tree as one vector.
template <class T>
class Raveled {
 public:
  /// What ravel() returns: the vector, and the tree to which unravel() goes back.
  Raveled(Array all, T like) : flat(std::move(all)), like_(std::move(like)) {}
  /// f[n]: all leaves behind one another, in the dtype that they promote to.
  Array flat;
  /// The tree with the leaves taken from a vector like `flat`. Throws ShapeError unless it has n
  /// elements.
  T unravel(const Array& vector, Loc loc = Loc::current()) const {
    const LocScope scope(loc);
    T out = like_;
    const std::vector<Array> parts = spruce::internal::split_like(vector, leaves(like_));
    size_t at = 0;
    spruce::internal::fill_leaves(out, parts, at);
    return out;
  }

 private:
  T like_;
};

/// All leaves as one vector, and the way back: what a Hessian or an optimizer over plain vectors
/// needs.
template <class T>
auto ravel(const T& x, Loc loc = Loc::current()) {
  if constexpr (internal::check_tree<T>()) {
    const LocScope at(loc);
    return Raveled<T>(spruce::internal::join(entries(x)), x);
  } else {
    return spruce::internal::refused<Raveled<Array>>();
  }
}

}  // namespace tree
}  // namespace spruce
