// SPDX-License-Identifier: Apache-2.0
#include "tests/transforms/scalar_interpreter.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <stdexcept>

#include "spruce/spruce.h"

namespace spruce::scalar_interpreter {
namespace {

using scalar::Function;
using scalar::Node;
using scalar::Op;

template <class T>
T from(uint64_t bits) {
  T x;
  std::memcpy(static_cast<void*>(&x), &bits, sizeof x);
  return x;
}
template <class T>
uint64_t to(T x) {
  uint64_t bits = 0;
  std::memcpy(&bits, &x, sizeof x);
  return bits;
}

template <class T>
double library(Function f, T a, T b) {
  switch (f) {
    case Function::kSin:
      return std::sin(a);
    case Function::kCos:
      return std::cos(a);
    case Function::kTan:
      return std::tan(a);
    case Function::kLgamma:
      return std::lgamma(a);
    case Function::kFmod:
      return std::fmod(a, b);
    case Function::kPolygamma:
      return polygamma(static_cast<int64_t>(b), Array(static_cast<double>(a)))
          .template item<double>();
    default:
      throw std::logic_error("no function of floats");
  }
}

template <class T>
T integer_power(T a, T b) {
  using U = std::make_unsigned_t<T>;
  if (b < 0) return a == 1 ? T{1} : a == static_cast<T>(-1) ? (b % 2 == 0 ? T{1} : a) : T{0};
  uint64_t y = 1;
  for (U n = static_cast<U>(b); n > 0; --n) y *= static_cast<uint64_t>(a);
  return static_cast<T>(y);
}

template <class T>
uint64_t magnitude(T a) {
  return a < 0 ? 0 - static_cast<uint64_t>(a) : static_cast<uint64_t>(a);
}

template <class T>
T divided(T a, T b) {
  if (b == 0) return static_cast<T>(-1);
  if (std::is_signed_v<T> && b == static_cast<T>(-1))
    return static_cast<T>(0 - static_cast<uint64_t>(a));
  return static_cast<T>(a / b);
}
template <class T>
T remainder(T a, T b) {
  if (b == 0) return a;
  if (std::is_signed_v<T> && b == static_cast<T>(-1)) return 0;
  return static_cast<T>(a % b);
}

// An operation on numbers of one dtype.
template <class T>
uint64_t number(const Node& n, uint64_t x, uint64_t y, uint64_t z) {
  const T a = from<T>(x), b = from<T>(y), c = from<T>(z);
  switch (n.op) {
    case Op::kMin:
      return to<T>(a < b ? a : b);
    case Op::kMax:
      return to<T>(a > b ? a : b);
    case Op::kEqual:
      return a == b;
    case Op::kNotEqual:
      return a != b;
    case Op::kLess:
      return a < b;
    case Op::kLessEqual:
      return a <= b;
    case Op::kGreater:
      return a > b;
    case Op::kGreaterEqual:
      return a >= b;
    default:
      break;
  }
  if constexpr (std::is_floating_point_v<T>) {
    switch (n.op) {
      case Op::kAdd:
        return to<T>(a + b);
      case Op::kSub:
        return to<T>(a - b);
      case Op::kMul:
        return to<T>(a * b);
      case Op::kDiv:
        return to<T>(a / b);
      case Op::kFma:
        return to<T>(std::fma(a, b, c));
      case Op::kScale:
        return to<T>(std::ldexp(a, static_cast<int>(b)));
      case Op::kNeg:
        return to<T>(-a);
      case Op::kAbs:
        return to<T>(std::fabs(a));
      case Op::kCopysign:
        return to<T>(std::copysign(a, b));
      case Op::kSqrt:
        return to<T>(std::sqrt(a));
      case Op::kFloor:
        return to<T>(std::floor(a));
      case Op::kCeil:
        return to<T>(std::ceil(a));
      case Op::kRound:
        return to<T>(std::nearbyint(a));
      case Op::kTrunc:
        return to<T>(std::trunc(a));
      case Op::kCall:
        return to<T>(static_cast<T>(library<T>(n.function, a, b)));
      default:
        throw std::logic_error("no operation on floats");
    }
  } else if constexpr (!std::is_same_v<T, bool>) {
    constexpr uint64_t kWidth = sizeof(T) * 8;
    const uint64_t by = static_cast<std::make_unsigned_t<T>>(b);
    switch (n.op) {
      case Op::kAdd:
        return to<T>(static_cast<T>(x + y));
      case Op::kSub:
        return to<T>(static_cast<T>(x - y));
      case Op::kMul:
        return to<T>(static_cast<T>(x * y));
      case Op::kDiv:
        return to<T>(divided(a, b));
      case Op::kRem:
        return to<T>(remainder(a, b));
      case Op::kNeg:
        return to<T>(static_cast<T>(0 - x));
      case Op::kAbs:
        return to<T>(a < 0 ? static_cast<T>(0 - x) : a);
      case Op::kAnd:
        return to<T>(static_cast<T>(x & y));
      case Op::kOr:
        return to<T>(static_cast<T>(x | y));
      case Op::kXor:
        return to<T>(static_cast<T>(x ^ y));
      case Op::kNot:
        return to<T>(static_cast<T>(~x));
      case Op::kShiftLeft:
        return by < kWidth ? to<T>(static_cast<T>(x << by)) : 0;
      case Op::kShiftRight:
        if (by < kWidth) return to<T>(static_cast<T>(a >> by));
        return to<T>(a < 0 ? static_cast<T>(-1) : T{0});
      case Op::kCall:
        if (n.function == Function::kPow) return to<T>(integer_power(a, b));
        return to<T>(static_cast<T>(std::gcd(magnitude(a), magnitude(b))));
      default:
        throw std::logic_error("no operation on integers");
    }
  } else {
    switch (n.op) {
      case Op::kAnd:
        return a && b;
      case Op::kOr:
        return a || b;
      case Op::kXor:
        return a != b;
      case Op::kNot:
        return !a;
      default:
        throw std::logic_error("no operation on bools");
    }
  }
}

// By way of arrays: a conversion is a primitive that kernels of its own tests hold.
uint64_t converted(uint64_t bits, Dtype from_dtype, Dtype to_dtype) {
  // The usual ones without arrays.
  if (from_dtype == Dtype::kFloat16 && to_dtype == Dtype::kFloat32)
    return to<float>(float{from<Float16>(bits)});
  if (from_dtype == Dtype::kBfloat16 && to_dtype == Dtype::kFloat32)
    return to<float>(float{from<Bfloat16>(bits)});
  if (from_dtype == Dtype::kFloat32 && to_dtype == Dtype::kFloat16)
    return to<Float16>(Float16(from<float>(bits)));
  if (from_dtype == Dtype::kFloat32 && to_dtype == Dtype::kBfloat16)
    return to<Bfloat16>(Bfloat16(from<float>(bits)));
  if (from_dtype == Dtype::kFloat32 && to_dtype == Dtype::kFloat64)
    return to<double>(from<float>(bits));
  if (from_dtype == Dtype::kFloat64 && to_dtype == Dtype::kFloat32)
    return to<float>(static_cast<float>(from<double>(bits)));
  if (from_dtype == Dtype::kInt32 && to_dtype == Dtype::kFloat32)
    return to<float>(static_cast<float>(from<int32_t>(bits)));
  Array x = zeros({1}, from_dtype);
  x = visit_dtype(from_dtype, [&]<class T>(T) -> Array {
    if constexpr (std::is_same_v<T, bool>)
      return array(std::vector<int32_t>{bits != 0}) != 0;
    else if constexpr (kIsHalf<T>)
      return bitcast(array(std::vector<uint16_t>{static_cast<uint16_t>(bits)}), from_dtype);
    else
      return array(std::vector<T>{from<T>(bits)});
  });
  const Array y = astype(x, to_dtype);
  return visit_dtype(to_dtype, [&]<class T>(T) -> uint64_t {
    if constexpr (std::is_same_v<T, bool>)
      return astype(y, int32).to_vector<int32_t>()[0] != 0;
    else if constexpr (kIsHalf<T>)
      return bitcast(y, uint16).to_vector<uint16_t>()[0];
    else
      return to<T>(y.to_vector<T>()[0]);
  });
}

}  // namespace

uint64_t evaluate(const scalar::Program& program, int result, std::span<const uint64_t> inputs) {
  std::vector<uint64_t> value;
  for (const Node& n : program.nodes()) {
    const auto in = [&](size_t i) { return n.in[i] < 0 ? 0 : value[static_cast<size_t>(n.in[i])]; };
    switch (n.op) {
      case Op::kConstant:
        value.push_back(n.bits);
        break;
      case Op::kInput:
        value.push_back(inputs[n.bits]);
        break;
      case Op::kSelect:
      case Op::kUnlikely:
        value.push_back(in(0) != 0 ? in(1) : in(2));
        break;
      case Op::kBitcast:
        value.push_back(in(0));
        break;
      case Op::kConvert:
        value.push_back(converted(in(0), program.dtype(n.in[0]), n.dtype));
        break;
      default:
        value.push_back(visit_dtype(program.dtype(n.in[0]), [&]<class T>(T) -> uint64_t {
          if constexpr (kIsHalf<T>)
            throw std::logic_error("16-bit floats are not computed with");
          else
            return number<T>(n, in(0), in(1), in(2));
        }));
    }
  }
  return value[static_cast<size_t>(result)];
}

}  // namespace spruce::scalar_interpreter
