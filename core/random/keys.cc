// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "spruce/core/empty_array_error.h"
#include "spruce/core/op_scope.h"
#include "spruce/core/ops/index.h"
#include "spruce/core/ops/shape.h"
#include "spruce/core/random/check.h"
#include "spruce/core/random/primitives.h"
#include "spruce/core/random/random.h"
#include "spruce/core/rules/to_device.h"

namespace spruce::random {
namespace internal {

const Array& one_key(const char* op, const Key& key) {
  if (!key.defined()) {
    throw spruce::internal::EmptyArrayError(
        std::string(op) + ": the key is empty (default-constructed); make one with Key(seed)");
  }
  if (!key.shape().empty()) {
    throw ShapeError(std::string(op) + ": takes one key, got a batch of keys of shape " +
                     to_string(key.shape()) + "; map over it with vmap, or take one with key[i]");
  }
  return key.data();
}

void require_floating(const char* op, Dtype dtype) {
  if (!is_floating(dtype)) {
    throw DtypeError(std::string(op) + ": makes f16, bf16, f32 and f64, not " +
                     std::string(short_name(dtype)) + "; use randint or bits for integers");
  }
}

Key key_beside(const Key& key, const Array& x) { return Key::wrap(rules::beside(key.data(), x)); }

void split_into(const Key& key, int64_t n, Key* out) {
  const Array keys = split(key, n).data();
  for (int64_t i = 0; i < n; ++i) out[i] = Key::wrap(keys[Index(i)]);
}

}  // namespace internal

Key split(const Key& key, int64_t n, Loc loc) {
  const OpScope at("split", loc);
  if (n < 0) throw ValueError("split: cannot make " + std::to_string(n) + " keys");
  return Key::wrap(
      bind1(random_split_p, {internal::one_key("split", key)}, Params::make(RandomSplitParams{n})));
}

Key FoldInFunction::operator()(const Key& key, int64_t data, Loc loc) const {
  const OpScope at("fold_in", loc);
  if (data < INT32_MIN || data > static_cast<int64_t>(UINT32_MAX)) {
    throw ValueError("fold_in: " + std::to_string(data) +
                     " does not fit in 32 bits; fold in its halves one after the other");
  }
  return Key::wrap(bind1(random_fold_in_p,
                         {internal::one_key("fold_in", key), array(static_cast<uint32_t>(data))}));
}

Key FoldInFunction::operator()(const Key& key, const Array& data, Loc loc) const {
  const OpScope at("fold_in", loc);
  const Array& words = internal::one_key("fold_in", key);
  if (!is_integer(data.dtype())) {
    throw DtypeError("fold_in: the number must be an integer, got " + to_string(data.aval()) +
                     "; convert it with astype");
  }
  if (data.rank() != 0) {
    throw ShapeError("fold_in: takes one number, got " + to_string(data.aval()) +
                     "; map over it with vmap");
  }
  return Key::wrap(bind1(random_fold_in_p, {words, astype(data, uint32)}));
}

}  // namespace spruce::random
