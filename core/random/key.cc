// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/random/key.h"

#include <ostream>

#include "spruce/core/default_device.h"
#include "spruce/core/empty_array_error.h"
#include "spruce/core/ops/index.h"

namespace spruce {

Key::Key(uint64_t seed, Seed) {
  const uint32_t words[2] = {static_cast<uint32_t>(seed >> 32), static_cast<uint32_t>(seed)};
  data_ =
      internal::make_array(Aval{Dtype::kUint32, false, Shape{2}, DefaultDevice::index()}, words);
}

Key Key::wrap(Array data, Loc loc) {
  const LocScope at(loc);
  if (data.defined()) {
    if (data.dtype() != Dtype::kUint32) {
      throw DtypeError("Key::wrap: the data of a key is u32[...,2], got " + to_string(data.aval()) +
                       "; use Key(seed) for a seed");
    }
    if (data.rank() == 0 || data.shape().back() != 2) {
      throw ShapeError("Key::wrap: the data of a key is u32[...,2], got " + to_string(data.aval()) +
                       "; use Key(seed) for a seed");
    }
  }
  Key key;
  key.data_ = std::move(data);
  return key;
}

Shape Key::shape(Loc loc) const {
  const LocScope at(loc);
  if (!defined()) {
    throw internal::EmptyArrayError(
        "Key: this Key is empty (default-constructed); make one with Key(seed)");
  }
  Shape shape = data_.shape();
  shape.erase(shape.rank() - 1);
  return shape;
}

Key Key::at(int64_t i) const {
  if (shape().empty()) {
    throw ShapeError("Key: a single key has no element " + std::to_string(i) +
                     "; random::split(key, n) makes a batch of n keys");
  }
  const int64_t n = data_.shape()[0];
  if (i < -n || i >= n) {
    throw IndexError(
        "Key: a batch of keys of shape " + to_string(shape()) + " has no key " + std::to_string(i) +
        (n > 0 ? "; use indices from " + std::to_string(-n) + " to " + std::to_string(n - 1)
               : "; it is empty"));
  }
  return wrap(data_[Index(i, Loc::none())]);
}

std::string to_string(const Key& key) {
  if (!key.defined()) return "Key()";
  const Shape shape = key.shape();
  const internal::ArrayImpl* concrete = key.data().impl()->concrete();
  if (shape.empty() && concrete != nullptr) {
    const auto words = key.data().to_vector<uint32_t>();
    return "Key(" + std::to_string(words[0]) + ", " + std::to_string(words[1]) + ")";
  }
  const std::string type = to_string(key.data().aval());
  return shape.empty() ? "Key(" + type + ")"
                       : "Key(" + std::to_string(shape.numel()) + " keys: " + type + ")";
}

std::ostream& operator<<(std::ostream& out, const Key& key) { return out << to_string(key); }

}  // namespace spruce
