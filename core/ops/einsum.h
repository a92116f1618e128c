// SPDX-License-Identifier: Apache-2.0
// Sums of products in Einstein's notation.
#pragma once

#include <initializer_list>
#include <span>
#include <string_view>

#include "spruce/core/array.h"

namespace spruce {

/// numpy.einsum: each operand has one letter an axis; letters that the result lacks are summed
/// over.
///   einsum("ij,jk->ik", a, b)      the matrix product
///   einsum("...ij,...jk", a, b)    of stacks of matrices, whose axes broadcast
///   einsum("ii->i", a)             the diagonal
///   einsum("i,i,i,i", {a, b, c, d})
/// Letters are a-z and A-Z, blanks are ignored. Without `->` the result has the axes of the
/// ellipsis, then, in the order of the alphabet (capitals first), the letters that occur once. An
/// axis of size 1 broadcasts. Several operands are contracted in pairs, the pair that leaves the
/// fewest elements first. Operands are promoted to one dtype; sums keep it. Throws ValueError for
/// an equation that is malformed, with a mark where it is, and ShapeError for operands that do not
/// fit. Grad: multilinear.
inline constexpr struct EinsumFunction {
  Array operator()(std::string_view equation, std::span<const Array> operands,
                   Loc loc = Loc::current()) const;
  Array operator()(std::string_view equation, std::initializer_list<Array> operands,
                   Loc loc = Loc::current()) const {
    return (*this)(equation, std::span<const Array>(operands.begin(), operands.size()), loc);
  }
  Array operator()(std::string_view equation, const Array& a, Loc loc = Loc::current()) const {
    return (*this)(equation, {a}, loc);
  }
  Array operator()(std::string_view equation, const Array& a, const Array& b,
                   Loc loc = Loc::current()) const {
    return (*this)(equation, {a, b}, loc);
  }
  Array operator()(std::string_view equation, const Array& a, const Array& b, const Array& c,
                   Loc loc = Loc::current()) const {
    return (*this)(equation, {a, b, c}, loc);
  }
} einsum{};

}  // namespace spruce
