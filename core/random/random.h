// SPDX-License-Identifier: Apache-2.0
// Random numbers as functions of a key. The streams are those of JAX's partitionable Threefry-2x32:
// bits, split, fold_in, uniform, randint and permutation to the bit, the rest to a few units in the
// last place.
//
// Each function takes one key and throws ShapeError for a batch of keys: vmap maps it over a batch,
// and each key then gives what it gives alone. Each throws ValueError for a default-constructed
// Key. Results have no derivative with respect to the key; grad and jvp take them as constants.
#pragma once

#include <array>

#include "spruce/core/random/key.h"
#include "spruce/core/random/rejection.h"
#include "spruce/core/shape_arg.h"

namespace spruce::random {

namespace internal {
void split_into(const Key& key, int64_t n, Key* out);

/// In the place of the result of a call with a number where a key is due.
template <std::integral Seed>
Array refused_seed() {
  static_assert(spruce::internal::kNever<Seed>,
                "spruce: random numbers come from a key: random::normal(Key(0), {3}); Key(seed) "
                "makes one of a number");
  return spruce::internal::refused<Array>();
}
}  // namespace internal

/// `n` new keys as one batch: `split(key, n)[i]` is `fold_in(key, i)`. Throws ValueError for a
/// negative n.
Key split(const Key& key, int64_t n, Loc loc = Loc::current());
/// N new keys, two if N is left out: `const auto [k1, k2, k3] = split<3>(key)`.
template <size_t N = 2>
std::array<Key, N> split(const Key& key, Loc loc = Loc::current()) {
  const LocScope at(loc);
  std::array<Key, N> out;
  internal::split_into(key, N, out.data());
  return out;
}

/// A new key from a key and a number in -2^31 .. 2^32-1, such as the index of a step. Throws
/// ValueError for other numbers.
inline constexpr struct FoldInFunction {
  Key operator()(const Key& key, int64_t data, Loc loc = Loc::current()) const;
  /// The same with the number in an integer array of rank 0, converted to u32. Throws DtypeError,
  /// ShapeError.
  Key operator()(const Key& key, const Array& data, Loc loc = Loc::current()) const;
} fold_in{};

/// Uniform random bits as u8, u16, u32 or u64. Throws DtypeError for other dtypes.
inline constexpr struct BitsFunction {
  Array operator()(const Key& key, const Shape& shape, Dtype dtype = uint32,
                   Loc loc = Loc::current()) const;
} bits{};

/// Options of uniform.
struct UniformOptions {
  double low = 0;         ///< inclusive
  double high = 1;        ///< exclusive, but for rounding
  Dtype dtype = float32;  ///< f16, bf16, f32 or f64
};
/// Numbers uniform in [low, high). Throws ValueError unless low <= high and both, and their
/// distance, are finite in the dtype.
inline constexpr struct UniformFunction {
  Array operator()(const Key& key, const Shape& shape, const UniformOptions& options = {},
                   Loc loc = Loc::current()) const;
  /// A number in the place of the key is refused.
  template <std::integral Seed>
  Array operator()(Seed, const Shape&, const UniformOptions& = {}) const {
    return internal::refused_seed<Seed>();
  }
} uniform{};

/// Options of the functions that give floating numbers.
struct FloatOptions {
  Dtype dtype = float32;  ///< f16, bf16, f32 or f64
};
/// The normal distribution with mean 0 and variance 1.
inline constexpr struct NormalFunction {
  Array operator()(const Key& key, const Shape& shape, const FloatOptions& options = {},
                   Loc loc = Loc::current()) const;
  /// A number in the place of the key is refused.
  template <std::integral Seed>
  Array operator()(Seed, const Shape&, const FloatOptions& = {}) const {
    return internal::refused_seed<Seed>();
  }
} normal{};
/// The normal distribution with mean 0 and variance 1, given that the number is in (lower, upper),
/// which may be infinite. Bounds on either side of 0 give no numbers further out than normal does.
/// Throws ValueError unless lower < upper.
inline constexpr struct TruncatedNormalFunction {
  Array operator()(const Key& key, double lower, double upper, const Shape& shape,
                   const FloatOptions& options = {}, Loc loc = Loc::current()) const;
} truncated_normal{};
/// The exponential distribution with mean 1.
inline constexpr struct ExponentialFunction {
  Array operator()(const Key& key, const Shape& shape, const FloatOptions& options = {},
                   Loc loc = Loc::current()) const;
} exponential{};
/// The Gumbel distribution with location 0 and scale 1.
inline constexpr struct GumbelFunction {
  Array operator()(const Key& key, const Shape& shape, const FloatOptions& options = {},
                   Loc loc = Loc::current()) const;
} gumbel{};
/// The Laplace distribution with location 0 and scale 1.
inline constexpr struct LaplaceFunction {
  Array operator()(const Key& key, const Shape& shape, const FloatOptions& options = {},
                   Loc loc = Loc::current()) const;
} laplace{};
/// The Cauchy distribution with location 0 and scale 1.
inline constexpr struct CauchyFunction {
  Array operator()(const Key& key, const Shape& shape, const FloatOptions& options = {},
                   Loc loc = Loc::current()) const;
} cauchy{};
/// The logistic distribution with location 0 and scale 1.
inline constexpr struct LogisticFunction {
  Array operator()(const Key& key, const Shape& shape, const FloatOptions& options = {},
                   Loc loc = Loc::current()) const;
} logistic{};

/// bool, true with probability p. `p` is floating and broadcasts to `shape`. Throws DtypeError,
/// ShapeError.
inline constexpr struct BernoulliFunction {
  Array operator()(const Key& key, const Array& p, const Shape& shape,
                   Loc loc = Loc::current()) const;
  /// The same with the shape of `p`.
  Array operator()(const Key& key, const Array& p, Loc loc = Loc::current()) const;
} bernoulli{};

/// Options of the functions that give integers.
struct IntegerOptions {
  Dtype dtype = int32;  ///< any integer dtype
};
/// Integers uniform in [low, high). As in JAX, slightly biased where high - low is no power of two:
/// relatively by at most about (high - low) / 2^32, for 64-bit dtypes / 2^64. Throws ValueError
/// unless low < high and the dtype holds low .. high - 1.
inline constexpr struct RandintFunction {
  Array operator()(const Key& key, const Shape& shape, int64_t low, int64_t high,
                   const IntegerOptions& options = {}, Loc loc = Loc::current()) const;
  /// The same with a range for each element: integer arrays that broadcast to `shape`, converted to
  /// the dtype. Where low >= high the element is low.
  Array operator()(const Key& key, const Shape& shape, const Array& low, const Array& high,
                   const IntegerOptions& options = {}, Loc loc = Loc::current()) const;
} randint{};
/// -1 or 1, each with probability one half, of any dtype but bool and the unsigned ones.
inline constexpr struct RademacherFunction {
  Array operator()(const Key& key, const Shape& shape, const IntegerOptions& options = {},
                   Loc loc = Loc::current()) const;
} rademacher{};

/// Options of permutation.
struct PermutationOptions {
  Axis axis = 0;             ///< the axis that is shuffled
  bool independent = false;  ///< shuffle each line along the axis by itself
};
/// The integers 0 .. n-1 in random order, i32[n]. Throws ValueError for a negative n.
inline constexpr struct PermutationFunction {
  Array operator()(const Key& key, int64_t n, Loc loc = Loc::current()) const;
  /// `x` shuffled along an axis. Grad: g put back in place. Throws ShapeError for rank 0.
  Array operator()(const Key& key, const Array& x, const PermutationOptions& options = {},
                   Loc loc = Loc::current()) const;
} permutation{};

/// Options of choice.
struct ChoiceOptions {
  bool replace = true;  ///< an element may be drawn more than once
  Array p{};            ///< the probability of each element, floating [n]; undefined for all alike
  Axis axis = 0;        ///< of the array that is drawn from
};
/// Numbers drawn from 0 .. n-1, i32. Without replacement and with `p`: the n largest of log p plus
/// Gumbel noise. Throws ValueError if there are not enough to draw from, ShapeError if `p` does not
/// fit.
inline constexpr struct ChoiceFunction {
  Array operator()(const Key& key, int64_t n, const Shape& shape = {},
                   const ChoiceOptions& options = {}, Loc loc = Loc::current()) const;
  /// Slices drawn from an array along an axis, which `shape` replaces in the result's shape. Throws
  /// as above, and ShapeError for rank 0.
  Array operator()(const Key& key, const Array& a, const Shape& shape = {},
                   const ChoiceOptions& options = {}, Loc loc = Loc::current()) const;
} choice{};

/// Options of categorical.
struct CategoricalOptions {
  Axis axis = -1;    ///< the axis of the classes
  ShapeArg shape{};  ///< of the result; ends in that of the logits without `axis`, to
                     ///< which those broadcast
};
/// Classes drawn with probabilities softmax(logits), i32, by the Gumbel-max trick. The shape of the
/// result is that of the logits without `axis`, or `shape`: `.shape = {5}` draws five times
/// from logits of rank 1. Throws DtypeError, ShapeError.
inline constexpr struct CategoricalFunction {
  Array operator()(const Key& key, const Array& logits, const CategoricalOptions& options = {},
                   Loc loc = Loc::current()) const;
} categorical{};

}  // namespace spruce::random
