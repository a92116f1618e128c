// SPDX-License-Identifier: Apache-2.0
// The expressions of primitives: what stands in Primitive::scalar.
#pragma once

#include <span>

#include "spruce/core/primitive.h"
#include "spruce/core/scalar/expr.h"
#include "spruce/core/scalar/types.h"

namespace spruce {

struct ScalarArgs {
  scalar::Program& program;  ///< to add to
  std::span<const int> in;   ///< its values that are the inputs, in their own dtypes
  Dtype out;                 ///< of the result
  const Params& params;      ///< of the application

  Dtype dtype(size_t i) const { return program.dtype(in[i]); }
};

namespace scalar {

/// The instruction set of expressions: they have a fused multiply-add.
struct ExprIsa {
  static constexpr bool kHasFma = true;

  template <class T>
  static T fma(T a, std::type_identity_t<T> b, std::type_identity_t<T> c) {
    return fused_multiply_add(a, b, c);
  }
};

/// A value in what is computed with: 16-bit floats as f32.
int widened(Program& program, int value);
/// Input i as what `C` is: an Expr of its dtype, or of f32.
template <class C>
Expr<C> input(const ScalarArgs& a, size_t i) {
  return Expr<C>(a.program, widened(a.program, a.in[i]));
}
/// The result, in its dtype.
int result(const ScalarArgs& a, Operand value, Dtype dtype);
template <class T>
int result(const ScalarArgs& a, Expr<T> value) {
  return result(a, value.operand(), Expr<T>::kDtype);
}

/// One operation of the inputs; 16-bit floats are widened, and the result is rounded to them.
int apply(Op op, const ScalarArgs& a);
template <Op kOp>
int operation(const ScalarArgs& a) {
  return apply(kOp, a);
}
/// The same for bool by another operation.
template <Op kOp, Op kBool>
int operation_or(const ScalarArgs& a) {
  return apply(a.dtype(0) == Dtype::kBool ? kBool : kOp, a);
}
/// The same of inputs that are taken as they are.
int apply_as_they_are(Op op, const ScalarArgs& a);
template <Op kOp>
int as_they_are(const ScalarArgs& a) {
  return apply_as_they_are(kOp, a);
}
/// A function of the library, of one or two inputs, widened as by apply().
int call_of(Function function, const ScalarArgs& a);
template <Function kFunction>
int call(const ScalarArgs& a) {
  return call_of(kFunction, a);
}
/// Input 0 shifted by input 1, taken as an integer with a sign or without one.
int shift_right_of(bool has_sign, const ScalarArgs& a);
template <bool kSigned>
int shift_right(const ScalarArgs& a) {
  return shift_right_of(kSigned, a);
}
/// The input itself, in the dtype of the result.
int identity(const ScalarArgs& a);

/// Calls f(C{}) for what inputs of a dtype are computed in, one of those that `kTypes` accepts.
template <Types kTypes, class F>
int compute_in(Dtype dtype, const F& f) {
  int made = -1;
  visit_dtype(is_half(dtype) ? Dtype::kFloat32 : dtype, [&]<class C>(C c) {
    if constexpr (!kIsHalf<C> && kAccepts<kTypes, C>) made = f(c);
  });
  return made;
}

/// The expression of the scalar function `Op::call<I>(x)`, whose kernel is cpu::unary_kernel.
template <class Op, Types kTypes>
int unary(const ScalarArgs& a) {
  return compute_in<kTypes>(a.dtype(0), [&]<class C>(C) {
    return result(a, Op::template call<ExprIsa>(input<C>(a, 0)));
  });
}
/// The same of two inputs.
template <class Op, Types kTypes>
int binary(const ScalarArgs& a) {
  return compute_in<kTypes>(a.dtype(0), [&]<class C>(C) {
    return result(a, Op::template call<ExprIsa>(input<C>(a, 0), input<C>(a, 1)));
  });
}

}  // namespace scalar
}  // namespace spruce
