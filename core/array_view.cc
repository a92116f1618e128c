// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/array_view.h"

#include <algorithm>
#include <cstdint>
#include <string>

namespace spruce::internal {

void check_bools(const char* op, const Aval& aval, const void* data) {
  if (!is_bool(aval.dtype)) return;
  const auto* bytes = static_cast<const uint8_t*>(data);
  const uint8_t* end = bytes + aval.numel();
  const uint8_t* wrong = std::find_if(bytes, end, [](uint8_t byte) { return byte > 1; });
  if (wrong != end) {
    throw ValueError(std::string(op) + ": element " + std::to_string(wrong - bytes) + " of " +
                     to_string(aval) + " is " + std::to_string(*wrong) + ", not 0 or 1");
  }
}

Array view_memory(const char* op, const void* data, const Aval& aval,
                  std::shared_ptr<const void> owner) {
  check_shape(op, aval.shape, size_of(aval.dtype));
  if (data == nullptr && aval.numel() > 0)
    throw ValueError(std::string(op) + ": the pointer is null and the shape is that of " +
                     to_string(aval));
  const auto element = static_cast<uintptr_t>(size_of(aval.dtype));
  if (reinterpret_cast<uintptr_t>(data) % element != 0) {
    throw ValueError(std::string(op) + ": the memory of " + to_string(aval) +
                     " is not aligned to its elements of " + std::to_string(element) +
                     " bytes; copy it, as by array(std::span)");
  }
  check_bools(op, aval, data);
  return Array(Ref<ArrayImpl>(new ArrayImpl(
      aval, Buffer::adopt(data, static_cast<size_t>(aval.bytes()), std::move(owner)))));
}

void check_count(const char* op, size_t count, const Shape& shape, Dtype dtype) {
  check_shape(op, shape, size_of(dtype));
  if (static_cast<uint64_t>(shape.numel()) != count) {
    throw ShapeError(std::string(op) + ": there are " + std::to_string(count) +
                     " elements, and the shape " + to_string(shape) + " has " +
                     std::to_string(shape.numel()));
  }
}

}  // namespace spruce::internal
