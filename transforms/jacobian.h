// SPDX-License-Identifier: Apache-2.0
// Jacobians, Hessians and Hessian-vector products.
#pragma once

#include "spruce/core/ops/create.h"
#include "spruce/core/ops/shape.h"
#include "spruce/transforms/jvp.h"
#include "spruce/transforms/vjp.h"
#include "spruce/transforms/vmap.h"

namespace spruce {
namespace internal {

/// The n unit tangents of an array, stacked: f[n, shape...].
Array standard_basis(const Array& x);
/// f[out..., n] -> f[out..., shape of x...] after the basis axis was moved last.
Array split_last(const Array& a, const Shape& x);
/// f[n, in...] -> f[out shape..., in...].
Array split_first(const Array& a, const Shape& out);
void check_jacobian_input(const char* op, const Array& x);
/// The leaves as one vector, and a vector cut into arrays like `leaves`.
Array join(const std::vector<Array>& leaves);
std::vector<Array> split_like(const Array& vector, const std::vector<Array>& leaves);

template <class F>
class JacFwd {
 public:
  explicit JacFwd(F f) : f_(std::move(f)) {}

  template <class... Rest>
  auto operator()(const Array& x, const Rest&... rest) const {
    check_jacobian_input("jacfwd", x);
    const auto along = [&](const Array& t) {
      const auto g = [&](const Array& y) { return f_(y, rest...); };
      return jvp(g, std::tuple<Array>(x), std::tuple<Array>(t)).second;
    };
    auto out = vmap(along, {.out_axes = -1})(standard_basis(x));
    tree::internal::for_each_leaf(out, [&](Array& a, tree::Leaf) { a = split_last(a, x.shape()); });
    return out;
  }

 private:
  F f_;
};

template <class F>
class JacRev {
 public:
  explicit JacRev(F f) : f_(std::move(f)) {}

  template <class T, class... Rest>
  T operator()(const T& x, const Rest&... rest) const {
    auto lin = std::make_shared<Linearizer>("jacrev");
    T traced = x;
    lin->mark_tree(traced);
    lin->check_marked("jacrev");
    auto out = run_under(lin->interpreter(), [&] { return f_(std::as_const(traced), rest...); });
    static_assert(std::is_same_v<decltype(out), Array>,
                  "spruce: jacrev takes a function that returns one Array; stack or concatenate "
                  "several results, or use jacfwd");
    lin->finish(out);
    check_jacobian_input("jacrev", out);
    const auto pull = [&](const Array& ct) {
      T grads = x;
      size_t at = 0;
      fill_leaves(grads, lin->pull_back({&ct, 1}, "jacrev"), at);
      return grads;
    };
    T jacobian = vmap(pull)(standard_basis(out));
    tree::internal::for_each_leaf(jacobian, [&](Array& a, tree::Leaf) {
      if (a.defined()) a = split_first(a, out.shape());
    });
    return jacobian;
  }

 private:
  F f_;
};

}  // namespace internal

/// The Jacobian of f with respect to its first argument, an Array, one column at a time (forward
/// mode: good for few inputs). f returns any tree; each leaf gets the shape out.shape + x.shape.
/// Throws DerivativeError for an x that is not floating. For a tree of inputs take jacfwd of f over
/// tree::ravel.
template <class F>
auto jacfwd(F f) {
  return internal::JacFwd<F>(std::move(f));
}

/// The Jacobian with respect to the first argument, any tree, one row at a time (reverse mode: good
/// for few outputs). f returns one Array; each leaf gets the shape out.shape + leaf.shape.
template <class F>
auto jacrev(F f) {
  return internal::JacRev<F>(std::move(f));
}

/// The Hessian of a scalar function of an Array: f[x.shape..., x.shape...], forward over reverse.
template <class F>
auto hessian(F f) {
  return jacfwd(grad(std::move(f)));
}

/// H(x) v: the Hessian of a scalar function times a tangent of x's type, without forming it
/// (Pearlmutter 1994). Any tree.
template <class F, class T>
T hvp(const F& f, const T& x, const T& v) {
  return jvp(grad(f), std::tuple<T>(x), std::tuple<T>(v)).second;
}

namespace tree {

/// The floating and other array leaves of a tree as one vector.
template <class T>
class Raveled {
 public:
  Raveled(Array flat, T like) : flat(std::move(flat)), like_(std::move(like)) {}
  /// f[n]: all leaves behind one another, in the dtype that they promote to.
  Array flat;
  /// The tree with the leaves taken from a vector like `flat`. Throws ShapeError unless it has n
  /// elements.
  T unravel(const Array& vector) const {
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
Raveled<T> ravel(const T& x) {
  return Raveled<T>(spruce::internal::join(leaves(x)), x);
}

}  // namespace tree
}  // namespace spruce
