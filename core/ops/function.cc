// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/ops/function.h"

#include <array>
#include <cstring>

#include "spruce/core/empty_array_error.h"
#include "spruce/core/interpreter.h"
#include "spruce/core/ops/shape.h"
#include "spruce/core/public_name.h"
#include "spruce/core/rules/elementwise.h"

namespace spruce {
namespace internal {
namespace {

// Converts one number; false where an integer does not fit.
bool convert_number(Dtype from, const void* source, Dtype to, void* target) {
  return visit_dtype(from, [&]<class From>(From) {
    From value;
    std::memcpy(&value, source, sizeof value);
    return visit_dtype(to, [&]<class To>(To) {
      bool fits = true;
      To result;
      if constexpr (kIsHalf<To>) {
        result = To(static_cast<float>(value));
      } else if constexpr (std::is_integral_v<From> && std::is_integral_v<To> &&
                           !std::is_same_v<From, bool> && !std::is_same_v<To, bool>) {
        fits = std::in_range<To>(value);
        result = static_cast<To>(value);
      } else {
        result = static_cast<To>(value);
      }
      std::memcpy(target, &result, sizeof result);
      return fits;
    });
  });
}

[[noreturn]] void throw_number(const char* op, const Array& x, Dtype dtype) {
  const std::string number = is_signed_integer(x.dtype()) ? std::to_string(x.item<int64_t>())
                                                          : std::to_string(x.item<uint64_t>());
  throw ValueError(internal::public_name(op) + ": the number " + number + " does not fit in " +
                   std::string(name(dtype)) +
                   ", the dtype of the array; convert the array with astype, or pass array(" +
                   number + ")");
}

}  // namespace

void require_all_defined(const char* op, std::span<const Array> arrays) {
  for (size_t k = 0; k < arrays.size(); ++k) {
    if (!arrays[k].defined()) throw_undefined(op, std::to_string(k) + " of the list");
  }
}

namespace {

// The type of an operand of a primitive.
const Aval& aval_of(const Primitive& p, const char* operand, const Array& x) {
  if (!x.defined()) [[unlikely]]
    throw_undefined(internal::public_name(p.name), operand);
  return x.impl()->aval;
}

}  // namespace

bool is_weak_constant(const Array& x) {
  const Aval& aval = x.aval();
  const ArrayImpl* impl = x.impl();
  return aval.weak && aval.shape.rank() == 0 && impl->interpreter == 0 && aval.device == 0;
}

Array converted(const char* op, const Array& x, Dtype dtype) {
  const Aval& aval = x.aval();
  if (aval.dtype == dtype) return x;
  if (!is_weak_constant(x)) return astype(x, dtype);
  Array y = make_array(Aval{dtype, true, Shape{}});
  if (!convert_number(aval.dtype, x.impl()->buffer->data(), dtype, mutable_data(y)))
    throw_number(op, x, dtype);
  return y;
}

Array floating(const char* op, const Array& x) {
  return is_floating(x.dtype()) ? x : converted(op, x, Dtype::kFloat32);
}

Array promoted(const Primitive& p, const Array& a, const Array& b) {
  const Aval &x = aval_of(p, "a", a), &y = aval_of(p, "b", b);
  if (x.dtype == y.dtype) return bind1(p, {a, b});
  const Dtype dtype = promote(x.dtype, x.weak, y.dtype, y.weak);
  return bind1(p, {converted(p.name, a, dtype), converted(p.name, b, dtype)});
}

Array promoted_reusing(const Primitive& p, Array a, Array b) {
  if (aval_of(p, "a", a).dtype != aval_of(p, "b", b).dtype) return promoted(p, a, b);
  const std::array<Array, 2> in{std::move(a), std::move(b)};
  return bind1_reusing(p, in);
}

Array promoted_floating(const Primitive& p, const Array& a, const Array& b) {
  const Aval &x = aval_of(p, "a", a), &y = aval_of(p, "b", b);
  Dtype dtype = promote(x.dtype, x.weak, y.dtype, y.weak);
  if (!is_floating(dtype)) dtype = Dtype::kFloat32;
  return bind1(p, {converted(p.name, a, dtype), converted(p.name, b, dtype)});
}

}  // namespace internal

Array UnaryFunction::operator()(Array x, Loc loc) const {
  const LocScope at(loc);
  if (!x.defined()) [[unlikely]]
    internal::throw_undefined(name != nullptr ? name : internal::public_name(primitive.name), "x");
  if (!is_floating(x.dtype())) {
    if (keeps_integers) return x;
    if (primitive.shape == rules::same_floating || primitive.shape == rules::predicate_floating) {
      return bind1(primitive, {internal::floating(primitive.name, x)});
    }
  }
  return internal::bind1_reusing(primitive, std::span(&x, 1));
}

Array ComposedUnary::operator()(const Array& x, Loc loc) const {
  const LocScope at(loc);
  return function(x);
}

Array BinaryFunction::operator()(const Array& a, const Array& b, Loc loc) const {
  const LocScope at(loc);
  if (primitive.shape == rules::broadcast_floating)
    return internal::promoted_floating(primitive, a, b);
  return internal::promoted(primitive, a, b);
}

Array ComposedBinary::operator()(const Array& a, const Array& b, Loc loc) const {
  const LocScope at(loc);
  return function(a, b);
}

}  // namespace spruce
