// SPDX-License-Identifier: Apache-2.0
// elementwise: a function of single elements, which runs as one loop wherever it is called.
#pragma once

#include "spruce/core/ops/shape.h"
#include "spruce/transforms/compile/jit.h"

namespace spruce {
namespace internal {

/// Throws ValueError where an operation of the graph is not one on single elements.
void check_elementwise(const Graph& graph);

/// True where operations on these compute at once.
bool computes_now(std::initializer_list<const Array*> args);

/// The dtype of these arrays together.
Dtype common_dtype(std::initializer_list<const Array*> arrays);

/// A number of C++ as an array, which takes the dtype of the arrays beside it, or f32 for 16-bit
/// floats.
struct Number {
  Array value;
};
Number number_beside(double value, Dtype dtype);

template <class T>
inline constexpr bool kIsArray = std::is_same_v<std::remove_cvref_t<T>, Array>;

/// f of arrays and numbers, on arrays of 16-bit floats computed in f32 and rounded once.
template <class F>
struct RoundedOnce {
  F f;

  template <class... Args>
  auto operator()(const Args&... args) const {
    const Dtype dtype = common_dtype({array_of(args)...});
    auto out = f(widened(args)...);
    if (!is_half(dtype)) return out;
    tree::internal::for_each_leaf(out, [&](Array& leaf, tree::Leaf) {
      if (leaf.defined() && leaf.dtype() == float32) leaf = astype(leaf, dtype);
    });
    return out;
  }

 private:
  static const Array* array_of(const Array& x) { return &x; }
  static const Array* array_of(const Number&) { return nullptr; }
  static Array widened(const Array& x) { return is_half(x.dtype()) ? astype(x, float32) : x; }
  static const Array& widened(const Number& x) { return x.value; }
};

/// The same, and where it is staged, the check of what it does.
template <class F>
struct CheckedElementwise {
  RoundedOnce<F> f;

  template <class... Args>
  auto operator()(const Args&... args) const {
    check_elementwise(stage("elementwise", f, args...).first);
    return f(args...);
  }
};

}  // namespace internal

/// What elementwise() gives. Copies share what was staged. Safe to call from several threads.
template <class F>
class Elementwise {
 public:
  /// Keeps `f`; nothing is staged before the first call.
  explicit Elementwise(F f, Loc loc = Loc::current())
      : f_{f}, compiled_({{std::move(f)}}, {.name = "elementwise", .warns = false}, loc) {}

  /// f of arrays, at least one, and numbers, which take the dtype of the arrays.
  template <class... Args>
  requires((internal::kIsArray<Args> || std::is_arithmetic_v<std::remove_cvref_t<Args>>)&&...) auto
  operator()(Args&&... args) const {
    static_assert((internal::kIsArray<Args> || ...),
                  "spruce: an elementwise function is called with one array at least");
    if constexpr (internal::check_run<F, tree::internal::ArrayFor<Args>...>())
      return run(std::forward<Args>(args)...);
    else
      return internal::refused<Array>();
  }

 private:
  template <class... Args>
  auto run(Args&&... args) const {
    constexpr bool kNumbers = (std::is_arithmetic_v<std::remove_cvref_t<Args>> || ...);
    const Dtype dtype = kNumbers ? internal::common_dtype({as_pointer(args)...}) : Dtype::kFloat32;
    if (internal::computes_now({as_pointer(args)...}))
      return compiled_(operand(std::forward<Args>(args), dtype)...);
    return f_(operand(std::forward<Args>(args), dtype)...);
  }
  template <class T>
  static const Array* as_pointer(const T& x) {
    if constexpr (internal::kIsArray<T>)
      return &x;
    else
      return nullptr;
  }
  template <class T>
  static decltype(auto) operand(T&& x, Dtype dtype) {
    if constexpr (internal::kIsArray<T>) {
      return std::forward<T>(x);
    } else {
      if (std::is_integral_v<std::remove_cvref_t<T>> && !is_floating(dtype))
        return internal::Number{Array(x)};
      return internal::number_beside(static_cast<double>(x), dtype);
    }
  }

  internal::RoundedOnce<F> f_;
  Jitted<internal::CheckedElementwise<F>> compiled_;
};

/// `f`, a function of arrays by operations on single elements (arithmetic, comparisons, where,
/// exp, ...), as one loop: `const auto g = elementwise([](const Array& x, const Array& y) { return
/// x * tanh(y); })`. Called with arrays, and numbers that take their dtype, it is staged once
/// for each form of them and runs as one loop without arrays in between; shapes broadcast as f's
/// operations do. Of arrays of f16 or bf16, f gets f32, and what it returns in f32 is rounded to
/// their dtype. Under grad, vmap, jit and the other transforms it is f itself: derivatives are
/// those of its operations, and jit fuses them with what stands around. What f captures is looked
/// at while it is staged: pass what changes as an argument. Throws ValueError where f does more
/// than operations on single elements, and what f throws.
template <class F>
Elementwise<F> elementwise(F f, Loc loc = Loc::current()) {
  (void)internal::check_function<F>();
  return Elementwise<F>(std::move(f), loc);
}

}  // namespace spruce
