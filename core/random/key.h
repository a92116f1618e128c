// SPDX-License-Identifier: Apache-2.0
// Key: where random numbers come from.
#pragma once

#include <concepts>
#include <iosfwd>
#include <string>

#include "spruce/core/array.h"

namespace spruce {

/// The key of a stream of random numbers. There is no global generator: a function of `random`
/// gives the same numbers for the same key, always and everywhere, so a key is used once and new
/// ones come from random::split and fold_in.
///
/// A Key is one leaf of a tree and holds nothing but its data, u32[2]. A batch of keys holds
/// u32[...,2]: it is what split(key, n) gives, and vmap hands a function one key of it at a time.
class Key {
 public:
  /// No key: using it throws ValueError.
  Key() = default;
  /// The key of a seed: the words (seed >> 32, seed & 0xffffffff). Negative seeds that fit in 32
  /// bits have an upper word of zero, as in JAX's default mode.
  template <std::integral T>
  requires(!std::same_as<T, bool>) explicit Key(T seed) : Key(seed_bits(seed), Seed{}) {}

  Key(const Key&) = default;
  Key(Key&&) noexcept = default;
  ~Key() = default;
  /// Of variables only: keys[i] = key would change a copy.
  Key& operator=(const Key&) & = default;
  Key& operator=(Key&&) & noexcept = default;

  /// A key, or a batch of keys, from its data: u32[...,2], or an undefined array for no key. Throws
  /// DtypeError, ShapeError.
  static Key wrap(Array data, Loc loc = Loc::current());

  /// The words of the key, u32[2], or of the keys of a batch, u32[...,2].
  const Array& data() const { return data_; }
  /// False for a default-constructed Key.
  bool defined() const { return data_.defined(); }
  /// The shape of a batch of keys, [] for one key. Throws ValueError for no key.
  Shape shape(Loc loc = Loc::current()) const;

  /// Key i along the first axis of a batch; negative ones count from the end. Throws IndexError,
  /// and ShapeError for a single key.
  template <std::integral T>
  Key operator[](T i) const {
    return at(internal::index_of("operator[]", i));
  }

  /// A range-for over a batch of keys is refused.
  template <class T = Key>
  spruce::internal::NoIterator<T> begin() const {
    static_assert(spruce::internal::kNever<T>,
                  "spruce: a batch of keys is no range; its keys are keys[i] for i below "
                  "keys.shape()[0], or map a function over them with vmap");
    return {};
  }
  template <class T = Key>
  spruce::internal::NoIterator<T> end() const {
    return {};
  }

 private:
  Key at(int64_t i) const;
  struct Seed {};
  Key(uint64_t seed, Seed);

  template <class T>
  static constexpr uint64_t seed_bits(T seed) {
    if constexpr (std::is_signed_v<T>) {
      if (seed < 0 && static_cast<int64_t>(seed) >= INT32_MIN) return static_cast<uint32_t>(seed);
    }
    return static_cast<uint64_t>(seed);
  }

  Array data_;
};

/// "Key(0, 42)", "Key(2 keys: u32[2,2])", for a traced one "Key(u32[2])".
std::string to_string(const Key& key);
std::ostream& operator<<(std::ostream& out, const Key& key);

}  // namespace spruce
