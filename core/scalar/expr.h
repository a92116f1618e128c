// SPDX-License-Identifier: Apache-2.0
// A value type that writes programs: a template over a scalar, called with Expr<float>, adds its
// steps to a program. What operators do not say is said by the functions of
// core/scalar/functions.h, which scalars have too.
#pragma once

#include <bit>
#include <concepts>
#include <type_traits>

#include "spruce/core/scalar/program.h"

namespace spruce::scalar {

/// A value of a program, or the bits of a constant that is in none yet.
struct Operand {
  Program* program = nullptr;
  uint64_t payload = 0;
};

/// An operation, the dtype of its operands (but for conditions) and that of its result.
struct Operation {
  Op op;
  Dtype in;
  Dtype out;
  Function function = Function::kNone;
};

/// Adds an operation to the program of its operands, one of which is no constant.
Operand emit(Operation operation, Operand a);
Operand emit(Operation operation, Operand a, Operand b);
Operand emit(Operation operation, Operand a, Operand b, Operand c);

/// One element of the C++ type T of a dtype.
template <class T>
class Expr {
 public:
  using Element = T;
  static constexpr Dtype kDtype = dtype_of<T>();

  Expr() = default;
  /// A constant.
  template <class U>
  requires(std::is_arithmetic_v<U> && (std::same_as<T, bool> == std::same_as<U, bool>))
      Expr(U value)
      : operand_{nullptr, bits(static_cast<T>(value))} {}
  explicit Expr(Operand operand) : operand_(operand) {}
  Expr(Program& program, int value) : operand_{&program, static_cast<uint64_t>(value)} {}

  Operand operand() const { return operand_; }

  friend Expr operator+(Expr a, Expr b) { return a.same(Op::kAdd, b); }
  friend Expr operator-(Expr a, Expr b) { return a.same(Op::kSub, b); }
  friend Expr operator*(Expr a, Expr b) { return a.same(Op::kMul, b); }
  friend Expr operator/(Expr a, Expr b) { return a.same(Op::kDiv, b); }
  friend Expr operator%(Expr a, Expr b) { return a.same(Op::kRem, b); }
  friend Expr operator-(Expr a) { return a.same(Op::kNeg); }
  friend Expr operator&(Expr a, Expr b) { return a.same(Op::kAnd, b); }
  friend Expr operator|(Expr a, Expr b) { return a.same(Op::kOr, b); }
  friend Expr operator^(Expr a, Expr b) { return a.same(Op::kXor, b); }
  friend Expr operator~(Expr a) { return a.same(Op::kNot); }
  friend Expr operator<<(Expr a, Expr b) { return a.same(Op::kShiftLeft, b); }
  friend Expr operator>>(Expr a, Expr b) { return a.same(Op::kShiftRight, b); }

  friend Expr<bool> operator==(Expr a, Expr b) { return a.to_bool(Op::kEqual, b); }
  friend Expr<bool> operator!=(Expr a, Expr b) { return a.to_bool(Op::kNotEqual, b); }
  friend Expr<bool> operator<(Expr a, Expr b) { return a.to_bool(Op::kLess, b); }
  friend Expr<bool> operator<=(Expr a, Expr b) { return a.to_bool(Op::kLessEqual, b); }
  friend Expr<bool> operator>(Expr a, Expr b) { return a.to_bool(Op::kGreater, b); }
  friend Expr<bool> operator>=(Expr a, Expr b) { return a.to_bool(Op::kGreaterEqual, b); }

  friend Expr min(Expr a, Expr b) { return a.same(Op::kMin, b); }
  friend Expr max(Expr a, Expr b) { return a.same(Op::kMax, b); }
  friend Expr copysign(Expr a, Expr b) { return a.same(Op::kCopysign, b); }
  friend Expr scale_by(Expr a, Expr b) { return a.same(Op::kScale, b); }
  friend Expr abs(Expr a) { return a.same(Op::kAbs); }
  friend Expr sqrt(Expr a) { return a.same(Op::kSqrt); }
  friend Expr floor(Expr a) { return a.same(Op::kFloor); }
  friend Expr ceil(Expr a) { return a.same(Op::kCeil); }
  friend Expr round_to_even(Expr a) { return a.same(Op::kRound); }
  friend Expr trunc(Expr a) { return a.same(Op::kTrunc); }
  friend Expr fused_multiply_add(Expr a, Expr b, Expr c) {
    return Expr(emit({Op::kFma, kDtype, kDtype}, a.operand_, b.operand_, c.operand_));
  }
  friend Expr select(Expr<bool> c, Expr a, Expr b) { return a.chosen(Op::kSelect, c, b); }
  friend Expr select_unlikely(Expr<bool> c, Expr a, Expr b) {
    return a.chosen(Op::kUnlikely, c, b);
  }

  /// Of another dtype.
  template <class To>
  Expr<To> to(Op op) const {
    return Expr<To>(emit({op, kDtype, Expr<To>::kDtype}, operand_));
  }
  Expr call(Function f) const { return Expr(emit({Op::kCall, kDtype, kDtype, f}, operand_)); }
  Expr call(Function f, Expr b) const {
    return Expr(emit({Op::kCall, kDtype, kDtype, f}, operand_, b.operand_));
  }

 private:
  static uint64_t bits(T value) {
    if constexpr (std::is_floating_point_v<T>)
      return std::bit_cast<std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>>(value);
    else if constexpr (std::is_same_v<T, bool>)
      return value ? 1 : 0;
    else
      return static_cast<std::make_unsigned_t<T>>(value);
  }
  Expr same(Op op) const { return Expr(emit({op, kDtype, kDtype}, operand_)); }
  Expr same(Op op, Expr b) const { return Expr(emit({op, kDtype, kDtype}, operand_, b.operand_)); }
  Expr<bool> to_bool(Op op, Expr b) const {
    return Expr<bool>(emit({op, kDtype, Dtype::kBool}, operand_, b.operand_));
  }
  Expr chosen(Op op, Expr<bool> c, Expr b) const {
    return Expr(emit({op, kDtype, kDtype}, c.operand(), operand_, b.operand_));
  }

  Operand operand_;
};

inline Expr<bool> operator!(Expr<bool> a) { return ~a; }
inline Expr<bool> operator&&(Expr<bool> a, Expr<bool> b) { return a & b; }
inline Expr<bool> operator||(Expr<bool> a, Expr<bool> b) { return a | b; }

template <class T>
struct ElementOfType {
  using Type = T;
};
template <class T>
struct ElementOfType<Expr<T>> {
  using Type = T;
};
/// The C++ type of a scalar, or of the element that an Expr is.
template <class T>
using Element = typename ElementOfType<T>::Type;

template <class T>
inline constexpr bool kIsExpr = !std::is_same_v<Element<T>, T>;

/// Another element of the same kind: Like<Expr<float>, bool> is Expr<bool>.
template <class T, class To>
using Like = std::conditional_t<kIsExpr<T>, Expr<To>, To>;

template <class T>
concept Float32 = std::same_as < Element<T>,
float > ;
template <class T>
concept Float64 = std::same_as < Element<T>,
double > ;
template <class T>
concept Floating = std::is_floating_point_v<Element<T>>;
template <class T>
concept Integral = std::is_integral_v<Element<T>>;

}  // namespace spruce::scalar
