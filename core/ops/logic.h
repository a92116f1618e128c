// SPDX-License-Identifier: Apache-2.0
// Logic on truth values and on the bits of integers; nothing here has a gradient.
#pragma once

#include "spruce/core/ops/function.h"

namespace spruce {

/// The primitives behind the functions below; graphs print each by its name without the `_p`.
extern const Primitive and_p, not_p, or_p, population_count_p, shift_left_p,
    shift_right_arithmetic_p, shift_right_logical_p, xor_p;

namespace internal::math {
/// `x` as bool: x != 0.
Array truth(const Array& x);
Array logical_and(const Array& a, const Array& b);
Array logical_or(const Array& a, const Array& b);
Array logical_xor(const Array& a, const Array& b);
Array logical_not(const Array& x);
Array right_shift(const Array& a, const Array& b);
}  // namespace internal::math

/// True where both are true (not zero); of any dtypes.
inline constexpr ComposedBinary logical_and{internal::math::logical_and};
/// True where one or both are true.
inline constexpr ComposedBinary logical_or{internal::math::logical_or};
/// True where exactly one is true.
inline constexpr ComposedBinary logical_xor{internal::math::logical_xor};
/// True where x is zero or false.
inline constexpr ComposedUnary logical_not{internal::math::logical_not};

/// a & b, bit by bit, of bool or integers. Throws DtypeError for floats, as all that follow.
inline constexpr BinaryFunction bitwise_and{and_p};
/// a | b.
inline constexpr BinaryFunction bitwise_or{or_p};
/// a ^ b.
inline constexpr BinaryFunction bitwise_xor{xor_p};
/// ~x; of bool it is the logical not.
inline constexpr UnaryFunction bitwise_not{not_p};
/// a << b of integers; 0 where b is negative or at least the number of bits. Throws DtypeError for
/// bool, as the shifts that follow.
inline constexpr BinaryFunction left_shift{shift_left_p};
/// a >> b of integers: signed ones fill with their sign, unsigned ones with 0. Where b is negative
/// or at least the number of bits, all that stays is what fills.
inline constexpr ComposedBinary right_shift{internal::math::right_shift};
/// a >> b that fills with 0, also for signed integers.
inline constexpr BinaryFunction right_shift_logical{shift_right_logical_p};
/// The number of bits that are set, in the dtype of x.
inline constexpr UnaryFunction population_count{population_count_p};

}  // namespace spruce
